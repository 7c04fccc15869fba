import { resolve } from 'node:path';
import { HOT_MESSAGES } from '../core/cool.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { DriverName } from './driver/driver.ts';
import { SqliteBackend } from './sqlite-backend.ts';

export interface SqliteOptions {
  /** How long a commit waits while other processes write before it is refused with `store_busy`; 30,000 by default. */
  readonly busyTimeoutMs?: number | undefined;
  /** `rollback` does without a WAL, as on a file system that has none; `auto`, the default, finds out. */
  readonly journal?: 'auto' | 'rollback' | undefined;
  readonly driver?: DriverName | undefined;
  /** Newest messages of a conversation that stay hot; 512 by default. Older ones cool by and by. */
  readonly hotMessages?: number | undefined;
  /** Pages that the file may grow to; the disk's by default. */
  readonly maxPages?: number | undefined;
}

const BUSY_TIMEOUT_MS = 30_000;

/**
 * Opens the store in a SQLite file, made anew with its folder where there is none. Refuses a file of another program
 * (`store_foreign`) or of a newer version (`store_newer`) and leaves it as it is.
 */
export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<SqliteBackend> {
  // The system would take another name for such a path, and cut it at NUL.
  if (path.includes('\0') || !path.isWellFormed())
    throw new TurnkeepError('invalid_value', { path: 'path', reason: 'no file has such a name' });
  const file = {
    path: resolve(path),
    journal: options.journal ?? ('auto' as const),
    driver: options.driver,
    busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    maxPages: options.maxPages,
  };
  return SqliteBackend.open(file, options.hotMessages ?? HOT_MESSAGES);
}
