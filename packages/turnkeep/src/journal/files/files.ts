import { errorCode } from './file-system.ts';
import type { FileSystem, JournalFile } from './file-system.ts';

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

/** Replaces a file as one: temporary file, sync, rename, sync of the directory. */
export async function replaceFile(fs: FileSystem, directory: string, name: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${directory}/${name}.tmp`;
  const file = fs.open(temporary, 'replace');
  try {
    file.write(bytes, 0);
    await file.sync();
  } finally {
    file.close();
  }
  fs.rename(temporary, `${directory}/${name}`);
  await fs.syncDirectory(directory);
}
