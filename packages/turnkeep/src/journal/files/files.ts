import { errorCode } from './file-system.ts';
import type { FileSystem, JournalFile } from './file-system.ts';
import { TEMPORARY } from './layout.ts';

/** All bytes of a file, or `undefined` where there is none. */
export function readWhole(fs: FileSystem, path: string): Buffer | undefined {
  const file = openIfThere(fs, path);
  if (!file) return undefined;
  try {
    const bytes = Buffer.allocUnsafe(file.sizeBytes());
    return bytes.subarray(0, file.read(bytes, 0));
  } finally {
    file.close();
  }
}

export function openIfThere(fs: FileSystem, path: string): JournalFile | undefined {
  try {
    return fs.open(path, 'read');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Puts a file in its place as one: `fill` writes a temporary file, which is synced and renamed; where that fails it goes, for it
 * takes room. The name is not durable yet.
 */
export async function putFile<Result>(
  fs: FileSystem,
  path: string,
  fill: (file: JournalFile) => Promise<Result> | Result,
): Promise<Result> {
  const temporary = path + TEMPORARY;
  try {
    const result = await filled(fs.open(temporary, 'replace'), fill);
    fs.rename(temporary, path);
    return result;
  } catch (error) {
    discard(fs, temporary);
    throw error;
  }
}

async function filled<Result>(
  file: JournalFile,
  fill: (file: JournalFile) => Promise<Result> | Result,
): Promise<Result> {
  try {
    const result = await fill(file);
    await file.sync();
    return result;
  } finally {
    file.close();
  }
}

/** Removes what nobody names, if that can be done: the next writer sweeps it. */
export function discard(fs: FileSystem, path: string): void {
  try {
    fs.remove(path);
  } catch {
    // It takes room, and nothing else.
  }
}

/** Replaces a file as one: temporary file, sync, rename, sync of the directory. */
export async function replaceFile(fs: FileSystem, directory: string, name: string, bytes: Uint8Array): Promise<void> {
  await putFile(fs, `${directory}/${name}`, (file) => file.write(bytes, 0));
  await fs.syncDirectory(directory);
}
