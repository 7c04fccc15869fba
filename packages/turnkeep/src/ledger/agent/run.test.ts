import { describe, expect, test } from 'vitest';
import { isTurnkeepError } from '../../core/errors.ts';
import { MemoryBackend } from '../../memory/index.ts';
import { sha256 } from '../../platform/hash.ts';
import { mintCommitId } from '../../platform/random.ts';
import { systemSurroundings } from '../../platform/surroundings.ts';
import { Ledger } from '../ledger.ts';
import type { Conversation } from '../conversation.ts';
import { ASKED, opened, said, text } from './agent.testkit.ts';
import type { AgentTurn } from './agent-turn.ts';
import type { Agent } from './turn-run.ts';

const KEY = { idempotencyKey: 'turn-1' };
const STALE = { fence: { attempt: 'a1', token: 1 } };
const NOBODY = { fence: { attempt: 'a9', token: 1 } };
const answers: Agent = async () => [{ role: 'assistant', parts: [text('here')] }];
const silent: Agent = () => new Promise<never>(() => undefined);

describe('a caller who gives up', () => {
  test('before the turn is submitted has none', async () => {
    const { conversation } = opened();
    const gone = conversation.run(ASKED, answers, { ...KEY, signal: AbortSignal.abort() });
    await expect(gone).rejects.toMatchObject({ code: 'aborted' });
    expect(await conversation.exists()).toBe(false);
  });

  test('before anybody holds the turn leaves none behind that is in the way', async () => {
    const late = Object.assign(new Error('late'), { name: 'TimeoutError' });
    for (const [reason, state, answer] of [
      [new Error('never mind'), 'cancelled', 'cancelled'],
      [late, 'failed', late],
    ] as const) {
      const { conversation } = opened();
      const caller = new AbortController();
      const atBoundary = (boundary: string) => {
        if (boundary === 'submitted') caller.abort(reason);
      };
      const run = conversation.run(ASKED, answers, { ...KEY, signal: caller.signal, atBoundary });
      const told: unknown = await run.then(
        (outcome) => outcome.state,
        (error: unknown) => error,
      );
      expect(told).toBe(answer);
      expect((await conversation.graph()).map((turn) => turn.state)).toEqual([state]);
      expect(await conversation.openOperations()).toEqual([]);
      expect((await conversation.run(ASKED, answers, { idempotencyKey: 'turn-2' })).state).toBe('completed');
    }
  });

  test('before the next turn leaves the input that waits', async () => {
    const { conversation } = opened();
    await conversation.run(
      ASKED,
      async () => void (await conversation.submit({ prompt: [text('and then?')], whenBusy: 'enqueue' })),
      KEY,
    );
    await expect(conversation.runNext(answers, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect((await conversation.runNext(answers))?.state).toBe('completed');
  });
});

test('of two that run one turn at once the second is told that it is held', async () => {
  for (let round = 0; round < 5; round++) {
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      await turn.step('s', async () => new Promise<void>((resolve) => setImmediate(resolve)));
      return [{ role: 'assistant', parts: [text('here')] }];
    };
    const both = await Promise.allSettled([conversation.run(ASKED, agent, KEY), conversation.run(ASKED, agent, KEY)]);
    const refusals = both.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'turn_held' });
    expect(await said(conversation)).toEqual(['user: a question', 'assistant: here']);
  }
});

test('an agent that answers what no messages are has its answer handed back, and its turn goes on', async () => {
  for (const answer of ['Done', { role: 'assistant', parts: [text('hi')] }, [{ role: 'assistant', content: 'hi' }]]) {
    const { conversation } = opened();
    const error = await conversation.run(ASKED, async () => answer as never, KEY).catch((thrown: unknown) => thrown);
    if (!isTurnkeepError(error, 'not_completed')) throw error;
    expect(error.details).toMatchObject({ reason: 'invalid_value', answer });
    expect((await conversation.run(ASKED, answers, KEY)).state).toBe('completed');
  }
});

describe('a stop', () => {
  test('without a reason, or one past its limit, is refused before anything is written', async () => {
    const { conversation } = opened();
    const { turnId, version } = await conversation.submit(ASKED);
    await expect(conversation.stop(turnId, undefined as never)).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(conversation.stop(turnId, 'x'.repeat(5_000))).rejects.toMatchObject({ code: 'limit_exceeded' });
    expect((await conversation.info()).version).toBe(version);
  });

  test('that has only taken the turn yet is waited for by whoever ran it', async () => {
    const { conversation } = opened();
    const aborted = async (turn: AgentTurn) =>
      new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()));
    const outcome = await conversation.run(
      ASKED,
      async (turn) => {
        const { turnId } = turn;
        await conversation.commit([
          { kind: 'run.start', runId: 'stops', agent: 'stop' },
          { kind: 'attempt.takeover', attempt: 'stop', turnId, fromToken: 1, runId: 'stops' },
        ]);
        await aborted(turn);
        // The run has been told, and looks how the turn ended: it has not yet.
        setImmediate(() => {
          const end = { kind: 'turn.advance', turnId, to: 'cancelled' } as const;
          void conversation.commit([end], { fence: { attempt: 'stop', token: 2 } });
        });
        await silent(turn);
      },
      KEY,
    );
    expect(outcome.state).toBe('cancelled');
  });
});

describe('a ledger that closes', () => {
  test('lets go of its runs, and whoever opens the store goes on at once', async () => {
    const backend = new MemoryBackend(sha256);
    const open = () => new Ledger(backend, systemSurroundings, mintCommitId);
    backend.close = async () => undefined; // the same store, opened again
    const [first, second] = [open(), open()];
    let signal: AbortSignal | undefined;
    let closed: Promise<unknown> | undefined;
    await new Promise<void>((begun) => {
      const agent: Agent = async (turn) => {
        signal = turn.signal;
        const look = async () => {
          begun();
          return new Promise<never>(() => undefined);
        };
        await turn.step('look', look, { retry: 'safe' });
      };
      const run = first.namespace('n').conversation('c').run(ASKED, agent, KEY);
      closed = run.catch((error: unknown) => error);
    });
    await first.close();
    expect(await closed).toMatchObject({ code: 'closed' });
    expect(signal?.aborted).toBe(true);
    const conversation = second.namespace('n').conversation('c');
    expect((await conversation.run(ASKED, answers, KEY)).state).toBe('completed');
  });

  test('also from within an agent, which can do nothing more', async () => {
    const { ledger, conversation } = opened();
    let more: Promise<unknown> | undefined;
    const agent: Agent = async (turn) => {
      await ledger.close();
      more = turn.step('late', async () => 'done').catch((error: unknown) => error);
    };
    await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({ code: 'closed' });
    await expect(conversation.run(ASKED, answers, KEY)).rejects.toMatchObject({ code: 'closed' });
    expect(await more).toMatchObject({ code: 'closed' });
  });
});

test('an agent that asks anew without end is let go of', async () => {
  const { conversation, space } = opened();
  let asked = 0;
  const agent: Agent = async (turn) => {
    const interruptId = `i${(asked += 1)}`;
    const asking = turn.interrupt({ interruptId, type: 'input', payload: null });
    const answering = turn.step(interruptId, async () => {
      await asking.catch(() => undefined);
      await space.answer(interruptId, { by: 'ann', response: null });
    });
    await Promise.all([asking, answering]);
  };
  await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({
    code: 'limit_exceeded',
    details: { limit: 'agentRounds' },
  });
  expect((await conversation.graph())[0]?.state).toBe('running');
});

test.each<[string, (other: Conversation) => Promise<unknown>]>([
  ['turn_terminal', (other) => other.append({ role: 'user', parts: [text('more')] }, { turnId: 'u1' })],
  ['erased', async (other) => other.erase().then(() => other.append({ role: 'user', parts: [text('more')] }))],
  ['fenced', (other) => other.commit([{ kind: 'run.end', runId: 'r1', status: 'failed' }], STALE)],
  ['no_attempt', (other) => other.commit([{ kind: 'run.end', runId: 'r1', status: 'failed' }], NOBODY)],
])('an agent that throws %s of another conversation has failed, and holds nothing up', async (code, spoil) => {
  const { space, conversation } = opened();
  const other = space.conversation('other');
  await other.record({ turnId: 'u1', origin: 'told', messages: [{ role: 'user', parts: [text('hello')] }] });
  await other.submit({ ...ASKED, turnId: 'u2' });
  await other.commit([
    { kind: 'run.start', runId: 'r1', agent: 'other' },
    { kind: 'attempt.start', attempt: 'a1', turnId: 'u2', runId: 'r1' },
    { kind: 'attempt.takeover', attempt: 'a2', turnId: 'u2', fromToken: 1 },
  ]);
  await expect(conversation.run(ASKED, async () => void (await spoil(other)), KEY)).rejects.toMatchObject({ code });
  expect((await conversation.graph()).map(({ state }) => state)).toEqual(['failed']);
  expect((await conversation.run(ASKED, answers, { idempotencyKey: 'turn-2' })).state).toBe('completed');
});
