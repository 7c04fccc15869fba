import * as fs from 'node:fs';
import { promisify } from 'node:util';

const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);

/** An open file. Reads and writes go to the system's cache and are done at once; only `sync` waits for the disk. */
export interface JournalFile {
  /** Fills `bytes` from `position` on and answers how many there were: fewer only at the end of the file. */
  read(bytes: Uint8Array, position: number): number;
  /** Writes all of `bytes` at `position` or throws; after a throw any part of them may be there. */
  write(bytes: Uint8Array, position: number): void;
  /** Resolves when what was written and the length of the file survive a power cut. */
  sync(): Promise<void>;
  truncate(sizeBytes: number): void;
  sizeBytes(): number;
  /** Which file this is: a file that was replaced by a rename has another number. */
  identity(): number;
  close(): void;
}

/** `read`: it must exist; `update`: to be read and written, made where there is none; `replace`: begun anew. */
export type OpenMode = 'read' | 'update' | 'replace';

/** All that the journal asks of a file system. Tests hand in one that fails. Errors are Node's own, with their `code`. */
export interface FileSystem {
  open(path: string, mode: OpenMode): JournalFile;
  /** True where a file stands at a path. It takes no descriptor. */
  has(path: string): boolean;
  /** The names in a directory; `undefined` where there is no such directory, or a file. */
  list(directory: string): readonly string[] | undefined;
  /** Makes a directory and those above it. */
  makeDirectory(path: string): void;
  /** Replaces `to` by `from`, as one. */
  rename(from: string, to: string): void;
  /** Removes a file; one that is not there is no error. */
  remove(path: string): void;
  /** Resolves when the names in the directory survive a power cut. */
  syncDirectory(path: string): Promise<void>;
}

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const FLAGS = { read: fs.constants.O_RDONLY, update: fs.constants.O_RDWR | fs.constants.O_CREAT } as const;

class RealFile implements JournalFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  read(bytes: Uint8Array, position: number): number {
    let filled = 0;
    while (filled < bytes.length) {
      const count = fs.readSync(this.#descriptor, bytes, filled, bytes.length - filled, position + filled);
      if (count === 0) break;
      filled += count;
    }
    return filled;
  }

  write(bytes: Uint8Array, position: number): void {
    for (let written = 0; written < bytes.length;) {
      written += fs.writeSync(this.#descriptor, bytes, written, bytes.length - written, position + written);
    }
  }

  sync(): Promise<void> {
    return fdatasync(this.#descriptor);
  }

  truncate(sizeBytes: number): void {
    fs.ftruncateSync(this.#descriptor, sizeBytes);
  }

  sizeBytes(): number {
    return fs.fstatSync(this.#descriptor).size;
  }

  identity(): number {
    return fs.fstatSync(this.#descriptor).ino;
  }

  close(): void {
    fs.closeSync(this.#descriptor);
  }
}

/** The system's files. They belong to their owner alone. */
export const realFileSystem: FileSystem = {
  open(path, mode) {
    return new RealFile(fs.openSync(path, mode === 'replace' ? 'w+' : FLAGS[mode], FILE_MODE));
  },
  has(path) {
    try {
      fs.accessSync(path);
      return true;
    } catch (error) {
      if (isAbsence(error)) return false;
      throw error;
    }
  },
  list(directory) {
    try {
      return fs.readdirSync(directory);
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  },
  makeDirectory(path) {
    fs.mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
  },
  rename(from, to) {
    fs.renameSync(from, to);
  },
  remove(path) {
    fs.rmSync(path, { force: true });
  },
  async syncDirectory(path) {
    const descriptor = fs.openSync(path, 'r');
    try {
      await fsync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  },
};

function isAbsence(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The system's name for what went wrong: `ENOSPC`. */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}
