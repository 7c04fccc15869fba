import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FeedEntry } from '../core/backend.ts';
import { isTurnkeepError } from '../core/errors.ts';
import { openDatabase } from './driver/open-database.ts';
import { openSqlite } from './open.ts';
import { openSearchIndex } from './search/search-index.ts';
import { envelope, message, NAMESPACE, versionOf, withStore, withStoreFile } from './sqlite-backend.testkit.ts';

const COMMITS = 40;

describe('what is committed', () => {
  test('is read on the same handle, on another one and after a reopen', () =>
    withStoreFile(async (path) => {
      const store = await openSqlite(path);
      for (let n = 1; n <= COMMITS; n++) await store.commit(message('talk', `word ${n}`));
      const other = await openSqlite(path);
      const rowsOf = (from: typeof store) =>
        from.read(NAMESPACE, (rows) => ({
          head: rows.head('talk'),
          rows: rows.scan('talk', { from: '', to: '\u{10ffff}' }),
          log: Array.from({ length: COMMITS }, (_, at) => rows.log('talk', at + 1)),
        }));
      const found = await rowsOf(store);
      expect(found.head?.version).toBe(COMMITS);
      expect(found.rows).toHaveLength(3 * COMMITS + 1);
      expect(await rowsOf(other)).toEqual(found);
      await store.close();
      await other.close();
      const again = await openSqlite(path);
      expect(await rowsOf(again)).toEqual(found);
      expect(await again.verify()).toEqual([]);
      await again.close();
    }));

  test('stands in the feed once, in the order of the commits', () =>
    withStore(async (store) => {
      const envelopes = Array.from({ length: 30 }, (_, at) => message(`talk ${at % 4}`, `word ${at}`));
      await Promise.all(envelopes.map((each) => store.commit(each)));
      const feed: FeedEntry[] = [];
      for (
        let page = await store.feed(NAMESPACE, 0, 7);
        page.length > 0;
        page = await store.feed(NAMESPACE, feed.at(-1)?.position ?? 0, 7)
      ) {
        feed.push(...page);
      }
      expect(feed.map(({ conversationId, version }) => `${conversationId} ${version}`)).toEqual(
        envelopes.map((_, at) => `talk ${at % 4} ${Math.floor(at / 4) + 1}`),
      );
    }));

  test('is private to the user', () =>
    withStore(async (store, path) => {
      await store.commit(message('talk', 'word'));
      await store.rebuild();
      for (const suffix of ['', '-wal', '-shm', '-search']) expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    }));

  test('is searched', () =>
    withStore(async (store) => {
      await store.commit(message('talk', 'the Quick fox'));
      await store.commit(message('other', 'a slow fox'));
      const hits = async (text: string) =>
        (await store.search(NAMESPACE, { text, limit: 10 })).places.map(({ conversationId }) => conversationId);
      expect(await hits('FOX')).toEqual(['other', 'talk']);
      expect(await hits('quick')).toEqual(['talk']);
      expect(await hits('bear')).toEqual([]);
    }));

  test('is in the search index once that has caught up', () =>
    withStore(async (store, path) => {
      await Promise.all(Array.from({ length: COMMITS }, (_, at) => store.commit(message('talk', `word ${at}`))));
      await store.catchUp();
      const newest = (await store.feed(NAMESPACE, 0, COMMITS)).at(-1)?.position;
      const file = openDatabase(path, { readOnly: true });
      const storeId = file.prepare('SELECT * FROM store').get()?.[0] as string; // a text column
      file.close();
      const index = openSearchIndex(`${path}-search`, { storeId });
      expect(index.position()).toBe(newest);
      index.close();
    }));
});

describe('a commit of a group', () => {
  test('that is refused harms no other', () =>
    withStore(async (store) => {
      const refused = store.commit(message('talk', 'no', { expect: { version: 7 } }));
      const others = ['a', 'b', 'c'].map((text) => store.commit(message('talk', text)));
      const error: unknown = await refused.catch((thrown: unknown) => thrown);
      expect(isTurnkeepError(error, 'conflict') && error.details).toEqual({ field: 'version', expected: 7, actual: 0 });
      expect((await Promise.all(others)).map(({ version }) => version)).toEqual([1, 2, 3]);
    }));

  test('that was sent twice is done once', () =>
    withStore(async (store) => {
      const once = message('talk', 'word');
      const [first, second] = await Promise.all([store.commit(once), store.commit(once)]);
      expect(second).toEqual({ ...first, replayed: true });
      expect(await versionOf(store, 'talk')).toBe(1);
    }));
});

test('after closing, everything is refused and no WAL is left', () =>
  withStoreFile(async (path) => {
    const store = await openSqlite(path);
    const last = store.commit(message('talk', 'word'));
    await Promise.all([store.close(), store.close()]);
    expect((await last).version).toBe(1);
    await expect(store.commit(message('talk', 'late'))).rejects.toMatchObject({ code: 'closed' });
    await expect(store.read(NAMESPACE, () => 1)).rejects.toMatchObject({ code: 'closed' });
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
  }));

test('rows that another conversation writes stand over what the tail had', () =>
  withStore(async (store) => {
    await store.commit(message('talk', 'one', {}));
    const appended = await store.commit(message('talk', 'two'));
    const at = (appended.events[0] as unknown as { readonly messageId: string }).messageId;
    await store.commit(envelope('fork', [{ kind: 'conversation.fork', source: 'talk', at }]));
    await store.commit(message('talk', 'three'));
    expect(await store.read(NAMESPACE, (rows) => rows.get('talk', 'ffork'))).toBeDefined();
    expect(await versionOf(store, 'talk')).toBe(3);
    expect(await store.verify()).toEqual([]);
  }));

describe('the surroundings', () => {
  test('are told: the format, and whether readers wait for commits', () =>
    withStoreFile(async (path) => {
      const rollback = await openSqlite(path, { journal: 'rollback' });
      const statuses = async (store: typeof rollback) =>
        (await store.examine()).map(({ check, status }) => `${check} ${status}`);
      expect(await statuses(rollback)).toEqual(['format ok', 'wal warning']);
      await rollback.close();
      const wal = await openSqlite(path);
      expect(await statuses(wal)).toEqual(['format ok', 'wal ok']);
      await wal.close();
    }));
});
