import { expect, test } from 'vitest';
import { openLedger } from '../ledger/open.ts';
import { importClaudeCode } from './claude-code/import.ts';
import { bytesOf, jsonl, SessionWriter } from './claude-code/session.testkit.ts';

const write = new SessionWriter();
const ROWS = [write.user(1, null, 'Hi'), write.says(2, 1, 'msg_A', 'Hello.'), write.user(3, 2, 'Go on')];

test('a namespace of an open ledger takes an import, and what is new of a session that has grown', async () => {
  const ledger = await openLedger('memory:');
  const namespace = ledger.namespace('imports');
  const first = await importClaudeCode(namespace, bytesOf(jsonl(ROWS.slice(0, 2))));
  const conversation = namespace.conversation(first.conversations[0]?.conversationId ?? '');
  expect((await conversation.page()).messages.map(({ role }) => role)).toEqual(['user', 'assistant']);

  const grown = await importClaudeCode(namespace, bytesOf(jsonl(ROWS)));
  expect(grown.refused).toEqual([]);
  expect((await conversation.page()).messages).toHaveLength(3);
  await ledger.close();
});

test('rows that a namespace has elsewhere are not sent again, on whatever branch they stand', async () => {
  const ledger = await openLedger('memory:');
  const namespace = ledger.namespace('imports');
  const rows = [...ROWS, write.user(4, 2, 'Another way'), write.says(5, 4, 'msg_B', 'Fine.')];
  const first = await importClaudeCode(namespace, bytesOf(jsonl(rows)));
  const conversation = namespace.conversation(first.conversations[0]?.conversationId ?? '');
  const { version, messageCount } = await conversation.info();
  // Cut at its head, its rows hang elsewhere.
  const cut = await importClaudeCode(namespace, bytesOf(jsonl(rows.slice(1))));
  expect(cut.refused).toEqual([]);
  expect(cut.conversations[0]).toMatchObject({ messages: { user: 2, assistant: 2 } });
  expect(await conversation.info()).toMatchObject({ version, messageCount });
  await ledger.close();
});
