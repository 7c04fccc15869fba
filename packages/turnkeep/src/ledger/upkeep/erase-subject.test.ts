import { expect, test } from 'vitest';
import { text } from '../../core/changes.testkit.ts';
import type { NewMessage } from '../../core/message.ts';
import { systemSurroundings } from '../../platform/surroundings.ts';
import { openLedger } from '../open.ts';

const says = (messageId: string, author: string): NewMessage => ({
  messageId,
  role: 'user',
  author: { id: author, kind: 'human' },
  parts: text(`${author} says`),
});

test('a sub-agent that goes with its parent is not in the way', async () => {
  const now = { sha256: systemSurroundings.sha256, nonce: systemSurroundings.nonce, now: () => 1_000 };
  const space = (await openLedger('memory:', { surroundings: now })).namespace('n');
  const parent = space.conversation('a parent');
  await parent.create({ owner: 'alice' });
  const { turnId } = await parent.submit({ prompt: text('find it') });
  const child = await parent.spawn({ turnId, conversationId: 'child' });
  const { turnId: work } = await child.submit({ prompt: text('look'), author: { id: 'alice', kind: 'human' } });
  await child.inputs.enqueue({ prompt: text('and there'), author: { id: 'alice', kind: 'human' } });
  expect(await child.graph()).toMatchObject([{ turnId: work }]);
  // Of one moment, and the parent's id comes first: the list was read before the child was gone.
  const done = await space.eraseSubject('alice', { idempotencyKey: 'k' });
  expect(done).toMatchObject({ conversationsErased: 1 });
  expect(await child.exists()).toBe(false);
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

test('what a person answered, has waiting and is remembered for goes too, and nobody else’s', async () => {
  const space = (await openLedger('memory:')).namespace('n');
  const conversation = space.conversation('c');
  const { turnId } = await conversation.submit({ prompt: text('may we?') });
  await conversation.advance(turnId, 'running');
  for (const by of ['alice', 'bob']) {
    const asked = {
      kind: 'interrupt.request',
      interruptId: `asked ${by}`,
      turnId,
      type: 'input',
      payload: null,
    } as const;
    await conversation.commit([asked]);
    await space.answer(`asked ${by}`, { by, response: `${by} says yes` });
    const author = { id: by, kind: 'human' } as const;
    await conversation.inputs.enqueue({ inputId: `of ${by}`, prompt: text(`${by} waits`), author });
    await conversation.memories.create({ memoryId: `by ${by}`, text: 'likes tea', author });
    await conversation.memories.create({ memoryId: `about ${by}`, text: 'likes tea', subject: by });
  }
  await space.eraseSubject('alice', { idempotencyKey: 'k' });
  const redacted = await conversation.interrupt('asked alice');
  expect(redacted).toMatchObject({ status: 'answered' });
  expect(redacted?.answer).toBeUndefined();
  expect((await conversation.interrupt('asked bob'))?.answer).toMatchObject({ by: 'bob', response: 'bob says yes' });
  expect((await conversation.inputs.waiting()).map(({ inputId }) => inputId)).toEqual(['of bob']);
  expect((await space.memories.list()).map(({ memoryId }) => memoryId)).toEqual(['by bob', 'about bob']);
});

test('however many messages a person wrote in a conversation, none is left', async () => {
  const space = (await openLedger('memory:')).namespace('n');
  const conversation = space.conversation('c');
  const messages = Array.from({ length: 900 }, (_, at) => says(`m${at}`, at % 3 === 0 ? 'bob' : 'alice'));
  await conversation.record({ origin: 'import', messages });
  expect(await space.eraseSubject('alice', { idempotencyKey: 'k' })).toMatchObject({ messagesRedacted: 600 });
  expect((await space.search('alice says')).hits).toEqual([]);
  expect((await space.search('bob says', { limit: 1_000 })).hits).toHaveLength(300);
});
