import type { FileSystem } from './files/file-system.ts';
import type { LockFile } from './lock.ts';

/**
 * A file system on which nothing is made, replaced or removed once the lock of its writer is gone: where a directory was moved
 * while it was open, its paths may lead into another store.
 */
export function heldBy(lock: LockFile, fs: FileSystem): FileSystem {
  return {
    open(path, mode) {
      if (mode !== 'read') lock.assertHeld();
      return fs.open(path, mode);
    },
    has: (path) => fs.has(path),
    list: (directory) => fs.list(directory),
    makeDirectory(path) {
      lock.assertHeld();
      fs.makeDirectory(path);
    },
    rename(from, to) {
      lock.assertHeld();
      fs.rename(from, to);
    },
    remove(path) {
      lock.assertHeld();
      fs.remove(path);
    },
    syncDirectory: (path) => fs.syncDirectory(path),
  };
}
