import { expect, test } from 'vitest';
import { openDatabase } from '../driver/open-database.ts';
import { openSqlite } from '../open.ts';
import { message, NAMESPACE, versionOf, withStore, withStoreFile } from '../sqlite-backend.testkit.ts';
import { WriterClient } from './writer-client.ts';

test('a thread that dies leaves open what it was given, and refuses the rest', () =>
  withStoreFile(async (path) => {
    const file = { path, journal: 'auto', busyTimeoutMs: 1_000 } as const;
    const thread = new URL('./writer-thread-that-dies.testkit.js', import.meta.url);
    const { client } = await WriterClient.start(file, () => undefined, thread);
    const given = message('talk', 'word');
    await expect(client.commit(given)).rejects.toMatchObject({
      code: 'outcome_unknown',
      retry: 'ask_outcome',
      details: { commitId: given.commit.commitId },
    });
    await expect(client.commit(message('talk', 'word'))).rejects.toMatchObject({ code: 'store_unavailable' });
    await client.close();
  }));

test('a commit is refused when others write until its deadline, and the next one is not', () =>
  withStore(
    async (store, path) => {
      await store.commit(message('talk', 'one'));
      const other = openDatabase(path);
      other.exec('BEGIN IMMEDIATE');
      await expect(store.commit(message('talk', 'two'))).rejects.toMatchObject({
        code: 'store_busy',
        retry: 'after_delay',
      });
      expect(await versionOf(store, 'talk')).toBe(1);
      const waiting = store.commit(message('talk', 'three'));
      other.exec('ROLLBACK');
      expect((await waiting).version).toBe(2);
      other.close();
    },
    { busyTimeoutMs: 1_000 },
  ));

test('a commit that no group has taken is withdrawn, and one that was taken is answered', () =>
  withStore(async (store, path) => {
    await store.commit(message('talk', 'one'));
    const other = openDatabase(path);
    other.exec('BEGIN IMMEDIATE');
    const late = new AbortController();
    const sent = store.commit(message('talk', 'sent'), late.signal);
    // The writer is not idle any more: what comes now waits for the end of this step of the event loop.
    const early = new AbortController();
    const unsent = store.commit(message('talk', 'unsent'), early.signal);
    early.abort('changed my mind');
    await expect(unsent).rejects.toMatchObject({ code: 'aborted', details: { reason: 'changed my mind' } });
    // A read is answered after the batch was sent.
    await store.search(NAMESPACE, { text: 'one', limit: 1 });
    late.abort();
    await expect(sent).rejects.toMatchObject({ code: 'aborted' });
    other.exec('ROLLBACK');
    other.close();
    const done = new AbortController();
    const receipt = await store.commit(message('talk', 'done'), done.signal);
    done.abort();
    expect(receipt.version).toBe(2);
    await expect(store.commit(message('talk', 'no'), done.signal)).rejects.toMatchObject({ code: 'aborted' });
  }));

test('a full disk refuses the commit that does not fit, and the store goes on', () =>
  withStoreFile(async (path) => {
    const store = await openSqlite(path, { maxPages: 40 });
    const large = () => message('talk', 'x'.repeat(100_000));
    const outcomes = await Promise.allSettled(
      [large(), large(), large(), large(), message('small', 'fits')].map((each) => store.commit(each)),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const outcome of refused)
      expect(outcome).toMatchObject({ reason: { code: 'store_full', retry: 'after_delay' } });
    expect(outcomes.at(-1)).toMatchObject({ status: 'fulfilled', value: { version: 1 } });
    expect(await versionOf(store, 'talk')).toBe(4 - refused.length);
    expect((await store.commit(message('small', 'fits too'))).version).toBe(2);
    expect(await store.verify()).toEqual([]);
    await store.close();
    const again = await openSqlite(path);
    expect((await again.commit(large())).version).toBe(5 - refused.length);
    await again.close();
  }));
