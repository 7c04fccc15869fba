import { expect, test } from 'vitest';
import { MemoryBackend } from '../memory/index.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { openLedger } from './open.ts';

const QUERIES = ['tea', 'coffee', 'tea Ann', '緑茶', 'none'];

test('a search that counted terms before finds what one that never did finds, whatever happened to the memories', async () => {
  const backend = new MemoryBackend(systemSurroundings.sha256);
  const space = (await openLedger(backend)).namespace('n');
  const conversation = space.conversation('c');
  await conversation.append({ messageId: 'm', role: 'user', parts: [{ type: 'text', text: 'I like tea' }] });
  const { memories } = conversation;
  const create = (memoryId: string, text: string, more: object = {}) => memories.create({ memoryId, text, ...more });
  const replace = (memoryId: string, from: number, text: string) => memories.replace(memoryId, from, { text });
  const happenings: readonly (() => Promise<unknown>)[] = [
    () => create('a', 'Ann likes tea'),
    () => create('b', 'Bob likes tea and coffee', { type: 'taste', subject: 'bob' }),
    () => create('c', '緑茶が好き tea tea tea'),
    () => replace('a', 0, 'Ann likes coffee'),
    () => create('d', 'tea', { sources: ['m'] }),
    () => replace('b', 0, 'Bob likes water'),
    () => memories.forget('c', 0),
    () => conversation.redact('m', { reason: 'asked' }),
    () => replace('a', 1, 'Ann likes tea again'),
    () => conversation.erase(),
  ];
  for (const happens of happenings) {
    await happens();
    const fresh = (await openLedger(backend)).namespace('n');
    for (const query of QUERIES) {
      expect(await space.memories.search(query)).toEqual(await fresh.memories.search(query));
      const filter = { type: 'taste', subject: 'bob' };
      expect(await space.memories.search(query, filter)).toEqual(await fresh.memories.search(query, filter));
    }
  }
  expect(await space.memories.search('tea')).toEqual([]);
});

test('of two memories of one score the older one comes first', async () => {
  let now = 0;
  const surroundings = { ...systemSurroundings, now: () => (now += 1) };
  const space = (await openLedger('memory:', { surroundings })).namespace('n');
  for (const memoryId of ['z', 'a']) await space.conversation('c').memories.create({ memoryId, text: 'tea' });
  for (let times = 0; times < 2; times++) {
    expect((await space.memories.search('tea')).map(({ memoryId }) => memoryId)).toEqual(['z', 'a']);
  }
});
