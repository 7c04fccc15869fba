import { expect, test } from 'vitest';
import type { FilePart, Part, ToolResultPart } from '../../core/message.ts';
import { StreamDigest } from '../../platform/hash.ts';
import { opened, text } from '../agent/agent.testkit.ts';
import type { Conversation } from '../conversation.ts';
import type { ContextPolicy } from './index.ts';

const counter = { count: (words: string) => words.length };
const tight: ContextPolicy = { format: 'openai-chat', budgetTokens: 3_000, counter };

/** Calls that a summary covers, then a turn, then what answers them late, each in a message of the call's name. */
async function answeredLate(...results: readonly Omit<ToolResultPart, 'type' | 'callId'>[]): Promise<Conversation> {
  const { space, conversation } = opened();
  await space.attachments.put(Buffer.from('a picture'));
  const turn = async (turnId: string, parts: readonly Part[]) =>
    conversation.record({ turnId, origin: 'told', messages: [{ messageId: turnId, role: 'assistant', parts }] });
  await turn(
    't1',
    results.map((_one, at): Part => ({ type: 'tool_call', callId: `c${at}`, name: 'look', input: {} })),
  );
  await turn('t2', [text('I am on it')]);
  const { leaf, lastSequence } = await conversation.info();
  await conversation.commitSummary(
    { upTo: 't2', text: 'Looking' },
    { expect: { transcript: { turn: leaf, lastSequence } } },
  );
  for (const [at, result] of results.entries()) {
    const parts: readonly Part[] = [{ type: 'tool_result', callId: `c${at}`, ...result }];
    await conversation.append({ messageId: `late${at}`, role: 'tool', parts });
  }
  await turn('t3', [text('And now?')]);
  return conversation;
}

test('a late result that is too large for the budget is left out, the oldest first, and is named', async () => {
  const large = { status: 'ok', output: 'x'.repeat(2_000) } as const;
  const conversation = await answeredLate(large, large, { status: 'ok', output: 'small' });
  const found = await conversation.context(tight);
  expect(found).toMatchObject({
    status: 'ready',
    report: {
      leftOut: [{ what: 'message', messageId: 'late0', why: 'budget' }],
      repairs: [
        { what: 'late_result', messageId: 'late1' },
        { what: 'late_result', messageId: 'late2' },
      ],
    },
  });
  expect(JSON.stringify(found)).toContain('And now?');
  const least = await conversation.context({ ...tight, budgetTokens: 200 });
  expect(least).toMatchObject({ status: 'ready', report: { shown: 1 } });
});

test('a late result that is too large for the budget is for the next summary, where there is something to cover', async () => {
  const conversation = await answeredLate({ status: 'ok', output: 'x'.repeat(5_000) });
  const policy: ContextPolicy = { ...tight, whenFull: 'summarize' };
  expect(await conversation.context(policy)).toMatchObject({
    status: 'ready',
    report: { leftOut: [{ what: 'message', messageId: 'late0', why: 'budget' }] },
  });
  await conversation.record({ turnId: 't4', origin: 'told', messages: [{ role: 'user', parts: [text('Well?')] }] });
  const asked: (readonly string[])[] = [];
  const found = await conversation.summarize(policy, async ({ messages, upTo }) => {
    asked.push([...messages.map(({ messageId }) => messageId), upTo]);
    return 'Looked, and found x';
  });
  expect(asked).toEqual([['late0', 't3', 't3']]);
  expect(found).toMatchObject({ status: 'ready', report: { leftOut: [], repairs: [], shown: 1 } });
});

test('files in a late result are asked for and counted as any others', async () => {
  const url = `data:image/png;base64,${'A'.repeat(9_000)}`;
  const picture = new StreamDigest();
  picture.add(Buffer.from('a picture'));
  const digest = picture.end();
  const file = (source: FilePart['source']): Part => ({ type: 'file', mediaType: 'image/png', source });
  const conversation = await answeredLate({ status: 'ok', content: [file({ url }), file({ attachment: digest })] });
  for (const format of ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const) {
    const attachmentUrl = (named: string) => (named === digest ? 'https://files.example/picture' : undefined);
    const found = await conversation.context({ ...tight, format, fileTokens: 700, attachmentUrl });
    if (found.status !== 'ready') throw new Error('a summary is asked for');
    expect(JSON.stringify(found.request)).toContain('https://files.example/picture');
    expect(found.report.tokens.total).toBeGreaterThan(1_400);
    expect(found.report.leftOut).toEqual([]);
  }
});
