import { open, readdir, stat } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that can be read from start to end and at any place. What is appended after it was opened is not seen. */
export interface ByteSource {
  /** For a person: a path, usually. */
  readonly name: string;
  readonly sizeBytes: number;
  stream(): AsyncIterable<Uint8Array>;
  slice(byte: number, bytes: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

const STREAM_BYTES = 262_144;
/** Rows are read one after the other: a window serves many of them with one call into the system. */
const WINDOW_BYTES = 1_048_576;

/** Opens a file as it is now. */
export async function openFile(path: string): Promise<ByteSource> {
  const handle = await open(path, 'r');
  const { size } = await handle.stat();
  return new FileSource(path, size, handle);
}

class FileSource implements ByteSource {
  readonly name: string;
  readonly sizeBytes: number;
  readonly #handle: FileHandle;
  #window: { readonly byte: number; readonly data: Buffer } = { byte: 0, data: Buffer.alloc(0) };

  constructor(name: string, sizeBytes: number, handle: FileHandle) {
    this.name = name;
    this.sizeBytes = sizeBytes;
    this.#handle = handle;
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    for (let byte = 0; byte < this.sizeBytes;) {
      const data = await this.#read(byte, Math.min(STREAM_BYTES, this.sizeBytes - byte));
      if (data.length === 0) return;
      yield data;
      byte += data.length;
    }
  }

  async slice(byte: number, bytes: number): Promise<Uint8Array> {
    const within = () => byte >= this.#window.byte && byte + bytes <= this.#window.byte + this.#window.data.length;
    if (!within()) {
      const length = Math.min(Math.max(bytes, WINDOW_BYTES), this.sizeBytes - byte);
      this.#window = { byte, data: await this.#read(byte, length) };
    }
    const from = byte - this.#window.byte;
    return this.#window.data.subarray(from, from + bytes);
  }

  async #read(byte: number, bytes: number): Promise<Buffer> {
    const data = Buffer.allocUnsafe(bytes);
    let filled = 0;
    while (filled < bytes) {
      const { bytesRead } = await this.#handle.read(data, filled, bytes - filled, byte + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return data.subarray(0, filled);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

export interface FoundFiles {
  readonly isFolder: boolean;
  /** Sorted. */
  readonly files: readonly string[];
  /** Links, which are not followed, and what is neither a file nor a folder. */
  readonly odd: readonly { readonly path: string; readonly isLink: boolean }[];
  /** Folders that could not be listed, and why. */
  readonly unread: readonly { readonly path: string; readonly error: unknown }[];
}

/** The files at a path: the file itself (a link to one, too), or all files of a folder and of its folders. */
export async function listFiles(path: string): Promise<FoundFiles> {
  const found: Found = { files: [], odd: [], unread: [] };
  const kind = await stat(path);
  if (kind.isDirectory()) await addFilesBelow(path, found);
  else if (kind.isFile()) found.files.push(path);
  else found.odd.push({ path, isLink: false });
  return { ...found, isFolder: kind.isDirectory(), files: found.files.sort() };
}

/** The files of a folder, those of its folders left out, sorted; links are no files. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(folder, entry.name)] : [])).sort();
}

interface Found {
  readonly files: string[];
  readonly odd: FoundFiles['odd'][number][];
  readonly unread: FoundFiles['unread'][number][];
}

async function addFilesBelow(folder: string, found: Found): Promise<void> {
  for (const entry of await entriesOf(folder, found)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await addFilesBelow(path, found);
    else if (entry.isFile()) found.files.push(path);
    else found.odd.push({ path, isLink: entry.isSymbolicLink() });
  }
}

async function entriesOf(folder: string, found: Found): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    found.unread.push({ path: folder, error });
    return [];
  }
}
