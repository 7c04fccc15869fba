import { open, readdir, stat } from 'node:fs/promises';
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

/** The files at a path: the file itself, or all files of a folder and of its folders, sorted. Links are not followed. */
export async function listFiles(
  path: string,
): Promise<{ readonly isFolder: boolean; readonly files: readonly string[] }> {
  if (!(await stat(path)).isDirectory()) return { isFolder: false, files: [path] };
  return { isFolder: true, files: (await filesBelow(path)).sort() };
}

async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path)));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}
