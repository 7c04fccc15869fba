import type { Database, OpenDatabaseOptions } from './driver.ts';

const DEFAULT_BUSY_TIMEOUT_MS = 5_000;
const FULL = 2;

/** Brings a fresh connection to the state that its options ask for, and checks that it is there. */
export function setUpConnection(database: Database, options: OpenDatabaseOptions): void {
  database.pragma(`busy_timeout = ${options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS}`);
  if (options.secureDelete === true) requirePragma(database, 'secure_delete', 1);
  if (options.durable === true) makeDurable(database);
}

/**
 * WAL falls back to NORMAL by itself in some builds (better-sqlite3's among them) when the first transaction begins,
 * unless FULL was asked for by name. So it is asked for, and read back where the fall would have happened.
 */
function makeDurable(database: Database): void {
  requireWal(database);
  requirePragma(database, 'synchronous', FULL);
  // On macOS a plain fsync leaves bytes in the drive's cache; elsewhere these two change nothing.
  database.pragma('fullfsync = ON');
  database.pragma('checkpoint_fullfsync = ON');
  writeNothing(database);
  assertPragma(database, 'synchronous', FULL);
}

function requireWal(database: Database): void {
  const mode = database.pragma('journal_mode = WAL');
  if (mode === 'wal') return;
  throw notAsAsked(`this file system does not allow WAL: journal_mode is ${String(mode)}`);
}

/** A write that is taken back: it goes through all that a write goes through, and leaves no byte. */
function writeNothing(database: Database): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = database.pragma('user_version');
    database.pragma(`user_version = ${version === 0 ? 1 : 0}`);
  } finally {
    database.exec('ROLLBACK');
  }
}

function requirePragma(database: Database, name: string, value: number): void {
  database.pragma(`${name} = ${value}`);
  assertPragma(database, name, value);
}

function assertPragma(database: Database, name: string, value: number): void {
  const found = database.pragma(name);
  if (found !== value) throw notAsAsked(`${name} is ${String(found)}, not ${value}`);
}

function notAsAsked(reason: string): Error {
  return Object.assign(new Error(`the database cannot be opened as asked: ${reason}`), { code: 'ERR_NOT_DURABLE' });
}
