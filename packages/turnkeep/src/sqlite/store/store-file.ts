import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { TurnkeepError } from '../../core/errors.ts';
import { nonce } from '../../platform/random.ts';
import { openDatabase } from '../driver/open-database.ts';
import type { Database, DriverName } from '../driver/driver.ts';
import { isWithoutWal, needsRollback } from '../driver/driver-errors.ts';
import { peekHeader } from '../driver/file-header.ts';
import type { FileHeader } from '../driver/file-header.ts';
import { realPath } from './own-files.ts';
import { blockingly } from './patience.ts';
import { storeError } from './store-fault.ts';
import { APPLICATION_ID, MIGRATIONS } from './store-schema.ts';
import { canDoWal } from './wal-probe.ts';

/** What a store's file needs to be opened, by any of its threads. Plain data: it crosses to them. */
export interface StoreFile {
  readonly path: string;
  /** `rollback` where the file system cannot do WAL; `auto` finds out. */
  readonly journal: 'auto' | 'rollback';
  readonly driver?: DriverName | undefined;
  /** How long to wait for another connection, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Pages that the file may grow to, to see a full disk in a test. */
  readonly maxPages?: number | undefined;
}

/**
 * A commit changes 6 to 8 pages, each of which is summed and written whole: with 4 KiB it takes 0.8 of the time that it
 * takes with 8 KiB, though rows of 1 KB fill 80% of such a page and 95% of a larger one.
 */
export const PAGE_BYTES = 4_096;
const CACHE_KIB = 16_384;

/** Opens the store's file for writing, made and migrated where need be. Refuses what is not ours without touching it. */
export function openStoreFile(file: StoreFile): Database {
  try {
    return blockingly(file.busyTimeoutMs, () => openOnce(file));
  } catch (error) {
    throw storeError(error, file.path);
  }
}

/** Opens the store's file for reading; it exists and was checked. Without a WAL a reader waits so long for a commit. */
export function openForReading({ path, driver }: StoreFile, waitMs: number): Database {
  const options = { driver, busyTimeoutMs: waitMs };
  try {
    const database = withSchema(openDatabase(path, { ...options, readOnly: true }));
    if (isWal(database)) return database;
    database.close();
  } catch (error) {
    if (!needsRollback(error)) throw error;
  }
  // Without a WAL, whoever reads first after somebody died in a commit has to take that back.
  const database = openDatabase(path, options);
  database.pragma('query_only = ON');
  return withSchema(database);
}

/** Another connection of the same store, opened for what is not a commit: checkpoints and the like. */
export function openBeside({ path, driver }: StoreFile): Database {
  return withSchema(openDatabase(path, { driver, secureDelete: true, busyTimeoutMs: 0 }));
}

/** A connection that has read the schema: its statements can be prepared whoever has the file. */
function withSchema(database: Database): Database {
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** True where the connection's journal is a WAL. */
export function isWal(database: Database): boolean {
  return database.pragma('journal_mode') === 'wal';
}

function openOnce(file: StoreFile): Database {
  const { path } = file;
  if (existsSync(path) && statSync(path).size > 0) checkUntouched(file);
  else mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  assertWritable(path);
  assertOneName(path);
  const database = openInMode(file);
  try {
    assertOurs(database, path);
    if (file.maxPages !== undefined) database.pragma(`max_page_count = ${file.maxPages}`);
    database.pragma('wal_autocheckpoint = 0');
    // A split of a page makes SQLite look through all that it keeps, once more in that commit: the system keeps the rest.
    database.pragma(`cache_size = -${CACHE_KIB}`);
    // SQLite waits in steps of up to 100 ms: the writer waits in its own way.
    database.pragma('busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite opens what it may not write, too, and leaves files beside it that nobody may write. */
function assertWritable(path: string): void {
  const real = realPath(path);
  for (const place of [real, `${real}-wal`, `${real}-shm`, `${real}-journal`])
    if (existsSync(place)) accessSync(place, constants.R_OK | constants.W_OK);
  accessSync(dirname(real), constants.W_OK | constants.X_OK);
}

/** Under each of its names a file has a WAL of its own: processes would not see each other's commits, and lose them. */
function assertOneName(path: string): void {
  const names = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1;
  if (names <= 1) return;
  const reason = `the file has ${names} names (hard links), and who opens it by one does not see what is done by another: remove all but one`;
  throw new TurnkeepError('store_unavailable', { place: path, reason });
}

/** With a WAL, where the file system can do that; what was moved here from another one does without it from now on. */
function openInMode(file: StoreFile): Database {
  try {
    return openMigrated(file);
  } catch (error) {
    if (!isWithoutWal(error) || canDoWal(file)) throw error;
    leaveWal(file);
    return openMigrated({ ...file, journal: 'rollback' });
  }
}

function openMigrated(file: StoreFile): Database {
  const hasWal = makeSchema(file);
  return file.journal === 'auto' && (hasWal || canDoWal(file)) ? openWithWal(file) : openWithRollback(file);
}

/** Looks at the marks of the format, over a connection that cannot write where the file is in use. */
function checkUntouched({ path, driver }: StoreFile): void {
  const header = peekHeader(path);
  if (header) return assertHeader(header, path);
  try {
    const database = openDatabase(path, { driver, readOnly: true, busyTimeoutMs: 1_000 });
    try {
      assertOurs(database, path);
    } finally {
      database.close();
    }
  } catch (error) {
    // Then a connection that may write looks at it, before it writes.
    if (!isWithoutWal(error) && !needsRollback(error)) throw error;
  }
}

function assertOurs(database: Database, path: string): void {
  const tables = database.prepare('SELECT count(*) FROM sqlite_schema').get()?.[0];
  const applicationId = database.pragma('application_id') as number; // SQLite answers integers
  const userVersion = database.pragma('user_version') as number;
  assertHeader({ isSqlite: true, applicationId, userVersion, hasSchema: tables !== 0 }, path);
}

/** An empty database may become a store; any other file has to be one, of no newer format. */
function assertHeader(header: FileHeader, path: string): void {
  if (!header.isSqlite) throw foreign(path, 'it is no SQLite database');
  const isEmpty = header.applicationId === 0 && header.userVersion === 0 && !header.hasSchema;
  if (isEmpty) return;
  if (header.applicationId !== APPLICATION_ID) throw foreign(path, 'it is a database of another program');
  if (header.userVersion <= MIGRATIONS.length) return;
  throw new TurnkeepError('store_newer', { place: path, found: header.userVersion, supported: MIGRATIONS.length });
}

function foreign(place: string, reason: string): TurnkeepError {
  return new TurnkeepError('store_foreign', { place, reason });
}

/** Before WAL is on, since the size of pages cannot be chosen afterwards. Answers whether it is on already. */
function makeSchema({ path, driver, busyTimeoutMs }: StoreFile): boolean {
  const database = openDatabase(path, { driver, secureDelete: true, busyTimeoutMs: Math.min(busyTimeoutMs, 1_000) });
  try {
    assertOurs(database, path);
    if (database.pragma('user_version') === MIGRATIONS.length) return isWal(database);
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA synchronous = EXTRA; BEGIN IMMEDIATE`);
    assertOurs(database, path);
    migrate(database, MIGRATIONS.length);
    database.exec('COMMIT');
    if (isWal(database)) database.pragma('wal_checkpoint(TRUNCATE)');
    return isWal(database);
  } finally {
    database.close();
  }
}

/** Takes the steps up to a version, within the caller's transaction. */
export function migrate(database: Database, target: number): void {
  const found = database.pragma('user_version') as number; // SQLite answers an integer
  for (const step of MIGRATIONS.slice(found, target)) database.exec(step);
  if (found === 0) database.prepare('INSERT INTO store VALUES (?)').run(nonce());
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${target}`);
}

function openWithWal({ path, driver, busyTimeoutMs }: StoreFile): Database {
  return openDatabase(path, {
    driver,
    secureDelete: true,
    busyTimeoutMs: Math.min(busyTimeoutMs, 1_000),
    durable: true,
  });
}

/**
 * Moves what is in the WAL into the file and does without one. A process that has the file for itself needs no shared
 * memory for that; where others have it, they can do WAL.
 */
function leaveWal({ path, driver, busyTimeoutMs }: StoreFile): void {
  const database = openDatabase(path, { driver, busyTimeoutMs: Math.min(busyTimeoutMs, 1_000) });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('synchronous = EXTRA');
    assertOurs(database, path);
    database.pragma('journal_mode = TRUNCATE');
  } finally {
    database.close();
  }
}

/** Without WAL: a journal that is cut to nothing at each commit, and every sync that there is. */
function openWithRollback({ path, driver, busyTimeoutMs }: StoreFile): Database {
  const database = openDatabase(path, { driver, secureDelete: true, busyTimeoutMs: Math.min(busyTimeoutMs, 1_000) });
  try {
    database.pragma('journal_mode = TRUNCATE');
    database.pragma('synchronous = EXTRA');
    const mode = database.pragma('journal_mode');
    if (mode === 'truncate' && database.pragma('synchronous') === 3) return database;
    throw new TurnkeepError('store_unavailable', {
      place: path,
      reason: `no durable journal: journal_mode is ${String(mode)}`,
    });
  } catch (error) {
    database.close();
    throw error;
  }
}
