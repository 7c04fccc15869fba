import { expect, test } from 'vitest';
import { openLedger } from './open.ts';

/** A conversation of so many turns, each with a prompt of its own. */
async function conversationOf(turns: number) {
  const ledger = await openLedger('memory:');
  const conversation = ledger.namespace('n').conversation('long');
  for (let at = 0; at < turns; at += 100)
    await conversation.commit(
      Array.from({ length: Math.min(100, turns - at) }, (_, next) => [
        { kind: 'turn.record', origin: 'test' } as const,
        {
          kind: 'message.append',
          message: { role: 'user', parts: [{ type: 'text', text: `prompt ${at + next}` }] },
        } as const,
      ]).flat(),
    );
  return { ledger, conversation };
}

test('a long tree comes whole and in order, and others have their turn while it is read', async () => {
  const { ledger, conversation } = await conversationOf(450);
  let turns = 0;
  const count = () => {
    turns += 1;
    if (turns < 1_000) setImmediate(count);
  };
  setImmediate(count);
  const graph = await conversation.graph();
  expect(turns).toBeGreaterThanOrEqual(2);
  turns = 1_000;
  expect(graph.map(({ label }) => label)).toEqual(Array.from({ length: 450 }, (_, at) => `prompt ${at}`));
  await ledger.close();
});

test('it is given up with the signal', async () => {
  const { ledger, conversation } = await conversationOf(450);
  const control = new AbortController();
  setImmediate(() => control.abort('enough'));
  await expect(conversation.graph({ signal: control.signal })).rejects.toMatchObject({
    code: 'aborted',
    details: { reason: 'enough' },
  });
  await expect(conversation.graph({ signal: 1 as never })).rejects.toMatchObject({
    code: 'invalid_value',
    details: { path: 'options.signal' },
  });
  await ledger.close();
});
