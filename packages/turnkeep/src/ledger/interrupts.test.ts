import { expect, test } from 'vitest';
import { ASKED, opened } from './agent/agent.testkit.ts';
import type { Conversation } from './conversation.ts';

/** A turn that waits for an answer to the interrupt `id`. */
async function asks(conversation: Conversation, id: string, turn: string): Promise<string> {
  const { turnId } = await conversation.run(
    ASKED,
    async (agent) => void (await agent.interrupt({ interruptId: id, type: 'input', payload: null })),
    { idempotencyKey: turn },
  );
  return turnId;
}

test('an answer finds the conversation that waits, else the one that waited, and is told which', async () => {
  const { space } = opened();
  const turnId = await asks(space.conversation('a'), 'q', 'a1');
  for (let at = 0; at < 70; at++) await space.conversation(`other ${at}`).create();
  const yes = { by: 'ann', response: 'yes' };
  expect(await space.answer('q', yes)).toEqual({ conversationId: 'a', turnId, first: true });
  expect(await space.answer('q', yes)).toEqual({ conversationId: 'a', turnId, first: false });
  const later = await asks(space.conversation('b'), 'q', 'b1');
  expect(await space.answer('q', yes)).toEqual({ conversationId: 'b', turnId: later, first: true });
  await expect(space.answer('none', yes)).rejects.toMatchObject({ code: 'no_interrupt' });
});

test('of two conversations that ask under one id none is guessed: the one that is meant is named', async () => {
  const { space } = opened();
  for (const id of ['a', 'b']) await asks(space.conversation(id), 'q', `${id}1`);
  const yes = { by: 'ann', response: 'yes' };
  const refused = { code: 'invalid_value', details: { path: 'conversationId' } };
  await expect(space.answer('q', yes)).rejects.toMatchObject(refused);
  expect(await space.answer('q', { ...yes, conversationId: 'b' })).toMatchObject({ conversationId: 'b', first: true });
  expect(await space.answer('q', yes)).toMatchObject({ conversationId: 'a', first: true });
  await expect(space.answer('q', yes)).rejects.toMatchObject(refused);
});
