import { expect, test } from 'vitest';
import { openLedger } from '../ledger/open.ts';
import { importClaudeCode } from './claude-code/import.ts';
import { bytesOf, jsonl, SessionWriter, sorted } from './claude-code/session.testkit.ts';
import { rowsOfMessages } from './claude-code/message.ts';
import { namespaceTarget } from './namespace-target.ts';
import type { ImportTarget, StoredMessage } from './target.ts';

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

/** The target, and the messages that an import asked it for. */
function watched(target: ImportTarget): { readonly target: ImportTarget; readonly read: StoredMessage[] } {
  const read: StoredMessage[] = [];
  async function* messages(...asked: Parameters<Required<ImportTarget>['messages']>) {
    for await (const message of target.messages?.(...asked) ?? []) {
      read.push(message);
      yield message;
    }
  }
  return { target: { ...target, messages }, read };
}

test('of a session that has grown, messages are read that no commit of its rows tells of, and no other', async () => {
  const ledger = await openLedger('memory:');
  const namespace = ledger.namespace('imports');
  const rows = [
    ...ROWS,
    write.calls(4, 3, 'msg_B', 'A'),
    write.user(5, 4, 'Never mind'),
    write.says(6, 5, 'msg_C', 'Fine.'),
    // A turn goes on, a late result comes, another turn begins, the title is new.
    write.says(7, 6, 'msg_D', 'Anything else?'),
    write.result(8, 4, 'A', 'done'),
    write.user(9, 7, 'No'),
    { type: 'ai-title', aiTitle: 'Short', sessionId: '5e551000-0000-4000-8000-00000000000a' },
  ];
  const first = await importClaudeCode(namespace, bytesOf(jsonl(rows.slice(0, 6))));
  const conversation = namespace.conversation(first.conversations[0]?.conversationId ?? '');
  for (let end = 7; end <= rows.length; end++) {
    const { target, read } = watched(namespaceTarget(namespace));
    expect((await importClaudeCode(target, bytesOf(jsonl(rows.slice(0, end))))).refused).toEqual([]);
    expect(read).toEqual([]);
  }
  expect((await conversation.info()).title).toBe('Short');
  await conversation.append({ role: 'user', parts: [{ type: 'text', text: 'from here on without the tool' }] });
  const { target, read } = watched(namespaceTarget(namespace));
  const grown = [...rows, write.says(10, 9, 'msg_E', 'Bye.')];
  await importClaudeCode(target, bytesOf(jsonl(grown)));
  expect(read.map(({ parts }) => parts)).toEqual([[{ type: 'text', text: 'from here on without the tool' }]]);
  const { messages } = await conversation.page({ limit: 100 });
  expect(sorted(rowsOfMessages(messages))).toEqual(sorted(grown));
  await ledger.close();
});

test('messages on every branch are there to be read, whether one by one or by the page, but for those excepted', async () => {
  const ledger = await openLedger('memory:');
  const namespace = ledger.namespace('imports');
  const talk = Array.from({ length: 40 }, (_, at) => write.user(at + 1, at === 0 ? null : at, `prompt ${at}`));
  const fork = Array.from({ length: 40 }, (_, at) => write.user(at + 41, at === 0 ? 3 : at + 40, `again ${at}`));
  const report = await importClaudeCode(namespace, bytesOf(jsonl([...talk, ...fork])));
  const id = report.conversations[0]?.conversationId ?? '';
  const target = namespaceTarget(namespace);
  const idsBut = async (except: ReadonlySet<string>) => {
    const found: string[] = [];
    for await (const { messageId } of target.messages?.(id, except) ?? []) found.push(messageId);
    return found.sort();
  };
  const all = await idsBut(new Set());
  expect(all).toHaveLength(80);
  for (const kept of [1, 2, 70, 79, 80]) {
    expect(await idsBut(new Set(all.slice(0, kept)))).toEqual(all.slice(kept));
    expect(await idsBut(new Set(all.slice(80 - kept)))).toEqual(all.slice(0, 80 - kept));
  }
  await ledger.close();
});
