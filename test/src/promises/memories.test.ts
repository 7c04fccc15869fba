import { describe, expect, test } from 'vitest';
import { refused, user } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const author = { id: 'ann', kind: 'human' as const };

describe.each(BACKENDS)('memories of a namespace, on %s', (backend) => {
  const store = storeFor(backend);
  const memories = () => store.ledger.namespace('n').memories;

  test('a memory is made from a transcript, and read by the whole namespace, by nobody else', async () => {
    const conversation = store.conversation();
    await conversation.record({ origin: 'import', messages: [{ ...user('I only drink tea'), messageId: 'm1' }] });
    const { memoryId } = await conversation.memories.create({
      text: 'drinks only tea',
      type: 'preference',
      sources: ['m1'],
    });
    await store.everywhere(async () => {
      expect(await memories().list()).toMatchObject([
        { memoryId, revision: 0, text: 'drinks only tea', sources: [{ conversationId: 'c', messageId: 'm1' }] },
      ]);
      expect(await memories().list({ type: 'fact' })).toEqual([]);
      expect(await store.ledger.namespace('elsewhere').memories.list()).toEqual([]);
    });
    await refused(store.conversation('d').memories.create({ text: 'x', sources: ['m1'] }), 'no_message', {
      messageId: 'm1',
    });
  });

  test('two that change the same revision: one wins, the other is told', async () => {
    const handle = await store.handles();
    const { memoryId } = await handle(0).memories.create({ text: 'likes tea' });
    const both = await Promise.allSettled([
      handle(0).memories.replace(memoryId, 0, { text: 'likes green tea' }),
      handle(1).memories.replace(memoryId, 0, { text: 'likes black tea' }),
    ]);
    const [lost] = both.filter((one) => one.status === 'rejected');
    expect(lost?.reason).toMatchObject({
      code: 'memory_conflict',
      details: { memoryId, expectedRevision: 0, actualRevision: 1 },
    });
    await store.everywhere(async () => expect(await memories().get(memoryId)).toMatchObject({ revision: 1 }));
    expect(await memories().get(memoryId, { revision: 0 })).toMatchObject({ text: 'likes tea' });
  });

  test('a search finds by words, in any script, and by vectors where the caller brings them', async () => {
    const { memories: made } = store.conversation();
    for (const text of ['drinks green tea', 'has a green car', '緑茶が好き', 'пьёт чай']) await made.create({ text });
    const texts = async (query: string, options = {}) =>
      (await memories().search(query, options)).map(({ text }) => text);
    await store.everywhere(async () => {
      expect(await texts('green tea')).toEqual(['drinks green tea', 'has a green car']);
      expect(await texts('緑茶')).toEqual(['緑茶が好き']);
      expect(await texts('ЧАЙ', { limit: 1 })).toEqual(['пьёт чай']);
      expect(await texts('beverage')).toEqual([]);
    });
    const isDrink = (text: string) => /beverage|tea|茶|чай/.test(text);
    const embed = async (all: readonly string[]) => all.map((text) => (isDrink(text) ? [1, 0] : [-1, 0.1]));
    expect(await texts('beverage', { embed })).toEqual(['drinks green tea', '緑茶が好き', 'пьёт чай']);
    // By both, by words alone, by vectors alone.
    const byBoth = await texts('green tea', { embed });
    expect(byBoth).toEqual(['drinks green tea', 'has a green car', '緑茶が好き', 'пьёт чай']);
    await refused(memories().search('x', { embed: async () => [[1]] }), 'invalid_value', {
      path: 'options.embed',
      reason: 'expected one vector for each text',
    });
  });

  test('the erasure of a person reaches what was made of their words, what is about them and what they wrote', async () => {
    const conversation = store.conversation();
    await conversation.record({ origin: 'import', messages: [{ ...user('my secret tea'), messageId: 'm1', author }] });
    await conversation.memories.create({ text: 'secret tea', sources: ['m1'] });
    await store.conversation('d').memories.create({ text: 'secret birthday', subject: 'ann' });
    await store.conversation('d').memories.create({ text: 'secret note', author });
    const owned = store.conversation('owned');
    await owned.create({ owner: 'ann' });
    await owned.memories.create({ text: 'secret plan' });
    const kept = await store.conversation('d').memories.create({ text: 'the office has chairs', subject: 'bob' });
    const report = await store.ledger.namespace('n').eraseSubject('ann', { idempotencyKey: 'erase' });
    expect(report).toMatchObject({ conversationsErased: 1, messagesRedacted: 1, memoriesForgotten: 2 });
    await store.everywhere(async () => {
      expect(await memories().list()).toMatchObject([{ memoryId: kept.memoryId }]);
      expect(await memories().search('secret')).toEqual([]);
    });
    await store.ledger.backend.read('n', (rows) => {
      for (const id of ['c', 'd', 'owned']) {
        for (let version = 1; version <= (rows.head(id)?.version ?? 0); version++)
          expect(JSON.stringify(rows.log(id, version))).not.toContain('secret');
      }
    });
  });

  test('a memory is never made by itself, and never comes back', async () => {
    const conversation = store.conversation();
    await conversation.record({ origin: 'import', messages: [user('Remember that I like tea!')] });
    expect(await memories().list()).toEqual([]);
    const { memoryId } = await conversation.memories.create({ text: 'likes tea' });
    await conversation.memories.forget(memoryId, 0);
    await refused(conversation.memories.create({ memoryId, text: 'likes tea' }), 'memory_exists', { memoryId });
    await store.everywhere(async () => expect(await memories().get(memoryId)).toBeUndefined());
  });
});
