import { expect, test } from 'vitest';
import { text } from '../core/changes.testkit.ts';
import type { NewMessage } from '../core/message.ts';
import { openLedger } from './open.ts';

const says = (messageId: string, author: string): NewMessage => ({
  messageId,
  role: 'user',
  author: { id: author, kind: 'human' },
  parts: text(`${author} says`),
});

test('a person goes from what a fork still shares of a conversation that was erased before', async () => {
  const space = (await openLedger('memory:')).namespace('n');
  const source = space.conversation('source');
  await source.record({
    origin: 'import',
    messages: [says('hers', 'alice'), says('his', 'bob'), says('cut off', 'alice')],
  });
  const fork = await source.fork('his', { conversationId: 'fork' });
  const grandchild = await fork.fork('his', { conversationId: 'grandchild' });
  await source.erase();
  await space.collect();
  const done = await space.eraseSubject('alice', { idempotencyKey: 'k' });
  expect(done).toMatchObject({ conversationsErased: 0, messagesRedacted: 1 });
  for (const conversation of [fork, grandchild]) {
    const { messages } = await conversation.page();
    expect(messages.map(({ parts }) => parts)).toEqual([[], text('bob says')]);
  }
});
