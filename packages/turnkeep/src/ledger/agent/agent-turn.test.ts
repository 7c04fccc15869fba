import { describe, expect, test } from 'vitest';
import { isTurnkeepError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Part } from '../../core/message.ts';
import type { Conversation } from '../conversation.ts';
import { ASKED, opened, said, text } from './agent.testkit.ts';
import type { AgentTurn } from './agent-turn.ts';
import type { Reconciled } from './reconciled.ts';
import type { Agent } from './turn-run.ts';

const KEY = { idempotencyKey: 'turn-1' };

/** An agent of a model call, three steps at once, and an answer; counts what it really does. */
function counting(): { readonly agent: Agent; readonly done: string[] } {
  const done: string[] = [];
  const step = (turn: AgentTurn, key: string) =>
    turn.step(key, async () => {
      done.push(key);
      return `${key} done`;
    });
  const agent: Agent = async (turn) => {
    await turn.model('plan', async function* () {
      done.push('plan');
      yield text('I will ');
      yield text('do three things');
    });
    const results = await Promise.all(['a', 'b', 'c'].map((key) => step(turn, key)));
    return [{ role: 'assistant', parts: [text(results.join(', '))] }];
  };
  return { agent, done };
}

describe('a run', () => {
  test('records its prompt, its steps and its answer, and completes turn, run and checkpoint together', async () => {
    const { conversation } = opened();
    const { agent, done } = counting();
    const { turnId, state, receipt } = await conversation.run(ASKED, agent, { ...KEY, agent: 'clerk' });
    expect(state).toBe('completed');
    expect(done).toEqual(['plan', 'a', 'b', 'c']);
    expect(await said(conversation)).toEqual([
      'user: a question',
      'assistant: I will do three things',
      'assistant: a done, b done, c done',
    ]);
    const steps = await conversation.steps(turnId);
    expect(steps.map(({ key, status, result }) => [key, status, result])).toEqual([
      ['plan', 'succeeded', undefined],
      ['a', 'succeeded', 'a done'],
      ['b', 'succeeded', 'b done'],
      ['c', 'succeeded', 'c done'],
    ]);
    expect(receipt.events.map(({ kind }) => kind)).toEqual([
      'message.append',
      'turn.advance',
      'run.end',
      'checkpoint.advance',
    ]);
    expect((await conversation.checkpoints.get('turn-1'))?.phase).toBe('completed');
    expect((await conversation.operation('turn-1'))?.status).toBe('succeeded');
  });

  test('sent again answers without calling anything', async () => {
    const { conversation } = opened();
    const { agent, done } = counting();
    const first = await conversation.run(ASKED, agent, KEY);
    const again = await conversation.run(ASKED, agent, KEY);
    expect(done).toHaveLength(4);
    expect(again).toEqual({ ...first, receipt: { ...first.receipt, replayed: true } });
  });

  test('writes ahead: the checkpoint is in flight while a step is done, and ready between', async () => {
    const { conversation } = opened();
    const phases: (string | undefined)[] = [];
    const look = async () => phases.push((await conversation.checkpoints.get('turn-1'))?.phase);
    await conversation.run(
      ASKED,
      async (turn) => {
        await look();
        await turn.step('a', async () => void (await look()));
        await look();
      },
      KEY,
    );
    await look();
    expect(phases).toEqual(['ready', 'in_flight', 'ready', 'completed']);
  });

  test('that throws fails its turn, keeps what was drafted, and replays the reason', async () => {
    const { conversation } = opened();
    const broken = new Error('the model broke');
    const agent: Agent = async (turn) => {
      await turn.model('plan', async function* () {
        yield text('half an ans');
        throw broken;
      });
    };
    await expect(conversation.run(ASKED, agent, KEY)).rejects.toBe(broken);
    expect(await said(conversation)).toEqual(['user: a question', 'assistant (incomplete): half an ans']);
    const again = await conversation.run(ASKED, agent, KEY).catch((error: unknown) => error);
    if (!isTurnkeepError(again, 'turn_failed')) throw again;
    expect(again.details).toMatchObject({ code: 'agent_failed', message: 'the model broke' });
    expect(await conversation.openOperations()).toEqual([]);
  });

  test('that throws ends its turn also where no message can hold what was drafted, and says so', async () => {
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      turn.draft(Array.from({ length: LIMITS.messageParts + 1 }, (_, at) => ({ type: 'refusal', text: `no ${at}` })));
      throw new Error('enough');
    };
    await expect(conversation.run(ASKED, agent, KEY)).rejects.toThrow('enough');
    const again = await conversation.run(ASKED, agent, KEY).catch((error: unknown) => error);
    if (!isTurnkeepError(again, 'turn_failed')) throw again;
    expect(again.details.message).toMatch(/^enough \(what was drafted could not be kept: .*messageParts/);
    expect(await said(conversation)).toEqual(['user: a question']);
  });

  test('that its caller gives up is cancelled at once and keeps what was drafted', async () => {
    const { conversation } = opened();
    const caller = new AbortController();
    const agent: Agent = async (turn) => {
      await turn.model('plan', async function* () {
        yield text('half');
        caller.abort(new Error('never mind'));
        await new Promise(() => undefined); // a model that hears no signal
      });
    };
    const outcome = await conversation.run(ASKED, agent, { ...KEY, signal: caller.signal });
    expect(outcome.state).toBe('cancelled');
    expect(await said(conversation)).toEqual(['user: a question', 'assistant (incomplete): half']);
  });

  test('past its deadline fails', async () => {
    const { conversation } = opened();
    const deadline = new AbortController();
    const agent: Agent = async () => {
      deadline.abort(new DOMException('too late', 'TimeoutError')); // as AbortSignal.timeout does
      return new Promise<never>(() => undefined);
    };
    await expect(conversation.run(ASKED, agent, { ...KEY, signal: deadline.signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({ details: { code: 'deadline' } });
  });

  test('whose answer conflicts hands it back with the error, and goes on from there', async () => {
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      await conversation.update({ title: 'meanwhile' });
      await turn.complete({ messages: [{ role: 'assistant', parts: [text('the answer')] }], expect: { version: 1 } });
    };
    const error = await conversation.run(ASKED, agent, KEY).catch((thrown: unknown) => thrown);
    if (!isTurnkeepError(error, 'not_completed')) throw error;
    expect(error.details).toMatchObject({
      reason: 'conflict',
      answer: [{ role: 'assistant', parts: [{ type: 'text', text: 'the answer' }] }],
    });
    const { turnId } = error.details;
    const outcome = await conversation.resume(turnId, async () => [{ role: 'assistant', parts: [text('the answer')] }]);
    expect(outcome.state).toBe('completed');
  });
});

describe('a step', () => {
  test('is done once for all who ask, and fails for all', async () => {
    const { conversation } = opened();
    let times = 0;
    const agent: Agent = async (turn) => {
      const once = () => turn.step('a', async () => (times += 1));
      expect(await Promise.all([once(), once(), once()])).toEqual([1, 1, 1]);
      const fails = () => turn.step('b', () => Promise.reject(new Error(`try ${(times += 1)}`)));
      await expect(fails()).rejects.toThrow('try 2');
      await expect(fails()).rejects.toMatchObject({ code: 'step_failed', details: { key: 'b', message: 'try 2' } });
      const safe = () => turn.step('c', () => Promise.reject(new Error(`try ${(times += 1)}`)), { retry: 'safe' });
      await expect(safe()).rejects.toThrow('try 3');
      await expect(safe()).rejects.toThrow('try 4');
    };
    await conversation.run(ASKED, agent, KEY);
  });

  test('has the type of what its work answers, an interface’s too; what is no JSON is refused before and after', async () => {
    interface Hit {
      readonly title: string;
      readonly pages?: readonly number[];
    }
    const hit: Hit = { title: 'tea', pages: [3, 5] };
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      const found: { readonly best: Hit } = await turn.step('find', async () => ({ best: hit }));
      expect(found.best.pages).toEqual([3, 5]);
      const calls = {
        role: 'assistant',
        parts: [{ type: 'tool_call', callId: 'x', name: 'find', input: null }],
      } as const;
      await turn.append('calls', calls);
      expect((await turn.tool('x', async () => hit)).output).toEqual(hit);
      // @ts-expect-error -- a date is no JSON
      await expect(turn.step('when', async () => ({ at: new Date(0) }))).rejects.toMatchObject({
        code: 'invalid_value',
      });
    };
    const { turnId } = await conversation.run(ASKED, agent, KEY);
    expect((await conversation.steps(turnId)).map(({ result }) => result)).toEqual([
      { best: hit },
      undefined,
      undefined,
    ]);
  });

  test('that may have been done is ambiguous to the next run, with every such step; the caller’s word settles it', async () => {
    const { conversation } = opened();
    const turnId = await abandoned(conversation, ['a', 'b']);
    const agent: Agent = async (turn) => {
      const a = await turn.step('a', async () => 'done again');
      const b = await turn.step('b', async () => 'done again');
      return [{ role: 'assistant', parts: [text(`${a}, ${b}`)] }];
    };
    const error = await conversation.resume(turnId, agent, QUICK).catch((thrown: unknown) => thrown);
    if (!isTurnkeepError(error, 'ambiguous')) throw error;
    expect(error.details.keys).toEqual(['a', 'b']);
    const settle = { a: { status: 'succeeded', result: 'was done' }, b: { status: 'retry' } } as const;
    await conversation.resume(turnId, agent, { settle });
    expect((await said(conversation)).at(-1)).toBe('assistant: was done, done again');
  });

  test('that its caller settled takes the same word again, and no other', async () => {
    const { conversation, space } = opened();
    const turnId = await abandoned(conversation, ['a', 'b', 'c', 'd']);
    let done = 0;
    const agent: Agent = async (turn) => {
      await turn.step('a', async () => (done += 1));
      await turn.step('b', async () => (done += 1));
      await turn.interrupt({ interruptId: 'i', type: 'input', payload: null });
    };
    const settle = {
      a: { status: 'succeeded', result: { at: 1, to: 'ann' } },
      b: { status: 'retry' },
      c: { status: 'failed', code: 'refused', message: 'no' },
      d: { status: 'retry' },
    } as const;
    expect((await conversation.resume(turnId, agent, { ...QUICK, settle })).state).toBe('waiting');
    const steps = await conversation.steps(turnId);
    const others = [
      ['a', { status: 'succeeded', result: { at: 2, to: 'ann' } }],
      ['a', { status: 'failed', code: 'refused', message: 'no' }],
      ['a', { status: 'retry' }],
      ['b', { status: 'succeeded', result: 2 }],
      ['c', { status: 'failed', code: 'refused', message: 'not now' }],
      ['c', { status: 'retry' }],
    ] as const;
    for (const [key, outcome] of others) {
      const resumed = conversation.resume(turnId, agent, { settle: { [key]: outcome } });
      await expect(resumed).rejects.toMatchObject({ code: 'step_ended', details: { key } });
    }
    expect(await conversation.steps(turnId)).toEqual(steps);
    let ended = 0;
    for await (const { events } of conversation.watch({ untilNow: true })) {
      ended += events.filter(({ kind }) => kind === 'run.end').length;
    }
    expect(ended).toBe(1 + others.length);
    await space.answer('i', { by: 'ann', response: null });
    expect((await conversation.resume(turnId, agent, { settle })).state).toBe('completed');
    expect(await conversation.steps(turnId)).toEqual(steps);
    expect(done).toBe(1);
  });

  test('that can be looked up is: done where it was not, taken over where it was', async () => {
    const answers = [{ done: true, result: 'it was done' }, { done: true }, { done: false }] as const;
    for (const [at, found] of answers.entries()) {
      const { conversation } = opened();
      const turnId = await abandoned(conversation, ['pay']);
      let paid: Json | void = null;
      const agent: Agent = async (turn) => {
        paid = await turn.step<Json | void>('pay', async () => 'done now', { reconcile: async () => found });
      };
      await conversation.resume(turnId, agent, QUICK);
      expect(paid).toBe(['it was done', undefined, 'done now'][at]);
    }
  });

  test('whose look-up fails stays as it is, and is looked up again by the next run', async () => {
    const { conversation } = opened();
    const turnId = await abandoned(conversation, ['pay']);
    const offline = new Error('the bank is offline');
    const agent = (reconcile: () => Promise<Reconciled<string>>): Agent => {
      return async (turn) => void (await turn.step('pay', async () => 'paid again', { reconcile }));
    };
    const failing = conversation.resume(
      turnId,
      agent(async () => Promise.reject(offline)),
      QUICK,
    );
    await expect(failing).rejects.toMatchObject({
      code: 'ambiguous',
      details: { turnId, keys: ['pay'], reason: 'it could not be looked up: the bank is offline' },
      cause: offline,
    });
    expect((await conversation.steps(turnId))[0]?.status).toBe('started');
    await conversation.resume(
      turnId,
      agent(async () => ({ done: true, result: 'was paid' })),
    );
    expect(await conversation.steps(turnId)).toMatchObject([{ status: 'succeeded', result: 'was paid', starts: 1 }]);
  });

  test('whose look-up asks somebody waits for the answer', async () => {
    const { conversation, space } = opened();
    const turnId = await abandoned(conversation, ['pay']);
    const agent: Agent = async (turn) => {
      const reconcile = async () => {
        const was = await turn.interrupt({ interruptId: 'was it paid', type: 'input', payload: null });
        return { done: was === true } as Reconciled<string>;
      };
      await turn.step('pay', async () => 'paid', { reconcile });
    };
    expect((await conversation.resume(turnId, agent, QUICK)).state).toBe('waiting');
    await space.answer('was it paid', { by: 'ann', response: false });
    expect((await conversation.resume(turnId, agent)).state).toBe('completed');
    expect(await conversation.steps(turnId)).toMatchObject([{ status: 'succeeded', result: 'paid', starts: 2 }]);
  });

  test('that was looked up is not guessed about: another answer is none', async () => {
    for (const answer of [
      null,
      undefined,
      'done',
      {},
      { done: 1 },
      { done: false, result: 1 },
      { done: true, id: 1 },
    ]) {
      const { conversation } = opened();
      const turnId = await abandoned(conversation, ['pay']);
      let times = 0;
      const agent: Agent = async (turn) =>
        void (await turn.step('pay', async () => (times += 1), { reconcile: async () => answer as never }));
      await expect(conversation.resume(turnId, agent, QUICK)).rejects.toMatchObject({
        code: 'ambiguous',
        cause: { code: 'invalid_value', details: { path: 'reconcile of step pay' } },
      });
      expect([times, (await conversation.steps(turnId))[0]?.status]).toEqual([0, 'started']);
    }
  });

  test('whose result cannot be kept has failed, and so has one that asks in between', async () => {
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      const unfit = turn.step('a', async () => Number.NaN);
      await expect(unfit).rejects.toMatchObject({ code: 'invalid_value' });
      const asking = turn.step('b', async () => turn.interrupt({ interruptId: 'i', type: 'input', payload: null }));
      await expect(asking).rejects.toMatchObject({ code: 'invalid_value' });
      await turn.complete();
    };
    const { turnId, state } = await conversation.run(ASKED, agent, KEY);
    expect(state).toBe('completed');
    expect((await conversation.steps(turnId)).map(({ status, failure }) => [status, failure?.code])).toEqual([
      ['failed', 'invalid_value'],
      ['failed', 'invalid_value'],
    ]);
  });

  test('that was declared safe by whoever asks now is repeated', async () => {
    const { conversation } = opened();
    const turnId = await abandoned(conversation, ['look']);
    const agent: Agent = async (turn) => void (await turn.step('look', async () => 1, { retry: 'safe' }));
    await conversation.resume(turnId, agent, QUICK);
    expect(await conversation.steps(turnId)).toMatchObject([{ key: 'look', status: 'succeeded', starts: 2 }]);
  });
});

describe('an interrupt', () => {
  test('lets the turn wait, and the answer goes on with exactly what is pending', async () => {
    const { conversation, space } = opened();
    const done: string[] = [];
    const agent: Agent = async (turn) => {
      const both = ['a', 'b'].map(async (id) => {
        const answer = await turn.interrupt({ interruptId: id, type: 'approval', payload: { may: id } });
        return turn.step(`do ${id}`, async () => {
          done.push(id);
          return answer;
        });
      });
      const answers = await Promise.all([...both, turn.step('c', async () => void done.push('c'))]);
      return [{ role: 'assistant', parts: [text(JSON.stringify(answers))] }];
    };
    const first = await conversation.run(ASKED, agent, KEY);
    expect([first.state, done]).toEqual(['waiting', ['c']]);
    expect((await conversation.interrupts()).map(({ interruptId }) => interruptId)).toEqual(['a', 'b']);
    await space.answer('b', { by: 'ann', response: 'yes b' });
    expect((await conversation.resume(first.turnId, agent)).state).toBe('waiting');
    expect(done).toEqual(['c', 'b']);
    expect(await space.answer('a', { by: 'ann', response: 'yes a' })).toMatchObject({ first: true });
    expect(await space.answer('a', { by: 'bob', response: 'no' })).toMatchObject({ first: false });
    expect((await conversation.resume(first.turnId, agent)).state).toBe('completed');
    expect(done).toEqual(['c', 'b', 'a']);
    expect((await said(conversation)).at(-1)).toBe('assistant: ["yes a","yes b",null]');
  });

  test('that is answered before the turn has come to wait is not waited for', async () => {
    const { conversation, space } = opened();
    let rounds = 0;
    const agent: Agent = async (turn) => {
      rounds += 1;
      const asking = turn.interrupt({ interruptId: 'a', type: 'input', payload: null });
      const answered = turn.step('wait for the answer', async () => {
        await asking.catch(() => undefined);
        await space.answer('a', { by: 'ann', response: 'quick' });
      });
      const [answer] = await Promise.all([asking, answered]);
      return [{ role: 'assistant', parts: [text(answer as string)] }];
    };
    expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
    expect([rounds, (await said(conversation)).at(-1)]).toEqual([2, 'assistant: quick']);
  });

  test('that expired is told to the agent', async () => {
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      const asked = { interruptId: 'a', type: 'input', payload: null, expiresAt: '2020-01-01T00:00:00Z' };
      const answer = await turn.interrupt(asked).catch((error: unknown) => {
        if (!isTurnkeepError(error, 'interrupt_closed')) throw error;
        return error.details.status;
      });
      return [{ role: 'assistant', parts: [text(JSON.stringify(answer))] }];
    };
    const { turnId, state } = await conversation.run(ASKED, agent, KEY);
    expect(state).toBe('waiting');
    expect((await conversation.resume(turnId, agent)).state).toBe('completed');
    expect((await said(conversation)).at(-1)).toBe('assistant: "expired"');
  });
});

test('an option that is none, and a time to live that is none, are refused before anything is written', async () => {
  const { conversation } = opened();
  const agent: Agent = async () => undefined;
  for (const more of [{ ttl: 5 }, { ttlMs: 0 }, { ttlMs: Number.NaN }, { idempotencyKey: '' }]) {
    await expect(conversation.run(ASKED, agent, { ...KEY, ...more })).rejects.toMatchObject({ code: 'invalid_value' });
  }
  const forever = conversation.run(ASKED, agent, { ...KEY, ttlMs: LIMITS.ttlMs + 1 });
  await expect(forever).rejects.toMatchObject({ code: 'limit_exceeded', details: { limit: 'ttlMs' } });
  await expect(conversation.run(ASKED, undefined as never, KEY)).rejects.toMatchObject({ code: 'invalid_value' });
  await expect(conversation.runNext(undefined as never)).rejects.toMatchObject({ code: 'invalid_value' });
  expect(await conversation.exists()).toBe(false);
});

test('a turn that this process works on is refused at once', async () => {
  const { conversation } = opened();
  const agent: Agent = async (turn) => {
    const again = conversation.resume(turn.turnId, async () => undefined, { ttlMs: 3_600_000 });
    await expect(again).rejects.toMatchObject({ code: 'turn_held', details: { token: 1 } });
  };
  expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
});

test('an agent gives its turn up, with or without what it drafted, and ends it once', async () => {
  for (const keepDraft of [true, false]) {
    const { conversation } = opened();
    const agent: Agent = async (turn) => {
      const parts: Part[] = [];
      for await (const part of turn.stream(inPieces('never ', 'mind'))) parts.push(part);
      expect(parts).toEqual([text('never '), text('mind')]);
      await turn.cancel({ reason: 'no use', keepDraft });
      await expect(turn.complete()).rejects.toMatchObject({ code: 'turn_terminal' });
    };
    const { state, turnId } = await conversation.run(ASKED, agent, KEY);
    expect(state).toBe('cancelled');
    expect((await conversation.resume(turnId, agent)).state).toBe('cancelled');
    const kept = keepDraft ? ['assistant (incomplete): never mind'] : [];
    expect(await said(conversation)).toEqual(['user: a question', ...kept]);
  }
});

test('an agent says something in between once, however often it is run', async () => {
  const { conversation, space } = opened();
  const agent: Agent = async (turn) => {
    await turn.append('hello', { role: 'assistant', parts: [text('one moment')] });
    await turn.interrupt({ interruptId: 'a', type: 'input', payload: null });
  };
  const { turnId } = await conversation.run(ASKED, agent, KEY);
  await space.answer('a', { by: 'ann', response: null });
  await conversation.resume(turnId, agent);
  expect(await said(conversation)).toEqual(['user: a question', 'assistant: one moment']);
});

test('what was queued meanwhile starts the next turn', async () => {
  const { conversation } = opened();
  const agent: Agent = async (turn) => {
    if (turn.turnId.startsWith('turn_turn-1')) {
      await conversation.submit({ prompt: [text('and then?')], whenBusy: 'enqueue' });
    }
    return [{ role: 'assistant', parts: [text('done')] }];
  };
  await conversation.run(ASKED, agent, KEY);
  expect((await conversation.runNext(agent))?.state).toBe('completed');
  expect(await conversation.runNext(agent)).toBeUndefined();
  expect(await said(conversation)).toEqual([
    'user: a question',
    'assistant: done',
    'user: and then?',
    'assistant: done',
  ]);
});

test('steering input becomes a message of the turn, once', async () => {
  const { conversation } = opened();
  const heard: string[] = [];
  const agent: Agent = async (turn) => {
    await conversation.submit({ prompt: [text('faster')], whenBusy: 'steer' });
    for await (const parts of turn.inbox()) heard.push(JSON.stringify(parts));
    for await (const parts of turn.inbox()) heard.push(JSON.stringify(parts));
  };
  await conversation.run(ASKED, agent, KEY);
  expect(heard).toEqual(['[{"type":"text","text":"faster"}]']);
  expect(await said(conversation)).toEqual(['user: a question', 'user: faster']);
});

/** A short time to live, for owners that never show any. */
const QUICK = { ttlMs: 60 };

/** A turn whose owner began some steps and was never seen again. */
async function abandoned(conversation: Conversation, keys: readonly string[]): Promise<string> {
  const { turnId } = await conversation.submit(ASKED);
  await conversation.commit([
    { kind: 'turn.advance', turnId, to: 'running' },
    { kind: 'attempt.start', attempt: 'lost', turnId },
  ]);
  const fence = { attempt: 'lost', token: 1 };
  await conversation.commit(
    keys.map((key) => ({ kind: 'step.start' as const, turnId, key })),
    { fence },
  );
  return turnId;
}

async function* inPieces(...words: readonly string[]): AsyncGenerator<Part> {
  for (const one of words) yield text(one);
}
