import type { Agent } from 'turnkeep';
import { isTurnkeepError } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { assistant, text } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const PROMPT = { prompt: text('which one?') };
const KEY = { idempotencyKey: 'request-1' };

describe.each(BACKENDS)('the durable turn of an agent, on %s', (backend) => {
  const store = storeFor(backend);

  test('a fresh checkpoint id is the identity of the turn: its operation, its checkpoint and its commit', async () => {
    const { turnId } = await store.conversation().run(PROMPT, async () => [assistant('the first')], KEY);
    await store.everywhere(async (conversation) => {
      expect(await conversation.operation('request-1')).toMatchObject({ turnId, status: 'succeeded' });
      expect(await conversation.checkpoints.get('request-1')).toMatchObject({ type: 'turn', phase: 'completed' });
      const first = (await conversation.watch({ untilNow: true }).next()).value as { readonly commitId: string };
      expect(first.commitId).toBe('request-1');
    });
  });

  test('the answer and the completed checkpoint are one commit, under both preconditions or not at all', async () => {
    const conversation = store.conversation();
    const agent: Agent = async (turn) => {
      const seen = await conversation.page();
      const lastSequence = seen.messages.at(-1)?.sequence ?? 0;
      await turn.append('note', { role: 'assistant', parts: text('one moment') });
      const stale = { transcript: { turn: turn.turnId, lastSequence } };
      await turn.complete({ messages: [assistant('the first')], expect: stale });
    };
    const refused = await conversation.run(PROMPT, agent, KEY).catch((error: unknown) => error);
    if (!isTurnkeepError(refused, 'not_completed')) throw refused;
    expect(refused.details).toMatchObject({ reason: 'conflict', answer: [{ parts: text('the first') }] });
    await store.everywhere(async (same) => {
      expect((await same.checkpoints.get('request-1'))?.phase).toBe('ready');
      expect((await same.page()).messages).toHaveLength(2);
    });
    const { receipt, turnId } = await store
      .conversation()
      .resume(refused.details.turnId, async () => [assistant('the first')]);
    expect(receipt.events.map(({ kind }) => kind)).toEqual([
      'message.append',
      'turn.advance',
      'run.end',
      'checkpoint.advance',
    ]);
    expect((await store.conversation().graph()).find((turn) => turn.turnId === turnId)?.state).toBe('completed');
  });

  test('after the commit and before the answer reached anybody: resume calls no model again', async () => {
    let calls = 0;
    const agent: Agent = async (turn) => {
      const parts = await turn.model('answer', () => {
        calls += 1;
        return text('the first');
      });
      expect(parts).toEqual(text('the first'));
    };
    const first = await store.conversation().run(PROMPT, agent, KEY);
    await store.reopen();
    const again = await store.conversation().run(PROMPT, agent, KEY);
    const resumed = await store.conversation().resume(first.turnId, agent);
    expect([again, resumed].map(({ state, receipt }) => [state, receipt.version, receipt.replayed])).toEqual([
      ['completed', first.receipt.version, true],
      ['completed', first.receipt.version, true],
    ]);
    expect(calls).toBe(1);
  });

  test('a turn that waits goes on in another process, with what its state and promises said meanwhile', async () => {
    const agent: Agent = async (turn) => {
      const answer = await turn.interrupt({ interruptId: 'which', type: 'input', payload: 'which one?' });
      return [assistant(answer as string)];
    };
    const { state, turnId } = await store.conversation().run(PROMPT, agent, KEY);
    expect(state).toBe('waiting');
    await store.conversation().updateState({ objective: 'choose one', turnId });
    await store.conversation().commitments.add({ content: 'decision: ask first', turnId });
    await store.reopen();
    const elsewhere = await store.elsewhere();
    await store.ledger.namespace('n').answer('which', { by: 'ann', response: 'the first' });
    await elsewhere.resume(turnId, agent);
    await store.everywhere(async (conversation) => {
      expect((await conversation.page()).messages.at(-1)?.parts).toEqual(text('the first'));
      expect((await conversation.state()).objective).toBe('choose one');
      expect((await conversation.commitments.openLoops())[0]?.content).toBe('decision: ask first');
    });
  });
});
