import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { modelAgent, openLedger } from 'turnkeep';
import type { Model, Tool } from 'turnkeep';
import { anthropic } from 'turnkeep/formats';

/**
 * What the page of agents shows: a model function around a provider's own client, typed as it is published. Its HTTP is answered
 * here.
 */
type Request = Anthropic.MessageCreateParamsNonStreaming;

const TOOLS: Anthropic.Tool[] = [{ name: 'find_parcel', input_schema: { type: 'object' } }];

const ANSWERS: readonly Pick<Anthropic.Message, 'content' | 'stop_reason'>[] = [
  {
    content: [
      { type: 'thinking', thinking: 'Look it up.', signature: 'sig' },
      { type: 'tool_use', id: 'toolu_1', name: 'find_parcel', input: { number: 7 }, caller: { type: 'direct' } },
    ],
    stop_reason: 'tool_use',
  },
  { content: [{ type: 'text', text: 'It is in Oslo.', citations: null }], stop_reason: 'end_turn' },
];

function clientAnswering(asked: Request[]): Anthropic {
  const answer = async (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    asked.push(JSON.parse(String(init?.body)) as Request);
    const usage = { input_tokens: 100, output_tokens: 20 };
    const message = { id: `msg_${asked.length}`, type: 'message', role: 'assistant', model: 'some-model', usage };
    return Response.json({ ...message, ...ANSWERS[asked.length - 1] });
  };
  return new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', maxRetries: 0, fetch: answer });
}

test('a provider’s client takes the request of a context, and its answer becomes the turn’s messages', async () => {
  const asked: Request[] = [];
  const client = clientAnswering(asked);
  const ledger = await openLedger('memory:');
  const chat = ledger.namespace('acme').conversation('support-42');

  const model: Model = async ({ turn, signal, used }) => {
    const context = await turn.conversation.context({
      format: 'anthropic',
      budgetTokens: 100_000,
      leaf: turn.turnId,
      instructions: 'You help customers.',
      tools: TOOLS,
    });
    if (context.status !== 'ready') throw new Error(context.status);
    const request = context.request as unknown as Request;
    const answer = await client.messages.create({ ...request, model: 'some-model', max_tokens: 8_000 }, { signal });
    const { input_tokens: inputTokens, output_tokens: outputTokens } = answer.usage;
    used({ usageId: answer.id, provider: 'anthropic', model: answer.model, inputTokens, outputTokens });
    return anthropic.parse([{ role: answer.role, content: answer.content }]).flatMap(({ parts }) => parts);
  };
  const findParcel: Tool = { retry: 'safe', run: async () => ({ place: 'Oslo' }) };
  const agent = modelAgent({ model, tools: { find_parcel: findParcel } });
  const prompt = [{ type: 'text' as const, text: 'Where is my parcel?' }];
  const { state } = await chat.run({ prompt }, agent, { idempotencyKey: 'req-1' });

  expect(state).toBe('completed');
  expect(asked.map(({ system, tools }) => ({ system, tools }))).toEqual(
    Array.from({ length: 2 }, () => ({ system: 'You help customers.', tools: TOOLS })),
  );
  expect(asked[0]?.messages).toEqual([{ role: 'user', content: expect.anything() as unknown }]);
  expect(asked[1]?.messages.slice(1)).toEqual([
    { role: 'assistant', content: ANSWERS[0]?.content },
    { role: 'user', content: [expect.objectContaining({ type: 'tool_result', tool_use_id: 'toolu_1' }) as unknown] },
  ]);
  const { messages } = await chat.window(1);
  expect(messages[0]?.parts).toMatchObject([{ type: 'text', text: 'It is in Oslo.' }]);
  expect(await chat.usage.total()).toMatchObject({ calls: 2, inputTokens: 200, outputTokens: 40 });
  await ledger.close();
});
