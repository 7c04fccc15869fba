import { rmSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Database } from '../driver/driver.ts';
import { Blobs } from '../store/blobs.ts';
import { openStoreFile } from '../store/store-file.ts';
import { message, NAMESPACE, withStoreFile } from '../sqlite-backend.testkit.ts';
import { GroupWriter } from './group-writer.ts';

/** The database, which cannot commit for want of room. */
function fullAtCommit(database: Database): Database {
  return {
    driver: database.driver,
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      if (sql !== 'COMMIT') return statement;
      const fails = () => {
        throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
      };
      return { run: fails, get: fails, all: fails, iterate: fails };
    },
    pragma: (text) => database.pragma(text),
    dataVersion: () => database.dataVersion(),
    inTransaction: () => database.inTransaction(),
    close: () => database.close(),
  };
}

test('whatever cannot be committed for want of room is store_full, and nothing of it is there', () =>
  withStoreFile(async (path) => {
    const database = openStoreFile({ path, journal: 'auto', busyTimeoutMs: 1_000 });
    const full = fullAtCommit(database);
    const writer = new GroupWriter(full, path, 1_000);
    const code = 'store_full';
    expect(writer.begin()).toBe(true);
    expect(writer.write([message('talk', 'one'), message('talk', 'two')])).toMatchObject([{ code }, { code }]);
    expect(writer.begin()).toBe(true);
    const part = { upload: 'u', index: 0, bytes: Buffer.from('bytes'), now: 0 };
    const put = () => new Blobs(full, writer).run({ namespace: NAMESPACE, do: 'add', part });
    expect(put).toThrow(expect.objectContaining({ code, details: { place: path } }));
    expect(database.prepare('SELECT (SELECT count(*) FROM log), (SELECT count(*) FROM parts)').get()).toEqual([0, 0]);
    database.close();
  }));

test('after a commit for which the WAL had no room it begins anew', () =>
  withStoreFile(async (path) => {
    const database = openStoreFile({ path, journal: 'auto', busyTimeoutMs: 1_000 });
    const write = (target: Database) => {
      const writer = new GroupWriter(target, path, 1_000);
      expect(writer.begin()).toBe(true);
      return writer.write([message('talk', 'word')]);
    };
    for (let at = 0; at < 5; at++) write(database);
    const { size } = statSync(`${path}-wal`);
    expect(write(fullAtCommit(database))).toMatchObject([{ code: 'store_full' }]);
    expect(write(database)).toMatchObject([{ version: 6 }]);
    expect(statSync(`${path}-wal`).size).toBe(size);
    database.close();
  }));

test('a WAL that cannot be moved for want of room is store_full, and stays as it is where the file was taken away', () =>
  withStoreFile(async (path) => {
    const database = openStoreFile({ path, journal: 'auto', busyTimeoutMs: 1_000 });
    const full: Database = {
      ...fullAtCommit(database),
      pragma(text) {
        if (!text.startsWith('wal_checkpoint')) return database.pragma(text);
        throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
      },
    };
    const details = { place: path };
    const emptying = (target: Database) => new GroupWriter(target, path, 1_000).checkpoint('TRUNCATE');
    expect(() => emptying(full)).toThrow(expect.objectContaining({ code: 'store_full', details }));
    const writer = new GroupWriter(database, path, 1_000);
    expect(writer.begin()).toBe(true);
    writer.write([message('talk', 'word')]);
    rmSync(`${path}-shm`);
    const size = statSync(`${path}-wal`).size;
    expect(() => writer.checkpoint('TRUNCATE')).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    expect(statSync(`${path}-wal`).size).toBe(size);
    expect(size).toBeGreaterThan(0);
    database.close();
  }));
