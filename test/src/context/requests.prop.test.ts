import { fileURLToPath } from 'node:url';
import { modelMessageSchema } from 'ai';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isTurnkeepError, openLedger } from 'turnkeep';
import { FORMATS as ALL } from 'turnkeep/formats';
import { importClaudeCode } from 'turnkeep/interchange';
import type { ImportTarget } from 'turnkeep/interchange';
import type {
  ContextPolicy,
  Conversation,
  JsonObject,
  Ledger,
  Namespace,
  NewMessage,
  ReadyContext,
  RequestFormat,
} from 'turnkeep';
import { faultIn, publishedShapes, samplesOf } from '../formats/published-types.testkit.ts';
import { markOf, tell, told } from './conversations.testkit.ts';
import type { Told, ToldStep, ToldTurn } from './conversations.testkit.ts';
import { charactersOf, messagesOf, RULES } from './request-rules.testkit.ts';

const FORMATS = ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const;
const shapes = publishedShapes();
/** Counts characters: what it says can be checked by another way of counting. */
const counter = { count: (text: string) => text.length };
const tools = [{ name: 'look' }];

/** What is wrong with a request: of its shape by the published types, of its order by the API's rules. */
function faultsOf(format: RequestFormat, request: JsonObject): readonly string[] {
  const messages = messagesOf(request);
  const shape = shapes.get(format);
  if (!shape) throw new Error(`${format} has no published shape`);
  const faults = messages.flatMap((message) => faultIn(shape, message) ?? []);
  const parsed =
    format === 'ai-sdk' ? messages.filter((message) => !modelMessageSchema.safeParse(message).success) : [];
  return [...faults, ...parsed.map(() => 'the SDK refuses a message'), ...RULES[format](messages)];
}

let ledger: Ledger;
let count = 0;
beforeAll(async () => {
  ledger = await openLedger('memory:');
});
afterAll(async () => ledger.close());

async function toldConversation(
  story: Told,
): Promise<{ readonly conversation: Conversation; readonly path: readonly number[] }> {
  count += 1;
  const { path } = await tell(ledger, `c${count}`, story);
  return { conversation: ledger.namespace('n').conversation(`c${count}`), path };
}

/** What a context is: a request without a fault, or a refusal that is right. */
type Outcome = 'fits' | 'too_large';

async function checked(conversation: Conversation, path: readonly number[], policy: ContextPolicy): Promise<Outcome> {
  const window = policy.window ?? Number.POSITIVE_INFINITY;
  try {
    const answer = await conversation.context(policy);
    if (answer.status !== 'ready') throw new Error('no summary was asked for');
    checkRequest(answer, path, policy, window);
    return 'fits';
  } catch (error) {
    const isGroup = isTurnkeepError(error, 'group_too_large') && error.details.count > window;
    const isBudget = isTurnkeepError(error, 'context_too_large') && error.details.neededTokens > policy.budgetTokens;
    if (isGroup || isBudget) return 'too_large';
    throw error;
  }
}

function checkRequest(
  { request, report }: ReadyContext,
  path: readonly number[],
  policy: ContextPolicy,
  window: number,
): void {
  expect(faultsOf(policy.format, request)).toEqual([]);
  const spent = Object.values(request).reduce<number>((sum, value) => sum + charactersOf(value), 0);
  expect(spent + (policy.reserveOutputTokens ?? 0)).toBeLessThanOrEqual(policy.budgetTokens);
  expect(report.tokens.total).toBeLessThanOrEqual(policy.budgetTokens);
  expect(report.shown).toBeLessThanOrEqual(window);
  const words = JSON.stringify(request);
  const others = Array.from({ length: 10 }, (_none, turn) => turn).filter((turn) => !path.includes(turn));
  for (const alien of ['hidden', ...others.map(markOf)]) expect(words).not.toContain(alien);
}

const plain: ToldStep = {
  says: 'text',
  calls: ['answered', 'answered'],
  order: 'backwards',
  repeatsIds: true,
  aside: 'none',
};
const turn = (steps: readonly ToldStep[], rest: Partial<ToldTurn> = {}): ToldTurn => ({
  back: 0,
  question: 3,
  steps,
  answers: true,
  summarizes: false,
  late: false,
  ...rest,
});

function callsIn({ parts }: NewMessage): { readonly calls: number; readonly answers: number } {
  const count = (type: 'tool_call' | 'tool_result') => parts.filter((part) => part.type === type).length;
  return { calls: count('tool_call'), answers: count('tool_result') };
}

const says = (text: string): NewMessage => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const asks = (text: string): NewMessage => ({ role: 'user', parts: [{ type: 'text', text }] });
const callsOf = (...ids: readonly string[]): NewMessage => ({
  role: 'assistant',
  parts: ids.map((callId) => ({ type: 'tool_call', callId, name: 'look', input: { at: 1 } })),
});
const answers = (callId: string): NewMessage => ({
  role: 'tool',
  parts: [{ type: 'tool_result', callId, status: 'ok', output: `for ${callId}` }],
});

/** Parallel calls that answer backwards, a call that the user interrupts, an id that comes again, and a call at the end. */
const INTERRUPTED_RUN: readonly (readonly NewMessage[])[] = [
  [asks('q'), callsOf('A', 'B'), answers('B'), answers('A'), callsOf('C')],
  [asks('interrupt before C returned'), callsOf('A'), answers('A'), says('end')],
  [asks('once more'), callsOf('D')],
];

function targetIn(namespace: Namespace): ImportTarget {
  return {
    namespace: namespace.id,
    commit: async (commit) => namespace.commit({ ...commit }),
    head: async () => undefined,
  };
}

const EXAMPLE = fileURLToPath(new URL('../../../packages/turnkeep/examples/claude-code', import.meta.url));

/** Named conversations: each is checked for every window and every budget. */
const STORIES: { readonly [name: string]: Told } = {
  'calls that repeat their ids, answer backwards, and stay open': {
    turns: [
      turn([plain, { ...plain, calls: ['missing'], order: 'interrupted' }]),
      turn([
        { ...plain, calls: ['answered'] },
        { ...plain, says: 'reasoning', order: 'together' },
      ]),
    ],
  },
  'two branches in turn': {
    turns: [
      turn([plain]),
      turn([plain]),
      turn([plain], { back: 1 }),
      turn([plain], { back: 2 }),
      turn([plain], { late: true }),
    ],
  },
  'a compaction with a late result': {
    turns: [
      turn([plain], { late: false }),
      turn([plain], { summarizes: true }),
      turn([plain], { late: true }),
      turn([]),
    ],
  },
};

describe.each(FORMATS)('requests for %s', (format) => {
  test.each(Object.entries(STORIES))('%s: every window and every budget', async (_name, story) => {
    const { conversation, path } = await toldConversation(story);
    const policy = { format, counter, tools, instructions: 'Be kind.', reserveOutputTokens: 50 };
    const outcomes: Outcome[] = [];
    for (let window = 1; window <= 24; window++) {
      outcomes.push(await checked(conversation, path, { ...policy, budgetTokens: 20_000, window }));
    }
    expect(outcomes.at(-1)).toBe('fits');
    for (let budgetTokens = 1; budgetTokens <= 2_400; budgetTokens += 7) {
      outcomes.push(await checked(conversation, path, { ...policy, budgetTokens }));
    }
    expect(outcomes.at(-1)).toBe('fits');
    expect(outcomes).toContain('too_large');
  });

  test('a run with parallel calls, an interruption, an id used again and an open end: every window', async () => {
    count += 1;
    const conversation = ledger.namespace('n').conversation(`c${count}`);
    for (const [at, messages] of INTERRUPTED_RUN.entries()) {
      await conversation.record({ turnId: `r${at}`, origin: 'told', messages });
    }
    for (let window = 1; window <= 12; window++) {
      await checked(conversation, [], { format, counter, budgetTokens: 20_000, window });
    }
    expect(await checked(conversation, [], { format, counter, budgetTokens: 20_000 })).toBe('fits');
  });

  test('an imported session with a compaction, an edit and a fork: every window and every tenth budget', async () => {
    const own = await openLedger('memory:');
    const namespace = own.namespace('imported');
    const report = await importClaudeCode(targetIn(namespace), [EXAMPLE]);
    for (const { conversationId } of report.conversations) {
      const conversation = namespace.conversation(conversationId);
      for (let window = 1; window <= 16; window++) {
        await checked(conversation, [], { format, counter, budgetTokens: 100_000, window });
      }
      for (let budgetTokens = 100; budgetTokens <= 6_000; budgetTokens += 190) {
        await checked(conversation, [], { format, counter, budgetTokens });
      }
      expect(await checked(conversation, [], { format, counter, budgetTokens: 100_000 })).toBe('fits');
    }
    await own.close();
  });

  test('every published message within a conversation: a call without its result, a block of one provider for another', async () => {
    for (const source of ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk', 'ai-sdk-ui'] as const) {
      const samples = samplesOf(shapes.get(source) ?? { kind: 'any' });
      const step = Math.ceil(samples.length / 60);
      for (const message of ALL[source].parse(samples.filter((_sample, at) => at % step === 0))) {
        if (callsIn(message).answers > callsIn(message).calls) continue; // a result needs the call that it answers
        count += 1;
        const conversation = ledger.namespace('n').conversation(`c${count}`);
        await conversation.record({ origin: 'told', messages: [asks('q')] });
        await conversation.record({ origin: 'told', messages: [message, asks('next')] });
        const outcome = await checked(conversation, [], { format, counter, budgetTokens: 1_000_000 });
        expect(outcome).toBe('fits');
      }
    }
  });

  test('random conversations, windows and budgets', async () => {
    await fc.assert(
      fc.asyncProperty(
        told,
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 60, max: 3_000 }),
        async (story, window, budgetTokens) => {
          const { conversation, path } = await toldConversation(story);
          await checked(conversation, path, { format, counter, tools, budgetTokens });
          expect(await checked(conversation, path, { format, counter, budgetTokens: 50_000 })).toBe('fits');
          await checked(conversation, path, { format, counter, budgetTokens: 50_000, window });
          await checked(conversation, path, { format, counter, budgetTokens, window, notesTokens: 0 });
        },
      ),
      { numRuns: 100 },
    );
  });
});
