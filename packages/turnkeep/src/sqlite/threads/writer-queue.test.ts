import { expect, test } from 'vitest';
import { message, withStore, withStoreFile } from '../sqlite-backend.testkit.ts';
import type { Database } from '../driver/driver.ts';
import { openDatabase } from '../driver/open-database.ts';
import { openStoreFile } from '../store/store-file.ts';
import { GroupWriter } from './group-writer.ts';
import { WriterBell } from './writer-bell.ts';
import { work } from './writer-loop.ts';
import type { Take } from './writer-loop.ts';
import type { Outcome } from './writer-messages.ts';
import { WriterQueue } from './writer-queue.ts';

/** A queue over a store's file, what it answered, and another connection to the same file. */
interface Bench {
  readonly queue: WriterQueue;
  readonly answered: Outcome[];
  readonly other: Database;
}

function withQueue(use: (bench: Bench) => void): Promise<void> {
  return withStoreFile(async (path) => {
    const database = openStoreFile({ path, journal: 'auto', busyTimeoutMs: 0 });
    const other = openDatabase(path);
    other.pragma('busy_timeout = 0');
    const answered: Outcome[] = [];
    const writer = new GroupWriter(database, path, 0);
    const answer = (outcomes: readonly Outcome[]) => void answered.push(...outcomes);
    use({ queue: new WriterQueue({ writer, busyTimeoutMs: 0, answer }), answered, other });
    other.close();
    database.close();
  });
}

const isLocked = (other: Database): boolean => {
  try {
    other.exec('BEGIN IMMEDIATE');
  } catch {
    return true;
  }
  other.exec('ROLLBACK');
  return false;
};

test('a lock that was taken early is the one that the commit is written under', () =>
  withQueue(({ queue, answered, other }) => {
    queue.beginEarly();
    expect(isLocked(other)).toBe(true);
    queue.push([{ job: 7, envelope: message('talk', 'word') }]);
    expect(queue.step()).toBe(true);
    expect(answered).toMatchObject([{ job: 7, replayed: false }]);
    expect(isLocked(other)).toBe(false);
  }));

test('a lock for which nothing came is let go of', () =>
  withQueue(({ queue, other }) => {
    queue.beginEarly();
    queue.giveUp();
    expect(isLocked(other)).toBe(false);
    queue.push([{ job: 1, envelope: message('talk', 'word') }]);
    expect(queue.step()).toBe(true);
  }));

test('no lock is taken early where another process wrote since the last group', () =>
  withQueue(({ queue, other }) => {
    const write = () => {
      queue.push([{ job: 1, envelope: message('talk', 'word') }]);
      expect(queue.step()).toBe(true);
    };
    write();
    other.exec('BEGIN IMMEDIATE; INSERT INTO stale VALUES (1); COMMIT');
    write();
    queue.beginEarly();
    expect(isLocked(other)).toBe(false);
    write();
    queue.beginEarly();
    expect(isLocked(other)).toBe(true);
    queue.giveUp();
  }));

test('where another process has the lock, nothing is done until its deadline', () =>
  withQueue(({ queue, answered, other }) => {
    other.exec('BEGIN IMMEDIATE');
    queue.beginEarly();
    queue.push([{ job: 1, envelope: message('talk', 'word') }]);
    expect(queue.step()).toBe(false);
    expect(answered).toMatchObject([{ job: 1, error: { code: 'store_busy' } }]);
    expect(queue.isEmpty).toBe(true);
    other.exec('ROLLBACK');
  }));

/** Works until there is nothing to do but wait. */
function workOff(queue: WriterQueue, bell: WriterBell, take: Take): void {
  bell.wait = () => {
    throw new Error('waits');
  };
  expect(() => work(queue, bell, take)).toThrow('waits');
}

test('where an announced commit does not come, the lock was taken and is let go of', () =>
  withQueue(({ queue, other }) => {
    const bell = new WriterBell();
    const locked: boolean[] = [];
    bell.announce();
    workOff(queue, bell, () => void locked.push(isLocked(other)));
    expect(locked.slice(0, 2)).toEqual([false, true]);
    expect(isLocked(other)).toBe(false);
  }));

test('a commit that was announced finds the lock taken', () =>
  withQueue(({ queue, answered, other }) => {
    const bell = new WriterBell();
    bell.announce();
    let isGiven = false;
    workOff(queue, bell, () => {
      if (isGiven || !isLocked(other)) return undefined;
      isGiven = true;
      queue.push([{ job: 3, envelope: message('talk', 'word') }]);
      return 'commit';
    });
    expect(answered).toMatchObject([{ job: 3, replayed: false }]);
    expect(isLocked(other)).toBe(false);
  }));

test('a commit that came before its announcement was heard is not waited for again', () =>
  withQueue(({ queue, answered, other }) => {
    const bell = new WriterBell();
    bell.announce();
    const locked: boolean[] = [];
    workOff(queue, bell, () => {
      locked.push(isLocked(other));
      if (locked.length > 1) return undefined;
      queue.push([{ job: 3, envelope: message('talk', 'word') }]);
      return 'commit';
    });
    expect(answered).toMatchObject([{ job: 3 }]);
    expect(locked).not.toContain(true);
  }));

test('an announcement is no commit: one that comes late, twice, or after close does no harm', () =>
  withStore(async (store) => {
    store.expectCommit();
    store.expectCommit();
    expect((await store.commit(message('talk', 'one'))).version).toBe(1);
    store.expectCommit();
    expect((await store.commit(message('talk', 'two'))).version).toBe(2);
    await store.close();
    store.expectCommit();
    await expect(store.commit(message('talk', 'three'))).rejects.toMatchObject({ code: 'closed' });
  }));
