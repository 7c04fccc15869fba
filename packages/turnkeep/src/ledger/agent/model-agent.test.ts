import { expect, test } from 'vitest';
import type { Part } from '../../core/message.ts';
import { ASKED, opened, said, text } from './agent.testkit.ts';
import { modelAgent } from './model-agent.ts';
import type { ModelAgentOptions } from './model-agent.ts';

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
