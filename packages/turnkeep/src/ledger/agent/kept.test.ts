import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/json.ts';
import type { Part } from '../../core/message.ts';
import type { Conversation } from '../conversation.ts';
import { ASKED, opened, said, text } from './agent.testkit.ts';
import { messageOf } from './message-of.ts';
import { modelAgent } from './model-agent.ts';
import type { Agent } from './turn-run.ts';

const KEY = { idempotencyKey: 'turn-1' };
const call = (name: string): Part => ({ type: 'tool_call', callId: 'x', name, input: {} });

async function resultsIn(conversation: Conversation) {
  const { messages } = await conversation.page();
  return messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_result'));
}

describe('a tool', () => {
  test('that was run, but whose result cannot be kept, is told to the model as that', async () => {
    for (const unfit of [{ at: new Date() }, Number.NaN, 1n, 'x'.repeat(20_000_000)]) {
      const { conversation } = opened();
      let ran = 0;
      const agent = modelAgent({
        model: async ({ round }) => (round === 1 ? [call('refund')] : [text('Done.')]),
        tools: { refund: { run: async () => (ran += 1) && (unfit as Json) } },
      });
      expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
      const [result] = await resultsIn(conversation);
      expect(result).toMatchObject({ callId: 'x', status: 'error' });
      expect(result?.output).toMatch(/^The tool was run, /);
      expect(ran).toBe(1);
    }
  });

  test('that nobody gave has no name of every object', async () => {
    const { conversation } = opened();
    const agent = modelAgent({ model: async ({ round }) => (round === 1 ? [call('toString')] : [text('Done.')]) });
    await conversation.run(ASKED, agent, KEY);
    expect(await resultsIn(conversation)).toMatchObject([{ status: 'error', output: 'there is no tool toString' }]);
  });

  test('that its caller settled is told to the model, once', async () => {
    const { conversation, space } = opened();
    const { turnId } = await conversation.submit(ASKED);
    const calls = { role: 'assistant', messageId: 'calls', parts: [call('pay')] } as const;
    await conversation.commit([
      { kind: 'turn.advance', turnId, to: 'running' },
      { kind: 'message.append', turnId, message: calls },
      { kind: 'attempt.start', attempt: 'lost', turnId },
    ]);
    const start = { kind: 'step.start', turnId, callId: 'x', name: 'tool' } as const;
    await conversation.commit([start], { fence: { attempt: 'lost', token: 1 } });
    const agent: Agent = async (turn) => {
      const { output } = await turn.tool('x', async () => 'paid again');
      await turn.interrupt({ interruptId: 'i', type: 'input', payload: null });
      return [{ role: 'assistant', parts: [text(JSON.stringify(output))] }];
    };
    await conversation.resume(turnId, agent, { ttlMs: 60, settle: { x: { status: 'succeeded', result: 'was paid' } } });
    await space.answer('i', { by: 'ann', response: null });
    await conversation.resume(turnId, agent);
    expect(await resultsIn(conversation)).toMatchObject([{ callId: 'x', status: 'ok', output: 'was paid' }]);
    expect((await said(conversation)).at(-1)).toBe('assistant: "was paid"');
  });
});

describe('what a model said is kept', () => {
  const usages: readonly (() => never)[] = [
    () => {
      throw new Error('no usage');
    },
    () => ({ provider: 'p', model: 'm', inputTokens: 1.5 }) as never,
    () => ({ model: 'm' }) as never,
  ];

  test('whatever is wrong with what it used, which is told', async () => {
    for (const usage of usages) {
      const { conversation } = opened();
      let calls = 0;
      const agent: Agent = async (turn) => {
        const asked = () => turn.model('m', async () => [text(`costly ${(calls += 1)}`)], { usage });
        await expect(asked()).rejects.toThrow(/no usage|path usage\.(inputTokens|provider)/);
        expect(await asked()).toEqual([text('costly 1')]);
      };
      expect((await conversation.run(ASKED, agent, KEY)).state).toBe('completed');
      expect(await said(conversation)).toEqual(['user: a question', 'assistant: costly 1']);
    }
  });
});

test('what throws when it is looked at ends a turn, a step and a look-up as anything else that is thrown', async () => {
  const hostile: unknown = new Proxy(Object.create(null) as object, {
    getPrototypeOf() {
      throw new Error('no');
    },
    get() {
      throw new Error('no');
    },
  });
  const throws = async () => {
    throw hostile;
  };
  const words = 'something was thrown that throws when it is looked at';
  const agents: readonly Agent[] = [throws, async (turn) => void (await turn.step('a', throws))];
  for (const agent of agents) {
    const { conversation } = opened();
    await expect(conversation.run(ASKED, agent, KEY)).rejects.toThrow(words);
    expect((await conversation.graph())[0]).toMatchObject({ state: 'failed' });
    await expect(conversation.run(ASKED, agent, KEY)).rejects.toMatchObject({ details: { message: words } });
  }
});

test('whatever is thrown has words, and not too many', () => {
  const wordless = Object.assign(new Error('x'), {});
  Object.defineProperty(wordless, 'message', { value: Object.create(null) as object });
  const thrown = [
    new Error('broke'),
    'broke',
    Symbol('s'),
    Object.create(null),
    wordless,
    new Error('x'.repeat(9_000)),
  ];
  expect(thrown.map((one) => messageOf(one).slice(0, 45))).toEqual([
    'broke',
    'broke',
    'Symbol(s)',
    'something was thrown that has no words',
    'something was thrown that has no words',
    'x'.repeat(45),
  ]);
  expect(messageOf(new Error('x'.repeat(9_000)))).toMatch(/^x{4096} …$/);
});
