import { expect, test } from 'vitest';
import { openLedger } from '../open.ts';

test('notes stand in one order, decisions among them oldest first; of too many the newest stay', async () => {
  const ledger = await openLedger('memory:');
  const conversation = ledger.namespace('n').conversation('c');
  const parts = [{ type: 'text', text: 'hello' }] as const;
  await conversation.record({ origin: 'told', messages: [{ role: 'user', parts }] });
  for (const content of ['decision: one', 'constraint: in euros', 'decision: two', 'decision: three', 'write again']) {
    const { commitmentId } = await conversation.commitments.add({ content });
    if (content !== 'write again') await conversation.commitments.resolve({ commitmentId });
  }
  await conversation.updateState({ objective: 'sell', plan: ['ask', { next: 'send' }] });
  const counter = { count: (text: string) => text.length };
  const memories = { found: [{ memoryId: 'm', text: 'likes tea' }] };
  const policy = { format: 'openai-chat', budgetTokens: 9_000, counter, decisions: 2, memories } as const;
  const found = await conversation.context(policy);
  if (found.status !== 'ready') throw new Error('a summary is asked for');
  const { content } = (found.request['messages'] as readonly { readonly content: unknown }[]).at(-1) ?? {};
  const text = typeof content === 'string' ? content : (content as readonly { text: string }[])[0]?.text;
  expect(text?.split('\n')).toEqual([
    '<notes>',
    'Working state:',
    '- objective: sell',
    '- plan: ask',
    '- plan: {"next":"send"}',
    'Open commitments:',
    '- write again',
    'Constraints:',
    '- constraint: in euros',
    'Decisions:',
    '- decision: two',
    '- decision: three',
    'Memories:',
    '- likes tea',
    '</notes>',
  ]);
  expect(found.report.leftOut).toMatchObject([{ what: 'decision', why: 'limit' }]);
  await ledger.close();
});
