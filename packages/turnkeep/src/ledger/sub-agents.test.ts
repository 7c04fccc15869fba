import { expect, test } from 'vitest';
import { ASKED, opened } from './agent/agent.testkit.ts';
import type { Conversation } from './conversation.ts';

/** A turn at work with two sub-agents: one is asked, one waits for an answer behind its leaf and has a sub-agent of its own. */
async function family(submitted: 'preparing' | 'running') {
  const { conversation } = opened();
  await conversation.submit({ ...ASKED, turnId: 't1', operationId: 'op' });
  if (submitted === 'running') await conversation.advance('t1', 'running');
  const asked = await conversation.spawn({ turnId: 't1' });
  await asked.submit({ ...ASKED, turnId: 'u1' });
  const waits = await conversation.spawn({ turnId: 't1' });
  await waits.submit({ ...ASKED, turnId: 'v1' });
  await waits.advance('v1', 'running');
  const below = await waits.spawn({ turnId: 'v1' });
  await below.submit({ ...ASKED, turnId: 'w1' });
  await waits.advance('v1', 'completed');
  await waits.submit({ ...ASKED, turnId: 'v2' });
  await waits.advance('v2', 'running');
  await waits.commit([
    { kind: 'interrupt.request', interruptId: 'q1', turnId: 'v2', type: 'approval', payload: null },
    { kind: 'turn.advance', turnId: 'v2', to: 'waiting' },
  ]);
  const { graphRevision } = await waits.info();
  await waits.select('v1', { expect: { graphRevision } });
  return { conversation, asked, waits, below };
}

const states = async (conversation: Conversation) => (await conversation.graph()).map(({ state }) => state);

test.each<[string, 'preparing' | 'running', (conversation: Conversation) => Promise<unknown>]>([
  ['is cancelled', 'running', (conversation) => conversation.advance('t1', 'cancelled')],
  ['fails', 'running', (conversation) => conversation.advance('t1', 'failed')],
  ['is stopped', 'running', (conversation) => conversation.stop('t1', 'enough')],
  ['makes room for another', 'running', (conversation) => conversation.submit({ ...ASKED, whenBusy: 'interrupt' })],
  ['an operator fails', 'running', (conversation) => conversation.operator().fail('t1', { code: 'x', message: 'no' })],
  [
    'makes room for what an operator sends',
    'running',
    (conversation) => conversation.operator().send('Now this', { whenBusy: 'interrupt' }),
  ],
  [
    'never started, as its operation failed',
    'preparing',
    (conversation) => conversation.resolveOperation('op', { status: 'failed', code: 'refused', message: 'no' }),
  ],
])('what sub-agents have at work is cancelled with a turn that %s', async (_how, submitted, end) => {
  const { conversation, asked, waits, below } = await family(submitted);
  await end(conversation);
  expect(await states(asked)).toEqual(['cancelled']);
  expect(await states(waits)).toEqual(['completed', 'cancelled']);
  expect(await states(below)).toEqual(['cancelled']);
  expect(await waits.interrupts()).toEqual([]);
});
