import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { TurnkeepError } from '../core/errors.ts';
import { monotonicNow } from '../platform/clock.ts';
import { nonce } from '../platform/random.ts';
import { openDatabase } from './driver.ts';
import type { Database, DriverName } from './driver.ts';
import { driverFault } from './driver-errors.ts';
import { storeError } from './store-fault.ts';
import { APPLICATION_ID, MIGRATIONS } from './store-schema.ts';

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

/** Of 8 KiB: rows of 1 KB fill 95% of them, and 80% of 4 KiB. */
const PAGE_BYTES = 8_192;
const STEP_MS = 2;

/** Opens the store's file for writing, made and migrated where need be. Refuses what is not ours without touching it. */
export function openStoreFile(file: StoreFile): Database {
  const deadline = monotonicNow() + file.busyTimeoutMs;
  for (;;) {
    try {
      return openOnce(file);
    } catch (error) {
      const isBusy = driverFault(error).kind === 'busy';
      if (isBusy && monotonicNow() < deadline) sleep(STEP_MS);
      else if (isBusy) throw new TurnkeepError('store_busy', { waitedMs: file.busyTimeoutMs }, { cause: error });
      else throw storeError(error, file.path);
    }
  }
}

/** Opens the store's file for reading; it exists and was checked. */
export function openForReading({ path, driver, busyTimeoutMs }: StoreFile): Database {
  return openDatabase(path, { driver, readOnly: true, busyTimeoutMs: Math.min(busyTimeoutMs, 1_000) });
}

/** Another connection of the same store, opened for what is not a commit: checkpoints and the like. */
export function openBeside({ path, driver }: StoreFile): Database {
  return openDatabase(path, { driver, secureDelete: true, busyTimeoutMs: 0 });
}

/** True where the connection's journal is a WAL. */
export function isWal(database: Database): boolean {
  return database.pragma('journal_mode') === 'wal';
}

/** Blocks this thread. */
export function sleep(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

function openOnce(file: StoreFile): Database {
  const { path } = file;
  if (existsSync(path) && statSync(path).size > 0) checkUntouched(file);
  else mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  makeSchema(file);
  const database = openDurable(file);
  try {
    assertOurs(database, path);
    if (file.maxPages !== undefined) database.pragma(`max_page_count = ${file.maxPages}`);
    database.pragma('wal_autocheckpoint = 0');
    database.pragma('cache_size = -65536');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Reads the marks of the format over a connection that cannot write. */
function checkUntouched({ path, driver }: StoreFile): void {
  const database = openDatabase(path, { driver, readOnly: true, busyTimeoutMs: 1_000 });
  try {
    assertOurs(database, path);
  } finally {
    database.close();
  }
}

/** An empty database may become a store; any other file has to be one, of no newer format. */
function assertOurs(database: Database, path: string): void {
  const version = database.pragma('user_version') as number; // SQLite answers an integer
  const isOurs = database.pragma('application_id') === APPLICATION_ID;
  if (!isOurs && !isEmpty(database, version)) {
    throw new TurnkeepError('store_foreign', { place: path, reason: 'it is a database of another program' });
  }
  if (isOurs && version > MIGRATIONS.length) {
    throw new TurnkeepError('store_newer', { place: path, found: version, supported: MIGRATIONS.length });
  }
}

function isEmpty(database: Database, version: number): boolean {
  const tables = database.prepare('SELECT count(*) FROM sqlite_schema').get()?.[0];
  return tables === 0 && version === 0 && database.pragma('application_id') === 0;
}

/** Before WAL is on, since the size of pages cannot be chosen afterwards. */
function makeSchema({ path, driver, busyTimeoutMs }: StoreFile): void {
  const database = openDatabase(path, { driver, secureDelete: true, busyTimeoutMs: Math.min(busyTimeoutMs, 1_000) });
  try {
    if (database.pragma('user_version') === MIGRATIONS.length) return;
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA synchronous = EXTRA; BEGIN IMMEDIATE`);
    assertOurs(database, path);
    migrate(database, MIGRATIONS.length);
    database.exec('COMMIT');
    if (isWal(database)) database.pragma('wal_checkpoint(TRUNCATE)');
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

function openDurable({ path, driver, journal, busyTimeoutMs }: StoreFile): Database {
  const options = { driver, secureDelete: true, busyTimeoutMs: Math.min(busyTimeoutMs, 1_000) };
  if (journal === 'auto') {
    try {
      return openDatabase(path, { ...options, durable: true });
    } catch (error) {
      if (!isWithoutWal(error)) throw error;
    }
  }
  return openWithRollback(path, options);
}

/** What a file system answers that has no shared memory or no locks for WAL. */
function isWithoutWal(error: unknown): boolean {
  const { code } = driverFault(error);
  return (
    code === 'ERR_NOT_DURABLE' ||
    code.startsWith('SQLITE_IOERR_SHM') ||
    code === 'SQLITE_PROTOCOL' ||
    code === 'SQLITE_CANTOPEN'
  );
}

/** Without WAL: a journal that is cut to nothing at each commit, and every sync that there is. */
function openWithRollback(path: string, options: Parameters<typeof openDatabase>[1]): Database {
  const database = openDatabase(path, options);
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
