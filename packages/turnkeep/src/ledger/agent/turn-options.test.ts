import { expect, test } from 'vitest';
import { ASKED, opened, said, text } from './agent.testkit.ts';
import type { AgentTurn } from './agent-turn.ts';
import type { Agent } from './turn-run.ts';

const KEY = { idempotencyKey: 'turn-1' };
const work = async () => 'done';
const model = async () => [text('x')];
const wrong = (value: unknown): never => value as never; // a caller without types may give anything

test('an option of a step, a model call or a tool that is none is refused with its path, and nothing is done', async () => {
  const { conversation } = opened();
  const asks: readonly (readonly [path: string, ask: (turn: AgentTurn) => Promise<unknown>])[] = [
    ['key', (turn) => turn.step(wrong(undefined), work)],
    ['step pay.work', (turn) => turn.step('pay', wrong('done'))],
    ['step pay.options', (turn) => turn.step('pay', work, wrong(null))],
    ['step pay.options.misspelt', (turn) => turn.step('pay', work, wrong({ misspelt: 1 }))],
    ['step pay.options.retry', (turn) => turn.step('pay', work, { retry: wrong('Safe') })],
    ['step pay.options.reconcile', (turn) => turn.step('pay', work, { reconcile: wrong({ done: true }) })],
    ['step pay.options.name', (turn) => turn.step('pay', work, { name: wrong(5) })],
    ['step pay.input', (turn) => turn.step('pay', work, { input: wrong(new Date()) })],
    ['key', (turn) => turn.model(wrong(5), model)],
    ['model m.call', (turn) => turn.model('m', wrong([text('x')]))],
    ['model m.options', (turn) => turn.model('m', model, wrong(null))],
    ['model m.options.used', (turn) => turn.model('m', model, wrong({ used: () => undefined }))],
    ['model m.options.usage', (turn) => turn.model('m', model, { usage: wrong({}) })],
    ['model m.options.message', (turn) => turn.model('m', model, { message: wrong({ misspelt: 1 }) })],
    ['callId', (turn) => turn.tool(wrong(''), work)],
    ['tool x.work', (turn) => turn.tool('x', wrong(undefined))],
    ['tool x.options.name', (turn) => turn.tool('x', work, wrong({ name: 'pay' }))],
    ['tool x.options.retry', (turn) => turn.tool('x', work, { retry: wrong(true) })],
    ['tool x.options.message', (turn) => turn.tool('x', work, { message: wrong('hidden') })],
    ['cancellation', (turn) => turn.cancel(wrong(undefined))],
    ['cancellation.reason', (turn) => turn.cancel(wrong({}))],
    ['cancellation.keepDraft', (turn) => turn.cancel({ reason: 'x', keepDraft: wrong('yes') })],
    ['completion', (turn) => turn.complete(wrong(null))],
  ];
  const agent: Agent = async (turn) => {
    for (const [path, ask] of asks) {
      await expect(ask(turn)).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
    }
  };
  const { turnId, state } = await conversation.run(ASKED, agent, KEY);
  expect(state).toBe('completed');
  expect(await conversation.steps(turnId)).toEqual([]);
  expect(await said(conversation)).toEqual(['user: a question']);
});

test('a model that answers no parts is told so, and what it said in their place is no message', async () => {
  for (const answer of [undefined, null, 'Found it.', { text: 'Found it.' }, 5]) {
    const { conversation } = opened();
    const agent: Agent = async (turn) => void (await turn.model('m', async () => wrong(answer)));
    await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({
      code: 'invalid_value',
      details: { path: 'model m', reason: 'a model answers parts: a list of them, or one after another' },
    });
    expect(await said(conversation)).toEqual(['user: a question']);
  }
});

test('an end with an option that is none ends nothing, and hands the answer back', async () => {
  const { conversation } = opened();
  const messages = [{ role: 'assistant', parts: [text('costly')] }] as const;
  const agent: Agent = async (turn) => void (await turn.complete(wrong({ messages, expects: { version: 1 } })));
  await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({
    code: 'not_completed',
    details: { reason: 'invalid_value', answer: messages },
    cause: { code: 'invalid_value', details: { path: 'completion.expects' } },
  });
  expect((await conversation.graph())[0]?.state).toBe('running');
});

test('an option of a run that is none is refused with its path, before there is a turn', async () => {
  const { conversation } = opened();
  const agent: Agent = async () => undefined;
  const { turnId } = await conversation.submit(ASKED);
  for (const [path, options] of [
    ['options', null],
    ['options.misspelt', { misspelt: 1 }],
    ['options.agent', { agent: 5 }],
    ['options.signal', { signal: {} }],
    ['options.atBoundary', { atBoundary: 'held' }],
    ['options.settle', { settle: 'retry' }],
    ['options.settle.pay', { settle: { pay: 'retry' } }],
    ['options.settle.pay.status', { settle: { pay: { status: 'done' } } }],
  ] as const) {
    const refused = { code: 'invalid_value', details: { path } };
    await expect(conversation.resume(turnId, agent, wrong(options))).rejects.toMatchObject(refused);
    await expect(conversation.runNext(agent, wrong(options))).rejects.toMatchObject(refused);
    const running = wrong(options && { ...options, ...KEY });
    await expect(conversation.run(ASKED, agent, running)).rejects.toMatchObject(refused);
  }
  await expect(conversation.reconnect(wrong({ from: 'x' }))).rejects.toMatchObject({
    details: { path: 'options.from' },
  });
  for (const everyMs of [0, 1.5, Number.NaN, 2 ** 31]) {
    await expect(conversation.reconnect({ everyMs })).rejects.toMatchObject({ details: { path: 'options.everyMs' } });
  }
  expect(await conversation.graph()).toHaveLength(1);
});
