import { rmSync, statSync } from 'node:fs';
import { FOLD_UNICODE_VERSION } from '../../core/fold-table.ts';
import type { Database, DriverName } from '../driver/driver.ts';
import { openDatabase } from '../driver/open-database.ts';
import { driverFault, isWithoutWal } from '../driver/driver-errors.ts';
import { STATE_TABLES } from './search-content.ts';
import { SEGMENT_TABLES } from './search-segments.ts';
import { TAIL_TABLE } from './search-tail.ts';
import { inTransaction } from './search-transaction.ts';

/** Says that a SQLite file is a search index: "TkSx". */
const APPLICATION_ID = 0x546b5378;
/** Counts the changes of the format. There are no migrations: an index of another format is built anew. */
const FORMAT = 3;
const PAGE_BYTES = 16_384;
/** A new file takes two, each process that deletes the file meanwhile one more. */
const OPEN_TRIES = 10;

export interface SearchFileOptions {
  /** The id of the store whose words the index holds. */
  readonly storeId: string;
  readonly driver?: DriverName | undefined;
  /** How long a call waits for another process's lock; 5,000 by default. */
  readonly busyTimeoutMs?: number | undefined;
  /** False where the file system has no WAL; true by default. */
  readonly wal?: boolean | undefined;
  /** Throws where no file may be opened or made: beside a store that was deleted no words are written down again. */
  readonly assertMayOpen?: (() => void) | undefined;
}

export interface SearchFile {
  readonly database: Database;
  /** Whether the path still leads to this file, and not to one that another process has put in its place. */
  isCurrent(): boolean;
}

/**
 * Opens the file of a search index, made anew where there is none. The path is the index's own: a file there that is
 * damaged, of another store, of another format or no index at all is deleted first.
 */
export function openSearchFile(path: string, options: SearchFileOptions): SearchFile {
  options.assertMayOpen?.();
  for (let tries = 0; tries < OPEN_TRIES; tries++) {
    const before = fileIdentity(path);
    const database = openUsable(path, options);
    // A file that was there before and after is the one that was opened: none that is open gives its number away.
    if (database !== undefined && before !== undefined && before === fileIdentity(path)) {
      return { database, isCurrent: () => fileIdentity(path) === before };
    }
    database?.close();
    if (database === undefined) deleteSearchFile(path);
  }
  throw new Error(`the search index at ${path} is replaced again and again`);
}

/** Deletes the file of a search index with its side files. Handles that have it open notice, and open the new one. */
export function deleteSearchFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

function fileIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}

function openUsable(path: string, options: SearchFileOptions): Database | undefined {
  const { wal = true } = options;
  const database = openDatabase(path, { ...options, secureDelete: true });
  try {
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA synchronous = NORMAL`);
    database.pragma(`journal_mode = ${wal ? 'WAL' : 'TRUNCATE'}`);
    if (inTransaction(database, () => isUsable(database, options))) return database;
  } catch (error) {
    // One with a WAL cannot be read at all where there is none.
    if (!isDamage(error) && (wal || !isWithoutWal(error))) throw closing(database, error);
  }
  database.close();
  return undefined;
}

function isDamage(error: unknown): boolean {
  const { kind } = driverFault(error);
  return kind === 'corrupt' || kind === 'not_a_database';
}

function closing(database: Database, error: unknown): unknown {
  database.close();
  return error;
}

/** Whether the file is an index of this store, or empty and made one now. */
function isUsable(database: Database, { storeId }: SearchFileOptions): boolean {
  const isEmpty = database.prepare('SELECT count(*) FROM sqlite_schema').get()?.[0] === 0;
  if (isEmpty) createTables(database, storeId);
  if (database.pragma('application_id') !== APPLICATION_ID || database.pragma('user_version') !== FORMAT) return false;
  const [store, unicode] = database.prepare('SELECT store, unicode FROM state').get() ?? [];
  return store === storeId && unicode === FOLD_UNICODE_VERSION;
}

function createTables(database: Database, storeId: string): void {
  database.exec(STATE_TABLES + TAIL_TABLE + SEGMENT_TABLES);
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${FORMAT}`);
  database.prepare("INSERT INTO state VALUES (?, ?, 0, '', 0, 0, 0)").run(storeId, FOLD_UNICODE_VERSION);
}
