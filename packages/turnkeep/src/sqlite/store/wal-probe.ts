import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { openDatabase } from '../driver/open-database.ts';
import type { DriverName } from '../driver/driver.ts';
import { isWithoutWal } from '../driver/driver-errors.ts';
import { realPath } from './own-files.ts';

/** The file that this thread tries a WAL on: beside the store, with a name that nobody else uses at the same time. */
export function probePath(path: string): string {
  return join(dirname(realPath(path)), `.turnkeep-wal-${process.pid}-${threadId}`);
}

/**
 * True where a file beside the store can have a WAL. To try it on the store itself would take that from others: a file
 * that was put into WAL mode where there is none cannot be read, and stays in it.
 */
export function canDoWal({
  path,
  driver,
}: {
  readonly path: string;
  readonly driver?: DriverName | undefined;
}): boolean {
  const probe = probePath(path);
  try {
    openDatabase(probe, { driver, durable: true, busyTimeoutMs: 0 }).close();
    return true;
  } catch (error) {
    if (isWithoutWal(error)) return false;
    throw error;
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(probe + suffix, { force: true });
  }
}
