import type { Conversation, Message } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { text, user } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

// What the first seed promises of compaction, cooling and tiers (seed 000).

async function sayMany(conversation: Conversation, count: number, from = 0): Promise<void> {
  for (let at = from; at < from + count; at += 4) {
    const messages = [at, at + 1, at + 2, at + 3].map((k) => user(`message ${k}`, { messageId: `m${k}` }));
    await conversation.record({ origin: 'test', messages });
  }
}

async function messagesIn(conversation: Conversation): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const message of conversation.read()) messages.push(message);
  return messages;
}

async function tiersOf(conversation: Conversation): Promise<readonly string[]> {
  return (await messagesIn(conversation)).map(({ tier }) => tier);
}

describe.each(BACKENDS)('tiers, on %s', (backend) => {
  const store = storeFor(backend);

  test('a conversation keeps its newest 512 messages hot, and older ones cool', async () => {
    await sayMany(store.conversation(), 520);
    await store.ledger.maintain();
    await store.everywhere(async (conversation) => {
      const tiers = await tiersOf(conversation);
      expect(tiers.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 'cool'));
      expect(tiers.slice(8).every((tier) => tier === 'hot')).toBe(true);
    });
  });

  test('cooling deletes nothing and changes no answer, however often it is done', async () => {
    const conversation = store.conversation();
    await conversation.tasks.create({ taskId: 't', title: 'remember' });
    await conversation.append(user('of the task', { messageId: 'of-task', taskId: 't' }));
    await sayMany(conversation, 40);
    const view = async (other: Conversation) => {
      const read = (await messagesIn(other)).map(({ tier: _tier, ...message }) => message);
      const window = (await other.window(30)).messages.map(({ messageId }) => messageId);
      const ofTask = (await other.tasks.messages('t')).map(({ messageId }) => messageId);
      return { read, window, ofTask, graph: await other.graph(), info: await other.info() };
    };
    const before = await view(conversation);
    for (const hotMessages of [20, 20, 4, 0]) {
      await store.ledger.maintain({ hotMessages });
      expect(await view(store.conversation())).toEqual(before);
    }
    await store.everywhere(async (other) => expect(await view(other)).toEqual(before));
  });

  test('a message is read by its id wherever it lies, and says where', async () => {
    await sayMany(store.conversation(), 16);
    await store.ledger.maintain({ hotMessages: 4 });
    await store.everywhere(async (conversation) => {
      const cool = { messageId: 'm0', tier: 'cool', parts: text('message 0') };
      expect(await conversation.message('m0')).toMatchObject({ status: 'found_verified', message: cool });
      const hot = { messageId: 'm15', tier: 'hot', parts: text('message 15') };
      expect(await conversation.message('m15')).toMatchObject({ status: 'found_verified', message: hot });
      expect(await conversation.message('m16')).toEqual({ status: 'not_found_confirmed' });
    });
  });

  test('a search spans the tiers and says of each hit which it is in', async () => {
    await sayMany(store.conversation(), 12);
    await store.ledger.maintain({ hotMessages: 4 });
    await store.everywhere(async (conversation) => {
      const { hits } = await conversation.search('MESSAGE 1');
      expect(hits.map(({ messageId, tier }) => `${messageId} ${tier}`).sort()).toEqual([
        'm1 cool',
        'm10 hot',
        'm11 hot',
      ]);
    });
  });

  test('a message that is cool is not appended twice, and a conversation goes on over what is cool', async () => {
    const conversation = store.conversation();
    await sayMany(conversation, 12);
    await store.ledger.maintain({ hotMessages: 0 });
    await sayMany(conversation, 4, 12);
    await store.everywhere(async (other) => {
      expect(await tiersOf(other)).toEqual([...Array.from({ length: 12 }, () => 'cool'), 'hot', 'hot', 'hot', 'hot']);
    });
  });
});

describe.each(BACKENDS)('a store that is opened with a window of its own, on %s', (backend) => {
  const store = storeFor(backend, { hotMessages: 8 });

  test('keeps as many hot', async () => {
    await sayMany(store.conversation(), 20);
    await store.ledger.maintain();
    const tiers = await tiersOf(store.conversation());
    expect(tiers.filter((tier) => tier === 'hot')).toHaveLength(8);
  });
});
