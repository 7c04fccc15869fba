import { fieldOf } from '../../core/event.ts';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TurnkeepError } from '../../core/errors.ts';
import { fold, matchFolded } from '../../core/fold.ts';
import type { ConversationId } from '../../core/ids.ts';
import { searchTexts } from '../../core/search-text.ts';
import { sha256 } from '../../platform/hash.ts';
import { openDatabase } from '../driver/open-database.ts';
import { openSqlite } from '../open.ts';
import type { SqliteBackend } from '../sqlite-backend.ts';
import { envelope, message, NAMESPACE, withStore, withStoreFile } from '../sqlite-backend.testkit.ts';

const WORDS = ['fox', 'Straße', '你好', '🔥', 'ไทย', 'a%b', '_', "don't", 'İ', 'Ω', 'x'];

/** What a search has to find, page by page. */
async function found(
  store: SqliteBackend,
  text: string,
  limit: number,
  conversationId?: ConversationId,
): Promise<readonly string[]> {
  const places: string[] = [];
  for (let before: string | undefined; ;) {
    const page = await store.search(NAMESPACE, { text, limit, before, conversationId });
    places.push(...page.places.map(({ conversationId: id, version }) => `${id} ${version}`));
    if (page.next === undefined) return places;
    before = page.next;
  }
}

/** What a scan of the log finds, newest first. */
async function scanned(store: SqliteBackend, text: string): Promise<readonly string[]> {
  const feed = await store.feed(NAMESPACE, 0, 100_000);
  return store.read(NAMESPACE, (rows) =>
    feed
      .toReversed()
      .filter(({ conversationId, version }) => {
        const log = rows.log(conversationId, version);
        return log && searchTexts(log, sha256).some((each) => matchFolded(each.text ?? '', fold(text)) >= 0);
      })
      .map(({ conversationId, version }) => `${conversationId} ${version}`),
  );
}

function words(at: number): string {
  return WORDS.filter((_, index) => (at * 7 + index * 3) % 5 === 0).join(' ');
}

async function fill(store: SqliteBackend, from: number, to: number): Promise<void> {
  const commits = Array.from({ length: to - from }, (_, at) =>
    message(`talk ${(from + at) % 3}`, `${words(from + at)} n${from + at}`),
  );
  await Promise.all(commits.map((each) => store.commit(each)));
}

/**
 * What a scan finds and a search does not, or twice, or in another order. The index may answer commits that do not match,
 * never too few: core checks each.
 */
async function differences(store: SqliteBackend): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const text of [...WORDS, 'n1', 'no such word', '🔥 ไทย']) {
    const expected = await scanned(store, text);
    for (const limit of [3, 1_000]) {
      const places = await found(store, text, limit);
      const hits = places.filter((place) => expected.includes(place));
      if (hits.join() !== expected.join()) wrong.push(`${text}: ${hits.join()} instead of ${expected.join()}`);
    }
  }
  return wrong;
}

describe('I9: a search finds what a scan finds', () => {
  test('without an index, with one, and with one that lags', () =>
    withStore(async (store) => {
      await fill(store, 0, 120);
      expect(await differences(store)).toEqual([]);
      await store.rebuild();
      expect(await differences(store)).toEqual([]);
      await fill(store, 120, 150);
      expect(await differences(store)).toEqual([]);
    }));

  test('when its index was deleted, or is no index at all', () =>
    withStoreFile(async (path) => {
      for (const break_ of [
        () => rmSync(`${path}-search`, { force: true }),
        () => writeFileSync(`${path}-search`, 'nonsense '.repeat(2_000)),
      ]) {
        const store = await openSqlite(path);
        await fill(store, 0, 20);
        await store.rebuild();
        await store.close();
        break_();
        const again = await openSqlite(path);
        expect(await differences(again)).toEqual([]);
        await again.close();
      }
    }));

  test('of one conversation, with what it inherits', () =>
    withStore(async (store) => {
      const { events } = await store.commit(message('talk', 'an inherited fox'));
      await store.commit(message('other', 'a fox elsewhere'));
      await store.commit(
        envelope('fork', [{ kind: 'conversation.fork', source: 'talk', at: fieldOf(events[0], 'messageId') }]),
      );
      await store.commit(envelope('fork', [{ kind: 'conversation.update', title: 'my fox' }]));
      expect(await found(store, 'fox', 10, 'fork')).toEqual(['fork 2', 'talk 1']);
      expect(await found(store, 'fox', 1, 'fork')).toEqual(['fork 2', 'talk 1']);
      expect(await found(store, 'fox', 10, 'talk')).toEqual(['talk 1']);
      expect(await found(store, 'fox', 10, 'nobody')).toEqual([]);
    }));

  test('and nothing that was redacted', () =>
    withStore(async (store) => {
      await store.commit(message('talk', 'a fox'));
      const { events } = await store.commit(message('talk', 'a secret fox'));
      await store.rebuild();
      await store.commit(
        envelope('talk', [{ kind: 'message.redact', messageId: fieldOf(events[0], 'messageId'), reason: 'asked' }]),
      );
      await store.collect(NAMESPACE);
      expect(await found(store, 'secret', 10)).toEqual([]);
      expect(await found(store, 'fox', 10)).toEqual(['talk 1']);
    }));
});

test('an index that lacks a commit is a fault, until it is rebuilt', () =>
  withStore(async (store, path) => {
    await fill(store, 0, 30);
    await store.rebuild();
    expect(await store.verify()).toEqual([]);
    const index = openDatabase(`${path}-search`);
    index.exec('DELETE FROM tail');
    index.close();
    expect(await store.verify()).toContainEqual(
      expect.objectContaining({ kind: 'search_index', place: 'log position 7' }),
    );
    await store.rebuild();
    expect(await store.verify()).toEqual([]);
  }));

test('an index that is newer than the store beside it, which a backup has replaced, hides nothing', () =>
  withStoreFile(async (path) => {
    const commit = async (from: number, word: string) => {
      const store = await openSqlite(path);
      for (let at = from; at < from + 20; at++) await store.commit(message('talk', `${word} ${at}`));
      await store.catchUp();
      await store.close();
    };
    await commit(0, 'fox');
    copyFileSync(path, `${path}-backup`);
    await commit(20, 'wolf');
    copyFileSync(`${path}-backup`, path);
    const store = await openSqlite(path);
    for (let at = 0; at < 30; at++) await store.commit(message('talk', `owl ${at}`));
    expect((await found(store, 'owl', 100)).length).toBe(30);
    await store.catchUp();
    expect((await found(store, 'owl', 100)).length).toBe(30);
    expect(await found(store, 'wolf', 100)).toEqual([]);
    expect(await store.verify()).toEqual([]);
    await store.close();
  }));

test('a search can be called off', () =>
  withStore(async (store) => {
    await fill(store, 0, 50);
    const gone = new AbortController();
    const search = store.search(NAMESPACE, { text: 'fox', limit: 5 }, gone.signal);
    gone.abort();
    await expect(search).rejects.toMatchObject({ code: 'aborted' });
    expect((await store.search(NAMESPACE, { text: 'fox', limit: 5 })).places).toHaveLength(5);
  }));

test('who asks for the index waits for another process that writes it, until the deadline', () =>
  withStore(
    async (store, path) => {
      await store.commit(message('talk', 'word'));
      await store.rebuild();
      const other = openDatabase(`${path}-search`);
      other.exec('BEGIN IMMEDIATE');
      await store.commit(message('talk', 'another word'));
      const refused = await store.catchUp().catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'store_busy', retry: 'after_delay' });
      expect((refused as TurnkeepError<'store_busy'>).details.waitedMs).toBeGreaterThanOrEqual(300);
      const waiting = store.rebuild();
      other.exec('ROLLBACK');
      await waiting;
      other.close();
      expect(await store.verify()).toEqual([]);
    },
    { busyTimeoutMs: 300 },
  ));
