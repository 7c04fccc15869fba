import type { Change } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { everything, refusals, refused, text, turn, words } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const LONG = 'long words '.repeat(2_000);

describe.each(BACKENDS)('prompts, on %s', (backend) => {
  const store = storeFor(backend);

  test('a prompt is never overwritten: the same id with other words is a conflict', async () => {
    const conversation = store.conversation();
    await conversation.submit({ turnId: 't1', promptId: 'p', prompt: text('first') });
    await conversation.advance('t1', 'completed');
    const before = await everything(conversation);
    await store.everywhere(async (other) => {
      await refused(other.submit({ promptId: 'p', prompt: text('second') }), 'prompt_conflict', { promptId: 'p' });
      expect(await everything(other)).toEqual(before);
      expect(await words(other)).toEqual(['first']);
    });
  });

  test('turns share a prompt by reference: its words are stored once, and each turn has its own message', async () => {
    const conversation = store.conversation();
    await conversation.submit({ turnId: 't1', promptId: 'p', prompt: text(LONG) });
    await conversation.advance('t1', 'completed');
    const once = await store.logBytes();
    for (const turnId of ['t2', 't3', 't4']) {
      const prompt = turnId === 't4' ? { promptId: 'p', prompt: text(LONG) } : { samePromptAs: 't1' };
      await conversation.submit({ turnId, ...prompt });
      await conversation.advance(turnId, 'completed');
    }
    expect((await store.logBytes()) - once).toBeLessThan(LONG.length / 4);
    await store.everywhere(async (other) => {
      expect(await words(other)).toEqual([LONG, LONG, LONG, LONG]);
      const { messages } = await other.page();
      expect(messages.map(({ sequence, turnId }) => [sequence, turnId])).toEqual([
        [1, 't1'],
        [2, 't2'],
        [3, 't3'],
        [4, 't4'],
      ]);
    });
  });

  test('two that write one prompt at once: one wins, and the other is told', async () => {
    await store.conversation().commit(turn('t1'));
    const asked = (turnId: string): readonly Change[] => [
      { kind: 'turn.submit', turnId, promptId: 'p', operationId: `o ${turnId}`, prompt: text(turnId) },
      { kind: 'turn.advance', turnId, to: 'completed' },
    ];
    const results = await Promise.allSettled([
      store.conversation().commit(asked('t2')),
      (await store.elsewhere()).commit(asked('t3')),
    ]);
    expect(refusals(results)).toMatchObject([{ code: 'prompt_conflict', details: { promptId: 'p' } }]);
    await store.everywhere(async (conversation) => expect(await conversation.graph()).toHaveLength(2));
  });

  test('a command starts a turn as a prompt does', async () => {
    const conversation = store.conversation();
    await conversation.submit({ turnId: 't1', prompt: text('/compact'), input: 'command' });
    await store.everywhere(async (other) => {
      expect(await other.graph()).toMatchObject([{ turnId: 't1', state: 'preparing', label: '/compact' }]);
    });
  });
});
