import { expect, test } from 'vitest';
import type { Database } from './driver/driver.ts';
import { openDatabase } from './driver/open-database.ts';
import { message, NAMESPACE, withStore } from './sqlite-backend.testkit.ts';
import type { SqliteBackend } from './sqlite-backend.ts';
import type { SqliteOptions } from './open.ts';

// Without a WAL, whoever commits keeps all readers out meanwhile; with one, whoever reads keeps words in the WAL.

const ROLLBACK = { journal: 'rollback', hotMessages: 4 } as const;
const HELD_MS = 700;

/** Takes the file for itself, so that nobody reads it, for a while. */
function hold(path: string, heldMs: number): Promise<void> {
  const other = openDatabase(path);
  other.exec('BEGIN EXCLUSIVE');
  return letGoAfter(other, heldMs);
}

function letGoAfter(other: Database, heldMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => {
      other.exec('COMMIT');
      other.close();
      resolve();
    }, heldMs);
  });
}

/** A store of thirty commits, all of which its index has. */
function withTalk(options: SqliteOptions, use: (store: SqliteBackend, path: string) => Promise<void>): Promise<void> {
  return withStore(async (store, path) => {
    for (let at = 0; at < 30; at++) await store.commit(message('talk', `fox ${at}`));
    await store.catchUp();
    await use(store, path);
  }, options);
}

const CALLS: readonly (readonly [what: string, call: (store: SqliteBackend) => Promise<unknown>])[] = [
  ['verify', (store) => store.verify()],
  ['search', (store) => store.search(NAMESPACE, { text: 'fox', limit: 100 })],
  ['cool', (store) => store.cool(NAMESPACE, { hotMessages: 2 })],
  ['collect', (store) => store.collect(NAMESPACE)],
  ['catchUp', (store) => store.commit(message('talk', 'new')).then(() => store.catchUp())],
  ['rebuild', (store) => store.rebuild()],
  ['read', (store) => store.read(NAMESPACE, (rows) => rows.head('talk'))],
  ['feed', (store) => store.feed(NAMESPACE, 0, 5)],
  ['namespaces', (store) => store.namespaces()],
  ['examine', (store) => store.examine()],
  ['commit', (store) => store.commit(message('talk', 'new'))],
];

test.concurrent.each(CALLS)('without a WAL, %s waits for another process that has the file', (_, call) =>
  withTalk(ROLLBACK, async (store, path) => {
    const held = hold(path, HELD_MS);
    expect(await call(store).then(() => 'answered')).toBe('answered');
    await held;
  }),
);

test.concurrent.each(CALLS)('without a WAL, %s waits for it until the deadline alone', (_, call) =>
  withTalk({ ...ROLLBACK, busyTimeoutMs: 400 }, async (store, path) => {
    const held = hold(path, 2_000);
    await expect(call(store)).rejects.toMatchObject({
      code: 'store_busy',
      details: { waitedMs: expect.toSatisfy((waitedMs: number) => waitedMs >= 400 && waitedMs < 2_000) as number },
    });
    await held;
  }),
);

test('without a WAL, who watches hears of a commit that kept all readers out', () =>
  withTalk(ROLLBACK, async (store, path) => {
    let heard = 0;
    const hears = () => {
      heard += 1;
    };
    const before = store.onCommit(NAMESPACE, hears);
    const held = hold(path, 300);
    // And who begins to watch meanwhile.
    const meanwhile = store.onCommit(NAMESPACE, hears);
    await held;
    heard = 0;
    const other = openDatabase(path);
    other.exec('DELETE FROM stale');
    other.close();
    await expect.poll(() => heard).toBeGreaterThan(1);
    before();
    meanwhile();
  }));

test('a collection waits for a reader of another process that keeps words in the WAL, until the deadline', () =>
  withTalk({ busyTimeoutMs: 500 }, async (store, path) => {
    const reader = openDatabase(path, { readOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM log').get();
    await store.commit(message('talk', 'more'));
    await expect(store.collect(NAMESPACE)).rejects.toMatchObject({
      code: 'store_busy',
      details: { waitedMs: expect.toSatisfy((waitedMs: number) => waitedMs >= 500 && waitedMs < 1_500) as number },
    });
    const gone = letGoAfter(reader, 300);
    await store.collect(NAMESPACE);
    await gone;
  }));
