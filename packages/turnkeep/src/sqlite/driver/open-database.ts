import { chmodSync, existsSync } from 'node:fs';
import { TurnkeepError } from '../../core/errors.ts';
import { openBetterSqlite3 } from './driver-better-sqlite3.ts';
import { openNodeSqlite } from './driver-node-sqlite.ts';
import { setUpConnection } from './driver-setup.ts';
import type { Database, DriverName, OpenDatabaseOptions } from './driver.ts';

/**
 * Opens a database file (or `:memory:`).
 *
 * Prefers `node:sqlite` where it is complete: without a flag, rows as arrays, text with NUL whole (Node.js 24); then
 * better-sqlite3; then a `node:sqlite` that cuts text at NUL (Node.js 22.16 and later), which refuses to bind such text.
 * Throws when no driver works, when the file cannot be opened, and with `durable` when the file system cannot do WAL.
 */
export function openDatabase(path: string, options: OpenDatabaseOptions = {}): Database {
  const isNew = path !== ':memory:' && !existsSync(path);
  const database = openWithDriver(path, options);
  try {
    if (isNew) keepPrivate(path);
    setUpConnection(database, options);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * SQLite gives its side files the mode of the main file, still empty here. The mode is changed by name, never through a
 * descriptor of our own: closing one would drop every lock that this process holds on the file.
 */
function keepPrivate(path: string): void {
  chmodSync(path, 0o600);
}

function openWithDriver(path: string, { driver, readOnly = false }: OpenDatabaseOptions): Database {
  const opened =
    driver === 'node:sqlite'
      ? openNodeSqlite(path, { readOnly, whole: false })
      : driver === 'better-sqlite3'
        ? openBetterSqlite3(path, readOnly)
        : (openNodeSqlite(path, { readOnly, whole: true }) ??
          openBetterSqlite3(path, readOnly) ??
          openNodeSqlite(path, { readOnly, whole: false }));
  if (opened === undefined) throw noDriver(driver);
  return opened;
}

function noDriver(driver: DriverName | undefined): TurnkeepError {
  const wanted = driver ?? 'better-sqlite3 or node:sqlite';
  const how =
    'install better-sqlite3 12 (`npm rebuild better-sqlite3` where it is there and was not built), or use Node.js 22.16 or later';
  return new TurnkeepError('unsupported', {
    what: `open SQLite without ${wanted} in Node.js ${process.versions.node}: ${how}`,
  });
}
