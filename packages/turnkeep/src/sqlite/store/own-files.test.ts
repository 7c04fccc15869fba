import { closeSync, mkdirSync, openSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { withStoreFile } from '../sqlite-backend.testkit.ts';
import { FOLDER_TIMES, identitiesOf, OwnFiles } from './own-files.ts';

const LONG_AGO = new Date('2026-01-02T03:04:05Z');

/** A clock of folders that a test can set. */
const BY_HAND = { now: () => Date.now(), changedAt: ({ mtimeMs }: Stats) => mtimeMs };

/** A store's files in a folder that has not changed for long, and was looked at since. */
function settled(path: string): OwnFiles {
  for (const suffix of ['', '-wal', '-shm']) writeFileSync(path + suffix, suffix);
  utimesSync(dirname(path), LONG_AGO, LONG_AGO);
  const files = new OwnFiles(path, identitiesOf(path, true), BY_HAND);
  expect([files.problem(), files.problem()]).toEqual([undefined, undefined]);
  return files;
}

test.each(['', '-wal', '-shm'])(
  'that a file (store%s) is removed or replaced is noticed in a folder long at rest',
  (suffix) =>
    withStoreFile((path) => {
      const files = settled(path);
      // As an open store does: what is open keeps its number, which no other file can have.
      const open = openSync(path + suffix, 'r');
      rmSync(path + suffix);
      expect(files.problem()).toBe(`its file${suffix} was removed`);
      writeFileSync(path + suffix, 'another');
      utimesSync(dirname(path), LONG_AGO, LONG_AGO);
      expect(files.problem()).toBe(`its file${suffix} was replaced by another`);
      closeSync(open);
      return Promise.resolve();
    }),
);

test('a folder that has just changed is no witness: another change may bear the same time', () =>
  withStoreFile((path) => {
    for (const suffix of ['', '-wal', '-shm']) writeFileSync(path + suffix, suffix);
    const files = new OwnFiles(path, identitiesOf(path, true), BY_HAND);
    const now = new Date();
    utimesSync(dirname(path), now, now);
    expect(files.problem()).toBeUndefined();
    rmSync(`${path}-wal`);
    utimesSync(dirname(path), now, now);
    expect(files.problem()).toBe('its file-wal was removed');
    return Promise.resolve();
  }));

test('a backup that is put back with the time of its folder is noticed', () =>
  withStoreFile((path) => {
    for (const suffix of ['', '-wal', '-shm']) writeFileSync(path + suffix, suffix);
    utimesSync(dirname(path), LONG_AGO, LONG_AGO);
    const muchLater = { ...FOLDER_TIMES, now: () => FOLDER_TIMES.now() + 60_000 };
    for (const times of [muchLater, FOLDER_TIMES]) {
      const files = new OwnFiles(path, identitiesOf(path, true), times);
      expect([files.problem(), files.problem()]).toEqual([undefined, undefined]);
      renameSync(path, `${path}-old`);
      writeFileSync(path, 'from the backup');
      utimesSync(dirname(path), LONG_AGO, LONG_AGO);
      expect(files.problem()).toBe('its file was replaced by another');
      renameSync(`${path}-old`, path);
    }
    return Promise.resolve();
  }));

test('a store behind a link has its other files beside itself', () =>
  withStoreFile((path) => {
    const [there, here] = [`${path}-there`, `${path}-here`];
    for (const folder of [there, here]) mkdirSync(folder);
    const [real, link] = [join(there, 'real.db'), join(here, 'store.db')];
    for (const suffix of ['', '-wal', '-shm']) writeFileSync(real + suffix, suffix);
    symlinkSync(real, link);
    const files = new OwnFiles(link, identitiesOf(link, true));
    expect(files.problem()).toBeUndefined();
    rmSync(`${real}-wal`);
    expect(files.problem()).toBe('its file-wal was removed');
    return Promise.resolve();
  }));

test('another file in the folder is none of a store, whose folder is looked at again', () =>
  withStoreFile((path) => {
    const files = settled(path);
    writeFileSync(`${path}-other`, '');
    expect(files.problem()).toBeUndefined();
    rmSync(`${path}-wal`);
    expect(files.problem()).toBe('its file-wal was removed');
    return Promise.resolve();
  }));

test('a folder that is moved away, or has another in its place, holds the store no more', () =>
  withStoreFile((outer) => {
    const folder = `${outer}-folder`;
    mkdirSync(folder);
    const files = settled(join(folder, 'store.db'));
    renameSync(folder, `${folder}-moved`);
    expect(files.problem()).toBe('its file was removed');
    mkdirSync(folder);
    utimesSync(folder, LONG_AGO, LONG_AGO);
    expect(files.problem()).toBe('its file was removed');
    renameSync(`${folder}-moved`, `${folder}-again`);
    rmSync(folder, { recursive: true });
    renameSync(`${folder}-again`, folder);
    expect(files.problem()).toBeUndefined();
    return Promise.resolve();
  }));

test('a store behind a link is looked at itself: its folder may be another', () =>
  withStoreFile((path) => {
    const [there, here] = [`${path}-there`, `${path}-here`];
    for (const folder of [there, here]) mkdirSync(folder);
    const link = join(here, 'store.db');
    writeFileSync(join(there, 'real.db'), '');
    symlinkSync(join(there, 'real.db'), link);
    for (const folder of [there, here]) utimesSync(folder, LONG_AGO, LONG_AGO);
    const files = new OwnFiles(link, identitiesOf(link, false));
    expect([files.problem(), files.problem()]).toEqual([undefined, undefined]);
    rmSync(join(there, 'real.db'));
    expect(files.problem()).toBe('its file was removed');
    return Promise.resolve();
  }));
