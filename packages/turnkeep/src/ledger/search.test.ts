import { expect, test } from 'vitest';
import { redact, submit, text, turn } from '../core/changes.testkit.ts';
import { openLedger } from './open.ts';

async function opened() {
  const ledger = await openLedger('memory:');
  const space = ledger.namespace('n');
  for (const words of ['one', 'two']) await space.conversation('c').append({ role: 'user', parts: text(words) });
  return { ledger, space };
}

test('a page has a limit, and what is none is refused', async () => {
  const { space } = await opened();
  for (const limit of [0, -1, 1.5, Number.NaN]) {
    await expect(space.search('o', { limit })).rejects.toMatchObject({ details: { path: 'limit' } });
  }
  await expect(space.search('o', { limit: 1_001 })).rejects.toMatchObject({ code: 'limit_exceeded' });
});

test('a cursor that is none of a search is refused', async () => {
  const { space } = await opened();
  for (const after of ['', 'abc', '-3', '1e3', '999999999999999']) {
    await expect(space.search('o', { after })).rejects.toMatchObject({ code: 'bad_cursor' });
  }
});

test('who gives up is told so by an error of ours', async () => {
  const { ledger, space } = await opened();
  const signal = AbortSignal.abort();
  for (const work of [
    space.search('o', { signal }),
    space.eraseSubject('nobody', { idempotencyKey: 'k', signal }),
    ledger.verify({ signal }),
  ]) {
    await expect(work).rejects.toMatchObject({ name: 'TurnkeepError', code: 'aborted' });
  }
});

test('words that are damaged are told with their place, and what they are not is found', async () => {
  const { ledger, space } = await opened();
  const read = ledger.backend.read.bind(ledger.backend);
  ledger.backend.read = async (namespace, reading, sought) =>
    read(
      namespace,
      (rows) =>
        reading({
          head: (id) => rows.head(id),
          get: (id, key) => rows.get(id, key),
          scan: (id, range) => rows.scan(id, range),
          heads: (query) => rows.heads(query),
          log(id, version) {
            const log = rows.log(id, version);
            if (!log || version !== 1) return log;
            return { ...log, records: log.records.map((record) => ({ ...record, body: '"other words"' })) };
          },
        }),
      sought,
    );
  const { hits, damage } = await space.search('o');
  expect(hits.map(({ sequence }) => sequence)).toEqual([2]);
  expect(damage).toEqual([{ conversationId: 'c', version: 1, reason: 'record 0 does not match its digest' }]);
});

test('a title is found in its own conversation, and not in another', async () => {
  const { space } = await opened();
  const [own, other] = [space.conversation('c'), space.conversation('d')];
  await own.update({ title: 'Tides of the year' });
  await other.update({ title: 'Tides of the day' });
  const found = async (where: typeof own | typeof space) =>
    (await where.search('tides')).hits.map((hit) => `${hit.conversationId} ${hit.messageId ?? 'title'}`).sort();
  expect(await found(own)).toEqual(['c title']);
  expect(await found(other)).toEqual(['d title']);
  expect(await found(space)).toEqual(['c title', 'd title']);
});

test('what stands for a redacted prompt is found in every turn that shares it', async () => {
  const { space } = await opened();
  const conversation = space.conversation('shared');
  await conversation.commit(turn('t1'));
  const { graphRevision } = await conversation.info();
  await conversation.commit([submit('t2', { samePromptAs: 't1', parent: null })], { expect: { graphRevision } });
  await conversation.commit([redact('t1.q', 'shown instead')]);
  for (const where of [space, conversation]) {
    const { hits } = await where.search('shown instead');
    expect(hits.map(({ messageId = '' }) => messageId).sort()).toEqual(['t1.q', 't2.q']);
    expect((await where.search('ask t1')).hits).toEqual([]);
  }
});
