import { describe, expect, test } from 'vitest';
import { assistant, everything, refused, text, turn, user, words } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

describe.each(BACKENDS)('messages, on %s', (backend) => {
  const store = storeFor(backend);

  test('a message appended twice stands once', async () => {
    const conversation = store.conversation();
    await conversation.append(user('hi', { messageId: 'm' }));
    const again = await conversation.append(user('hi', { messageId: 'm' }));
    expect(again.events).toMatchObject([{ sequence: 1, noop: true }]);
    await store.everywhere(async (other) => expect(await words(other)).toEqual(['hi']));
  });

  test('the same id with other content is a conflict, and both writers know what stands', async () => {
    await store.conversation().append(user('hi', { messageId: 'm' }));
    await store.everywhere(async (conversation) => {
      await refused(conversation.append(user('bye', { messageId: 'm' })), 'message_conflict', { messageId: 'm' });
      expect(await words(conversation)).toEqual(['hi']);
    });
  });

  test('a window holds the last messages of the path, oldest first', async () => {
    const conversation = store.conversation();
    for (let at = 1; at <= 20; at++) await conversation.append(user(`m${at}`));
    await store.everywhere(async (other) => {
      const { messages, before } = await other.window(8);
      expect(messages.map(({ sequence }) => sequence)).toEqual([13, 14, 15, 16, 17, 18, 19, 20]);
      const earlier = await other.window(8, { before: before ?? '' });
      expect(earlier.messages.map(({ sequence }) => sequence)).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
    });
  });

  test('a message is found by its id and verified, or confirmed not to be there', async () => {
    await store.conversation().append(user('hi', { messageId: 'm' }));
    await store.conversation('d').append(user('hi', { messageId: 'n' }));
    await store.everywhere(async (conversation) => {
      const message = { messageId: 'm', role: 'user', sequence: 1 };
      expect(await conversation.message('m')).toMatchObject({ status: 'found_verified', message });
      expect(await conversation.message('n')).toEqual({ status: 'not_found_confirmed' });
    });
  });

  test('a message whose words were damaged is said to be damaged, and its neighbours are not', async () => {
    const conversation = store.conversation();
    await conversation.append(user('whole one', { messageId: 'm1' }));
    await conversation.append(user('damaged two', { messageId: 'm2' }));
    await conversation.append(user('whole three', { messageId: 'm3' }));
    await store.damage('damaged two');
    await store.everywhere(async (other) => {
      expect(await other.message('m2')).toEqual({ status: 'source_corrupt', ...store.damagedRecord(2) });
      for (const id of ['m1', 'm3']) expect(await other.message(id)).toMatchObject({ status: 'found_verified' });
    });
  });

  test('a text is found wherever it stands, with the conversation, the message and the tier', async () => {
    await store.conversation().append(user('a needle in a haystack', { messageId: 'm1' }));
    await store.conversation('d').append(user('another NEEDLE', { messageId: 'm2' }));
    await store.conversation('e', 'other').append(user('a needle of another tenant'));
    await store.everywhere(async (conversation) => {
      const { hits } = await conversation.search('needle');
      expect(hits).toMatchObject([
        { conversationId: 'c', messageId: 'm1', tier: 'hot', matchStart: 2, matchLength: 6 },
      ]);
    });
    const { hits } = await store.ledger.namespace('n').search('needle');
    expect(hits.map(({ messageId }) => messageId)).toEqual(['m2', 'm1']);
  });

  test('nothing goes as a conversation grows: the first of 600 messages is read like the last', async () => {
    const conversation = store.conversation();
    for (let at = 0; at < 6; at++) {
      const append = (n: number) => ({ kind: 'message.append' as const, message: user(`m${at * 100 + n}`) });
      await conversation.commit(Array.from({ length: 100 }, (_, n) => append(n)));
    }
    await store.everywhere(async (other) => {
      expect(await words(other)).toEqual(Array.from({ length: 600 }, (_, at) => `m${at}`));
      expect((await other.search('m0')).hits).toHaveLength(1);
    });
  });

  test('each message leaves a mark with the digest of its record, under a chain that verifies', async () => {
    const conversation = store.conversation();
    await conversation.append(user('one'));
    await conversation.append(assistant('two'));
    const chain = (await conversation.info()).chain;
    await store.everywhere(async (other) => expect((await other.info()).chain).toBe(chain));
    const report = await store.ledger.verify();
    expect(report).toMatchObject({ conversations: 1, commits: 2, records: 2, faults: [] });
    await store.damage('two');
    const { faults } = await store.ledger.verify();
    const place = expect.stringMatching(/^conversation c, version 2\b/) as string;
    expect(faults).toContainEqual(expect.objectContaining({ place }));
  });

  test('callers may append in parallel through any handle: none is lost, and sequences have no gap', async () => {
    const handle = await store.handles();
    await Promise.all(Array.from({ length: 40 }, (_, at) => handle(at).append(user(`m${at}`))));
    await store.everywhere(async (conversation) => {
      const { messages } = await conversation.page({ limit: 100 });
      expect(messages.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
      expect((await words(conversation)).toSorted()).toEqual(
        Array.from({ length: 40 }, (_, at) => `m${at}`).toSorted(),
      );
    });
  });

  test('a message keeps its author, status, visibility, time and metadata', async () => {
    const full = {
      author: { id: 'ann', kind: 'human' as const, name: 'Ann' },
      status: 'incomplete' as const,
      finishReason: 'length',
      visibility: 'user' as const,
      occurredAt: 'yesterday, 5 o’clock',
      metadata: { a: [1, { b: null }] },
    };
    await store.conversation().append(user('hi', { messageId: 'm', ...full }));
    await store.everywhere(async (conversation) => {
      const found = await conversation.message('m');
      expect(found).toMatchObject({ status: 'found_verified', message: { ...full, parts: text('hi') } });
    });
  });

  test('redaction takes a message’s words everywhere and leaves its place', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1', 'a secret word'));
    const fork = await conversation.fork('t1.a', { conversationId: 'fork' });
    await conversation.redact('t1.a', { reason: 'asked', replacement: text('gone') });
    await store.everywhere(async (other) => {
      expect(await words(other)).toEqual(['ask t1', 'gone']);
      expect((await other.search('secret')).hits).toEqual([]);
    });
    expect(await words(store.conversation(fork.id))).toEqual(['ask t1', 'gone']);
    await refused(store.conversation().append(assistant('a secret word', { messageId: 't1.a' })), 'redacted', {
      messageId: 't1.a',
    });
    expect((await store.ledger.verify()).faults).toEqual([]);
  });

  test('an erased conversation takes no late write, and cannot be brought back', async () => {
    const conversation = store.conversation();
    await conversation.append(user('hi'), { idempotencyKey: 'first' });
    await conversation.erase();
    await store.everywhere(async (other) => {
      for (const call of [
        () => other.append(user('late')),
        () => other.create(),
        () => other.append(user('hi'), { idempotencyKey: 'first' }),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: 'erased', details: { conversationId: 'c' } });
      }
      await expect(everything(other)).rejects.toMatchObject({ code: 'erased' });
      expect(await other.exists()).toBe(false);
    });
  });
});
