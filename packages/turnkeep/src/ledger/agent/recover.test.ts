import { expect, test } from 'vitest';
import { LIMITS } from '../../core/limits.ts';
import type { Conversation } from '../conversation.ts';
import type { Namespace } from '../namespace.ts';
import { ASKED, opened, said } from './agent.testkit.ts';
import type { AgentTurn } from './agent-turn.ts';

const QUICK = { ttlMs: 60 };

/** A turn that an owner took who is never seen again. */
async function abandoned(conversation: Conversation, run = true): Promise<string> {
  const { turnId, operationId } = await conversation.submit({ ...ASKED, operationId: `${conversation.id} op` });
  if (run) await conversation.advance(turnId, 'running');
  await conversation.commit([
    { kind: 'run.start', runId: 'lost run', agent: 'lost' },
    { kind: 'checkpoint.create', checkpointId: `${conversation.id} op`, type: 'turn', phase: 'ready', payload: {} },
    { kind: 'attempt.start', attempt: 'lost', turnId, runId: 'lost run' },
  ]);
  expect(operationId).toBe(`${conversation.id} op`);
  return turnId;
}

test('what no living owner holds fails with its reason; what waits or lives is left alone, what was never held is named', async () => {
  const { space } = opened();
  const [lost, unstarted, waiting, free, living] = ['lost', 'unstarted', 'waiting', 'free', 'living'].map((id) =>
    space.conversation(id),
  ) as [Conversation, Conversation, Conversation, Conversation, Conversation];
  const turnId = await abandoned(lost);
  await abandoned(unstarted, false);
  const waits = await waiting.run(
    ASKED,
    async (turn) => void (await turn.interrupt({ interruptId: 'i', type: 'input', payload: null })),
    { idempotencyKey: 'w' },
  );
  await free.submit(ASKED);
  const caller = new AbortController();
  const working = living.run(ASKED, () => new Promise<never>(() => undefined), {
    idempotencyKey: 'l',
    signal: caller.signal,
    ...QUICK,
  });
  await living.watch({ after: 1 }).next();
  const recovered = await space.recover(QUICK);
  expect(recovered.map(({ conversationId, code, ended }) => `${conversationId} ${code} ${ended}`).sort()).toEqual([
    'free never_held false',
    'lost owner_lost true',
    'unstarted owner_lost true',
  ]);
  expect((await lost.checkpoints.get('lost op'))?.phase).toBe('failed');
  expect(await lost.runRecord('lost run')).toMatchObject({ status: 'failed', reason: { code: 'owner_lost' } });
  expect((await unstarted.operation('unstarted op'))?.failure).toMatchObject({ code: 'owner_lost' });
  expect(await unstarted.openOperations()).toEqual([]);
  await expect(lost.resume(turnId, async () => undefined)).rejects.toMatchObject({
    code: 'turn_failed',
    details: { code: 'owner_lost' },
  });
  expect((await waiting.graph())[0]?.state).toBe('waiting');
  expect(waits.state).toBe('waiting');
  expect((await free.graph())[0]?.state).toBe('preparing');
  caller.abort();
  expect((await working).state).toBe('cancelled');
  expect(await space.recover(QUICK)).toMatchObject([{ conversationId: 'free', ended: false }]);
});

test('a turn that was never held is ended where its caller says so and nobody writes, and by no other', async () => {
  const { space } = opened();
  const [idle, noted] = [space.conversation('idle'), space.conversation('noted')];
  const { operationId } = await idle.submit(ASKED);
  await noted.submit(ASKED);
  const writes = new AbortController();
  const writing = (async () => {
    for (let at = 0; !writes.signal.aborted; at++) {
      await noted.update({ metadata: { at } });
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  })();
  const recovered = await space.recover({ ...QUICK, neverHeld: 'end' });
  writes.abort();
  await writing;
  expect(recovered.map(({ conversationId, code, ended }) => `${conversationId} ${code} ${ended}`).sort()).toEqual([
    'idle never_held true',
    'noted never_held false',
  ]);
  expect((await idle.operation(operationId))?.failure).toMatchObject({ code: 'never_held' });
  expect((await noted.graph())[0]?.state).toBe('preparing');
});

test('a turn that `run` made and did not come to hold is ended', async () => {
  const { conversation, space } = opened();
  const cutOff = (boundary: string): void => {
    if (boundary === 'submitted') throw new Error('cut off');
  };
  const run = conversation.run(ASKED, async () => undefined, { idempotencyKey: 'k', atBoundary: cutOff });
  await expect(run).rejects.toThrow('cut off');
  expect(await space.recover(QUICK)).toMatchObject([{ code: 'owner_lost', ended: true }]);
  expect((await conversation.operation('k'))?.failure).toMatchObject({ code: 'owner_lost' });
  expect((await conversation.info()).state).toBe('idle');
});

test('an option of recovering that is none is refused with its path', async () => {
  const { space } = opened();
  for (const [path, options] of [
    ['options', null],
    ['options.misspelt', { misspelt: 1 }],
    ['options.neverHeld', { neverHeld: 'fail' }],
    ['options.signal', { signal: 1 }],
  ] as const) {
    await expect(space.recover(options as never)).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
  }
});

test('unfinished words of a lost owner are kept, also by whoever took its turn and had said nothing yet', async () => {
  const ends: readonly ((space: Namespace, conversation: Conversation, turnId: string) => Promise<unknown>)[] = [
    (space) => space.recover(QUICK),
    (_, conversation, turnId) => conversation.stop(turnId, 'enough'),
    async (_, conversation, turnId) => {
      const atWork = (turn: AgentTurn) =>
        conversation.stop(turn.turnId, 'enough').then(() => new Promise<never>(() => undefined));
      await conversation.resume(turnId, atWork, QUICK);
    },
  ];
  for (const end of ends) {
    const { ledger, space, conversation } = opened();
    const turnId = await abandoned(conversation);
    const draft = {
      epoch: 1,
      seq: 1,
      committed: 0,
      deltas: [{ seq: 1, parts: [{ type: 'text', text: 'half' }] }],
      truncated: false,
    };
    const place = { namespace: 'n', conversationId: 'c', key: `draft 1 ${turnId}` };
    await ledger.backend.scratch.put(place, JSON.stringify(draft));
    await end(space, conversation, turnId);
    expect(await said(conversation)).toEqual(['user: a question', 'assistant (incomplete): half']);
    expect(await ledger.backend.scratch.list('n')).toEqual([]);
  }
});

test('whoever takes a turn over removes the beat of the owner that is gone', async () => {
  const { ledger, conversation } = opened();
  const turnId = await abandoned(conversation);
  const place = { namespace: 'n', conversationId: 'c', key: 'beat lost' };
  await ledger.backend.scratch.put(place, JSON.stringify({ count: 7, owner: { host: 'elsewhere', pid: 1 } }));
  const keys = async () => (await ledger.backend.scratch.list('n')).map(({ key }) => key);
  const held: (readonly string[])[] = [];
  await conversation.resume(turnId, async () => void held.push(await keys()), QUICK);
  expect(held).toEqual([[expect.stringMatching(/^beat att_/)]]);
  expect(await keys()).toEqual([]);
});

test('a call that was only drafted is named, not kept, and so is it that a draft was cut off', async () => {
  const { ledger, space, conversation } = opened();
  const turnId = await abandoned(conversation);
  const parts = [
    { type: 'text', text: 'I will look.' },
    { type: 'tool_call', callId: 'x', name: 'look', input: {} },
  ];
  const draft = { epoch: 1, seq: 1, committed: 0, deltas: [{ seq: 1, parts }], truncated: true };
  const place = { namespace: 'n', conversationId: 'c', key: `draft 1 ${turnId}` };
  await ledger.backend.scratch.put(place, JSON.stringify(draft));
  await space.recover(QUICK);
  const { messages } = await conversation.page();
  expect(messages.at(-1)).toMatchObject({
    status: 'incomplete',
    parts: [{ type: 'text', text: 'I will look.' }],
    metadata: { unmadeCalls: ['x'], truncated: true },
  });
});

test('a turn that was never held is stopped, and so is one that two stop at once', async () => {
  const { conversation } = opened();
  const { turnId } = await conversation.submit(ASKED);
  const outcomes = await Promise.all([conversation.stop(turnId, 'one'), conversation.stop(turnId, 'two')]);
  expect(outcomes.map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
  expect(outcomes[0].receipt.version).toBe(outcomes[1].receipt.version);
  expect((await conversation.info()).state).toBe('idle');
  expect(await conversation.openOperations()).toEqual([]);
});

test('however many stop a turn, and however soon after each other, one of them ends it', async () => {
  for (const steps of [0, 1, 3, 7]) {
    const { ledger, conversation } = opened();
    const { turnId } = await conversation.submit(ASKED);
    let commits = 0;
    const commit = ledger.backend.commit.bind(ledger.backend);
    ledger.backend.commit = async (...sent) => {
      if ((commits += 1) > 100) throw new Error('they take it from each other for ever');
      return commit(...sent);
    };
    const stop = async (_: unknown, at: number) => {
      for (let step = 0; step < at * steps; step++) await Promise.resolve();
      return conversation.stop(turnId, `stop ${at}`);
    };
    const outcomes = await Promise.all(Array.from({ length: 9 }, stop));
    expect(new Set(outcomes.map(({ receipt }) => receipt.version)).size).toBe(1);
  }
});

test('what an owner that lives still commits in the moment of a takeover is gone on from', async () => {
  const { ledger, conversation } = opened();
  const turnId = await abandoned(conversation);
  const commit = ledger.backend.commit.bind(ledger.backend);
  let isFirst = true;
  ledger.backend.commit = async (envelope, signal) => {
    if (isFirst && envelope.commit.changes.some(({ kind }) => kind === 'attempt.takeover')) {
      isFirst = false;
      const late = {
        kind: 'checkpoint.advance',
        checkpointId: 'c op',
        from: 0,
        phase: 'in_flight',
        payload: {},
      } as const;
      await conversation.commit([late], { fence: { attempt: 'lost', token: 1 } });
    }
    return commit(envelope, signal);
  };
  const agent = async (turn: AgentTurn) => void (await turn.step('a', async () => 'done'));
  expect((await conversation.resume(turnId, agent, QUICK)).state).toBe('completed');
  expect(isFirst).toBe(false);
});

test('of two who go on with one turn one does, and the other is told', async () => {
  const { conversation } = opened();
  const turnId = await abandoned(conversation);
  let runs = 0;
  const goOn = async () =>
    conversation.resume(turnId, async (turn) => void (await turn.step('a', async () => (runs += 1))), QUICK);
  const outcomes = await Promise.allSettled([goOn(), goOn()]);
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code: string }).code] : []));
  const won = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.state] : []));
  // Whoever comes after the other has ended is answered with that end.
  expect([...won, ...refused].sort()).toSatisfy(
    (all: readonly string[]) => all.includes('completed') && (all.includes('turn_held') || all[1] === 'completed'),
  );
  expect(runs).toBe(1);
  expect((await conversation.runRecord('lost run'))?.reason?.code).toBe('owner_lost');
});

test('whoever watches an owner hears at once that its caller gives up', async () => {
  const { conversation, space } = opened();
  const turnId = await abandoned(conversation);
  const caller = new AbortController();
  const { signal } = caller;
  const watching = [
    conversation.resume(turnId, async () => undefined, { signal, ttlMs: LIMITS.ttlMs }),
    space.recover({ signal, ttlMs: LIMITS.ttlMs }),
  ].map(async (one) => expect(one).rejects.toMatchObject({ code: 'aborted' }));
  await new Promise<void>((resolve) => setImmediate(resolve));
  caller.abort();
  await Promise.all(watching);
  expect((await conversation.graph())[0]?.state).toBe('running');
});
