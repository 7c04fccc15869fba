import { expect, test } from 'vitest';
import { isTurnkeepError } from '../../core/errors.ts';
import { ASKED, opened } from './agent.testkit.ts';
import type { AgentTurn } from './agent-turn.ts';

const QUICK = { ttlMs: 60 };

test('steps that may be repeated are not among those of which nobody knows whether they were done', async () => {
  const { conversation } = opened();
  const { turnId } = await conversation.submit(ASKED);
  await conversation.commit([
    { kind: 'turn.advance', turnId, to: 'running' },
    { kind: 'attempt.start', attempt: 'lost', turnId },
  ]);
  await conversation.commit(
    [
      { kind: 'step.start', turnId, key: 'look', repeat: 'safe' },
      { kind: 'step.start', turnId, key: 'pay' },
      { kind: 'step.start', turnId, key: 'send', repeat: 'reconcile' },
    ],
    { fence: { attempt: 'lost', token: 1 } },
  );
  const pays = async (turn: AgentTurn) => void (await turn.step('pay', async () => 'paid'));
  const error = await conversation.resume(turnId, pays, QUICK).catch((thrown: unknown) => thrown);
  if (!isTurnkeepError(error, 'ambiguous')) throw error;
  expect(error.details.keys).toEqual(['pay', 'send']);
});

test('an answer that was redacted is told as that, not as a question that nobody answered', async () => {
  const { conversation, space } = opened();
  let asked = 0;
  const asks = async (turn: AgentTurn) => {
    asked += 1;
    await turn.interrupt({ interruptId: 'i', type: 'input', payload: null });
  };
  const { turnId } = await conversation.run(ASKED, asks, { idempotencyKey: 'k' });
  await space.answer('i', { by: 'ann', response: 'my secret' });
  await conversation.commit([{ kind: 'interrupt.redact', interruptId: 'i', reason: 'asked for' }]);
  await expect(conversation.resume(turnId, asks, QUICK)).rejects.toMatchObject({ code: 'redacted' });
  expect(asked).toBe(2);
});

test('an answer that comes in the moment in which its question expires stands', async () => {
  const { ledger, conversation, space } = opened();
  const answers: unknown[] = [];
  const asks = async (turn: AgentTurn) => {
    const asked = { interruptId: 'i', type: 'input', payload: null, expiresAt: '2000-01-01T00:00:00Z' };
    answers.push(await turn.interrupt(asked));
  };
  const { turnId } = await conversation.run(ASKED, asks, { idempotencyKey: 'k' });
  const commit = ledger.backend.commit.bind(ledger.backend);
  ledger.backend.commit = async (envelope, signal) => {
    const isExpiry = envelope.commit.changes.some(({ kind }) => kind === 'interrupt.expire');
    if (isExpiry) await space.answer('i', { by: 'ann', response: 'just in time' });
    return commit(envelope, signal);
  };
  expect((await conversation.resume(turnId, asks, QUICK)).state).toBe('completed');
  expect(answers).toEqual(['just in time']);
});

test('a step that its caller cuts off has not failed: nobody knows how far it got', async () => {
  const { conversation } = opened();
  const caller = new AbortController();
  const pays = async (turn: AgentTurn) => {
    await turn.step('pay', async () => {
      caller.abort();
      throw new Error('the request was cut off');
    });
  };
  const { turnId, state } = await conversation.run(ASKED, pays, { idempotencyKey: 'k', signal: caller.signal });
  expect(state).toBe('cancelled');
  expect(await conversation.steps(turnId)).toMatchObject([{ key: 'pay', status: 'started' }]);
});
