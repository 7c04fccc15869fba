import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../driver/open-database.ts';
import { openSqlite } from '../open.ts';
import { message, versionOf, withStore, withStoreFile } from '../sqlite-backend.testkit.ts';
import { openStoreFile } from './store-file.ts';
import type { StoreFile } from './store-file.ts';
import { probePath } from './wal-probe.ts';

// A file system without shared memory: SQLite finds a pipe where it would keep the index of a WAL.

function makePipe(path: string): void {
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
}

const fileAt = (path: string, more: Partial<StoreFile> = {}): StoreFile => ({
  path,
  journal: 'auto',
  busyTimeoutMs: 300,
  ...more,
});

/** The journal that a store opens with. */
function journalOf(file: StoreFile): unknown {
  const database = openStoreFile(file);
  try {
    return [database.pragma('journal_mode'), database.pragma('synchronous'), database.pragma('locking_mode')];
  } finally {
    database.close();
  }
}

const WAL = ['wal', 2, 'normal'];
const ROLLBACK = ['truncate', 3, 'normal'];

/** A store of five commits that stand in its WAL alone, as a killed process leaves it. */
async function leftInWal(use: (path: string) => Promise<void> | void): Promise<void> {
  await withStore(async (store, path) => {
    for (let at = 0; at < 5; at++) await store.commit(message('talk', `word ${at}`));
    const folder = join(dirname(path), 'moved');
    mkdirSync(folder);
    const moved = join(folder, 'store.db');
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, moved + suffix);
    await use(moved);
  });
}

describe('where the file system has no shared memory', () => {
  test('a new store does without a WAL, and nothing is left of the attempt', () =>
    withStoreFile((path) => {
      makePipe(`${probePath(path)}-shm`);
      expect(journalOf(fileAt(path))).toEqual(ROLLBACK);
      expect(readdirSync(dirname(path)).filter((name) => /-(wal|shm)/.test(name))).toEqual([]);
      // On another file system it has one again.
      expect(journalOf(fileAt(path))).toEqual(WAL);
      return Promise.resolve();
    }));

  test.each(['auto', 'rollback'] as const)(
    'a store that was moved there leaves its WAL, with all that it holds (%s)',
    (journal) =>
      leftInWal(async (path) => {
        for (const place of [path, probePath(path)]) makePipe(`${place}-shm`);
        expect(journalOf(fileAt(path, { journal }))).toEqual(ROLLBACK);
        expect(existsSync(`${path}-wal`)).toBe(false);
        const store = await openSqlite(path, { journal: 'rollback' });
        expect(await versionOf(store, 'talk')).toBe(5);
        expect(await store.verify()).toEqual([]);
        await store.close();
      }),
  );

  test('a store of another program is left as it is', () =>
    withStoreFile((path) => {
      const other = openDatabase(path);
      other.exec('PRAGMA journal_mode = WAL; CREATE TABLE diary (page TEXT)');
      other.close();
      const before = readFileSync(path);
      for (const place of [path, probePath(path)]) makePipe(`${place}-shm`);
      expect(() => journalOf(fileAt(path))).toThrow('it is a database of another program');
      expect(readFileSync(path).equals(before)).toBe(true);
      return Promise.resolve();
    }));
});

test('a store is not taken out of its WAL where something else is in the way of that', () =>
  leftInWal((path) => {
    makePipe(`${path}-shm`);
    expect(() => journalOf(fileAt(path))).toThrow(expect.objectContaining({ code: 'store_unavailable' }) as Error);
    rmSync(`${path}-shm`);
    expect(journalOf(fileAt(path))).toEqual(WAL);
  }));

test('nor while others have it open', () =>
  withStore(async (store, path) => {
    await store.commit(message('talk', 'word'));
    makePipe(`${probePath(path)}-shm`);
    expect(journalOf(fileAt(path))).toEqual(WAL);
    expect((await store.commit(message('talk', 'word'))).version).toBe(2);
  }));

test('whether a WAL can be had is tried beside a store that does without, not on it', () =>
  withStore(
    async (store, path) => {
      await store.commit(message('talk', 'word'));
      const before = readFileSync(path);
      makePipe(`${probePath(path)}-shm`);
      expect(journalOf(fileAt(path))).toEqual(ROLLBACK);
      expect(readFileSync(path).equals(before)).toBe(true);
      expect((await store.commit(message('talk', 'word'))).version).toBe(2);
    },
    { journal: 'rollback' },
  ));
