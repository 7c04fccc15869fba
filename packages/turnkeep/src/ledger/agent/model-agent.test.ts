import { expect, test } from 'vitest';
import type { Part } from '../../core/message.ts';
import { ASKED, opened, said, text } from './agent.testkit.ts';
import { modelAgent } from './model-agent.ts';
import type { ModelAgentOptions } from './model-agent.ts';
import type { Agent } from './turn-run.ts';

const call = (callId: string, name: string): Part => ({ type: 'tool_call', callId, name, input: { of: callId } });
const KEY = { idempotencyKey: 'turn-1' };

test('an agent calls its model, runs its tools side by side, and goes on until it calls none', async () => {
  const { conversation } = opened();
  const heard: number[] = [];
  const agent = modelAgent({
    model: async ({ round, turn, used }) => {
      const { messages } = await turn.conversation.window(50, { leaf: turn.turnId });
      heard.push(messages.length);
      used({ provider: 'p', model: 'm', inputTokens: 10 * round });
      return round === 1
        ? [text('Let me look.'), call('x', 'look'), call('y', 'break'), call('z', 'none')]
        : [text('Done.')];
    },
    tools: {
      look: { run: async (input) => ({ found: input }) },
      break: { run: async () => Promise.reject(new Error('it broke')) },
    },
  });
  expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
  const { messages } = await conversation.page();
  const results = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_result'));
  expect(results.toSorted((left, right) => (left.callId < right.callId ? -1 : 1))).toEqual([
    { type: 'tool_result', callId: 'x', status: 'ok', output: { found: { of: 'x' } } },
    { type: 'tool_result', callId: 'y', status: 'error', output: 'it broke' },
    { type: 'tool_result', callId: 'z', status: 'error', output: 'there is no tool none' },
  ]);
  expect((await said(conversation)).at(-1)).toBe('assistant: Done.');
  expect(heard).toEqual([1, 5]);
  expect(await conversation.usage.total()).toMatchObject({ calls: 2, inputTokens: 30 });
});

test('a tool that the provider ran is not run again', async () => {
  const { conversation } = opened();
  const ran: unknown[] = [];
  const searched: Part = { ...call('s', 'look'), executedBy: 'provider' } as Part; // a call, with who ran it
  const found: Part = { type: 'tool_result', callId: 's', status: 'ok', output: 'found' };
  const agent = modelAgent({
    model: async () => [searched, found, text('Here it is.')],
    tools: { look: { run: async (input) => ran.push(input) } },
  });
  expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
  expect(ran).toEqual([]);
});

test('a tool that needs approval waits for it, alone; denied, it is not run', async () => {
  const { conversation, space } = opened();
  const ran: string[] = [];
  const tool = (needsApproval: boolean) => ({
    needsApproval,
    run: async (_input: unknown, { call: { callId } }: { readonly call: { readonly callId: string } }) =>
      ran.push(callId),
  });
  const agent = modelAgent({
    model: async ({ round }) =>
      round === 1 ? [call('x', 'pay'), call('y', 'pay'), call('z', 'look')] : [text('Done.')],
    tools: { pay: tool(true), look: tool(false) },
  });
  const { turnId, state } = await conversation.run(ASKED, agent, KEY);
  expect([state, ran]).toEqual(['waiting', ['z']]);
  for await (const { interruptId, callId } of space.interrupts()) {
    await space.answer(interruptId, { by: 'ann', response: { approved: callId === 'x' } });
  }
  expect((await conversation.resume(turnId, agent)).state).toBe('completed');
  expect(ran).toEqual(['z', 'x']);
  const { messages } = await conversation.page();
  const results = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_result'));
  expect(results.map(({ callId, status }) => `${callId} ${status}`).sort()).toEqual(['x ok', 'y denied', 'z ok']);
});

test.each([
  [{ approved: false, reason: 'At most 3 euros.' }, 'At most 3 euros.'],
  ['Ask me tomorrow.', 'Ask me tomorrow.'],
  [{ approved: false }, undefined],
  [{ approved: false, reason: 7 }, undefined],
  [{ approved: false, reason: ' ' }, undefined],
  [false, undefined],
])(
  'a call that was denied with %j has what was said as its result, and the model is told',
  async (response, output) => {
    const { conversation, space } = opened();
    const asked: unknown[] = [];
    const agent = modelAgent({
      model: async ({ round, turn }) => {
        if (round === 1) return [call('x', 'pay')];
        const context = await turn.conversation.context({
          format: 'openai-chat',
          budgetTokens: 9_000,
          leaf: turn.turnId,
        });
        if (context.status === 'ready')
          asked.push((context.request as { messages: readonly unknown[] }).messages.at(-1));
        return [text('Then not.')];
      },
      tools: { pay: { needsApproval: true, run: () => Promise.reject(new Error('it was run')) } },
    });
    const { turnId } = await conversation.run(ASKED, agent, KEY);
    const [question] = await conversation.interrupts();
    await space.answer(question?.interruptId ?? '', { by: 'ann', response });
    await conversation.resume(turnId, agent);
    const { messages } = await conversation.page();
    const denied = { type: 'tool_result', callId: 'x', status: 'denied' };
    expect(messages[2]?.parts).toEqual([output === undefined ? denied : { ...denied, output }]);
    const content = output === undefined ? '[denied]' : `[denied] ${output}`;
    expect(asked).toEqual([{ role: 'tool', tool_call_id: 'x', content }]);
  },
);

test('a model that gives one id to several calls of a turn has each of them answered, and the transcript says so', async () => {
  const { conversation } = opened();
  const ran: unknown[] = [];
  const look = (name: string): Part => ({ type: 'tool_call', callId: 'call_0', name: 'look', input: { at: name } });
  const agent = modelAgent({
    model: async ({ round }) => [[look('a'), look('b')], [look('c')], [text('Done.')]][round - 1] ?? [],
    tools: { look: { run: async (input, { call: { callId } }) => ran.push([callId, input]) && input } },
  });
  expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
  expect(ran).toEqual([
    ['call_0', { at: 'a' }],
    ['call_0_2', { at: 'b' }],
    ['call_0_3', { at: 'c' }],
  ]);
  const { messages } = await conversation.page();
  const parts = messages.flatMap((message) => message.parts);
  const named = { providerMetadata: { turnkeep: { callId: 'call_0' } } };
  expect(parts.filter(({ type }) => type === 'tool_call')).toEqual([
    look('a'),
    { ...look('b'), callId: 'call_0_2', ...named },
    { ...look('c'), callId: 'call_0_3', ...named },
  ]);
  const results = parts.flatMap((part) => (part.type === 'tool_result' ? [[part.callId, part.output] as const] : []));
  expect(new Map(results)).toEqual(
    new Map([
      ['call_0', { at: 'a' }],
      ['call_0_2', { at: 'b' }],
      ['call_0_3', { at: 'c' }],
    ]),
  );
});

test('a call that comes in pieces, or twice, is not run', async () => {
  const call = (more: object): Part => ({ type: 'tool_call', callId: 'x', name: 'pay', ...more });
  for (const pieces of [
    [call({ inputText: '{"euros":' }), call({ inputText: '{"euros":5}' })],
    [call({}), call({ input: { euros: 5 } })],
    [call({ input: { euros: 5 } }), call({ input: { euros: 5 } })],
  ]) {
    const { conversation } = opened();
    let ran = 0;
    const agent = modelAgent({ model: async () => pieces, tools: { pay: { run: async () => (ran += 1) } } });
    await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({
      code: 'invalid_value',
      details: { path: 'model model 1' },
    });
    expect(ran).toBe(0);
  }
});

test('what a provider ran itself is answered by its own result, and models side by side may number alike', async () => {
  const { conversation } = opened();
  const ran = (output: string): readonly Part[] => [
    { type: 'tool_call', callId: '0', name: 'search', input: { for: output }, executedBy: 'provider' },
    { type: 'tool_result', callId: '0', status: 'ok', output },
  ];
  const agent: Agent = async (turn) => {
    await Promise.all(['a', 'b'].map((key) => turn.model(key, async () => [...ran(`${key}1`), ...ran(`${key}2`)])));
  };
  expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
  const { messages } = await conversation.page();
  const outputs = messages.flatMap(({ parts }) =>
    parts.flatMap((part, at) => {
      const before = parts[at - 1];
      if (part.type !== 'tool_result' || before?.type !== 'tool_call') return [];
      expect(part.callId).toBe(before.callId);
      return [[part.callId, part.output]];
    }),
  );
  expect(new Set(outputs.map(([callId]) => callId))).toEqual(new Set(['0', '0_2', '0_3', '0_4']));
  expect(new Set(outputs.map(([, output]) => output))).toEqual(new Set(['a1', 'a2', 'b1', 'b2']));
});

test('an option of an agent or of its tools that is none is refused before there is a turn', async () => {
  const model = async () => [text('x')];
  const run = async () => 1;
  const wrong: readonly (readonly [path: string, options: unknown])[] = [
    ['options', null],
    ['options.model', {}],
    ['options.misspelt', { model, misspelt: 1 }],
    ['options.maxRounds', { model, maxRounds: 1.5 }],
    ['options.tools', { model, tools: 'none' }],
    ['options.tools.pay', { model, tools: { pay: run } }],
    ['options.tools.pay.run', { model, tools: { pay: {} } }],
    ['options.tools.pay.needsAproval', { model, tools: { pay: { run, needsAproval: true } } }],
    ['options.tools.pay.needsApproval', { model, tools: { pay: { run, needsApproval: 'yes' } } }],
    ['options.tools.pay.retry', { model, tools: { pay: { run, retry: 'Safe' } } }],
    ['options.tools.pay.reconcile', { model, tools: { pay: { run, reconcile: { done: true } } } }],
    ['options.tools.pay.message.visibility', { model, tools: { pay: { run, message: { visibility: 'none' } } } }],
  ];
  for (const [path, options] of wrong) {
    const making = async () => modelAgent(options as ModelAgentOptions);
    await expect(making).rejects.toMatchObject({ code: 'invalid_value', details: { path } });
  }
});

test('an agent that never stops calling is stopped', async () => {
  const { conversation } = opened();
  const agent = modelAgent({
    model: async ({ round }) => [call(`x${round}`, 'look')],
    tools: { look: { run: async () => 1 } },
    maxRounds: 3,
  });
  await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({ code: 'limit_exceeded' });
});

test('a tool may be an instance of a class', async () => {
  class Look {
    readonly retry = 'safe';
    readonly #found = 'it';
    async run() {
      return this.#found;
    }
  }
  const { conversation } = opened();
  const model: ModelAgentOptions['model'] = ({ round }) => (round === 1 ? [call('x', 'look')] : [text('Done.')]);
  await conversation.run(ASKED, modelAgent({ model, tools: { look: new Look() } }), KEY);
  const { messages } = await conversation.page();
  expect(messages[2]?.parts).toEqual([{ type: 'tool_result', callId: 'x', status: 'ok', output: 'it' }]);
});
