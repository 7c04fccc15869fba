import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openLedger } from 'turnkeep';
import type { ContextPolicy, Conversation, NewMessage } from 'turnkeep';
import { flattened, messagesOf } from './request-rules.testkit.ts';

const counter = { count: (text: string) => text.length };
const TURNS = 48;

interface Seen {
  readonly start: string | null;
  readonly blocks: readonly string[];
  /** The blocks that the breakpoints promise to the next request. */
  readonly promised: readonly string[];
}

async function seen(conversation: Conversation, policy: ContextPolicy): Promise<Seen> {
  const answer = await conversation.context(policy);
  if (answer.status !== 'ready') throw new Error('no summary was asked for');
  const messages = messagesOf(answer.request);
  const last = answer.cacheBreakpoints.at(-1) ?? -1;
  return { start: answer.report.start, blocks: flattened(messages), promised: flattened(messages.slice(0, last + 1)) };
}

/** Requests with the same start: the later one begins with all of the earlier one's transcript, and so with what it promised. */
function goesOn(before: Seen, now: Seen): void {
  expect(now.blocks.slice(0, before.blocks.length)).toEqual(before.blocks);
  expect(before.promised.length).toBeGreaterThan(0);
  expect(now.blocks.slice(0, before.promised.length)).toEqual(before.promised);
}

/** A turn with a call of its own, as long as `words` says. */
function turnOf(at: number, words: number): readonly NewMessage[] {
  const callId = `call-${at}`;
  return [
    { role: 'user', parts: [{ type: 'text', text: `Question ${at} ${'word '.repeat(words)}` }] },
    { role: 'assistant', parts: [{ type: 'tool_call', callId, name: 'look', input: { at } }] },
    { role: 'tool', parts: [{ type: 'tool_result', callId, status: 'ok', output: `found ${at}` }] },
    { role: 'assistant', parts: [{ type: 'text', text: `Answer ${at}` }] },
  ];
}

test.each(['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const)(
  '%s: requests of one conversation share their beginning, and the start moves by batches',
  async (format) => {
    const ledger = await openLedger('memory:');
    let count = 0;
    const story = fc.record({
      words: fc.array(fc.nat({ max: 20 }), { minLength: TURNS, maxLength: TURNS }),
      limit: fc.oneof(
        fc.record({ budgetTokens: fc.integer({ min: 4_000, max: 12_000 }) }),
        fc.record({ budgetTokens: fc.constant(1_000_000), window: fc.integer({ min: 40, max: 120 }) }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(story, async ({ words, limit }) => {
        count += 1;
        const conversation = ledger.namespace('n').conversation(`c${count}`);
        let before: Seen | undefined;
        let moves = 0;
        for (const [at, length] of words.entries()) {
          await conversation.record({ origin: 'told', messages: turnOf(at, length) });
          await conversation.updateState({ nextStep: `step ${at}` });
          const now = await seen(conversation, { format, counter, ...limit });
          if (before?.start === now.start) goesOn(before, now);
          else moves += 1;
          before = now;
        }
        // The first request is one; a move of one turn a turn would make nearly TURNS of them.
        expect(moves).toBeLessThanOrEqual(TURNS / 2.5);
        expect(moves).toBeGreaterThan(1);
      }),
      { numRuns: 3 },
    );
    await ledger.close();
  },
);
