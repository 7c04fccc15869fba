import { expect, test } from 'vitest';
import type { JsonObject } from '../../core/json.ts';
import { importClaudeCode } from './import.ts';
import { bytesOf, jsonl, MemoryTarget, SessionWriter, sorted } from './session.testkit.ts';

const write = new SessionWriter();
const call = (id: string, extra: JsonObject = { name: 'Read' }): JsonObject => ({
  type: 'tool_use',
  id,
  input: {},
  ...extra,
});
const answer = (id: string): JsonObject => ({ type: 'tool_result', tool_use_id: id, content: 'done' });

/** Imports rows, each of which has to come back; answers what the messages call and answer. */
async function pairsOf(rows: readonly JsonObject[]) {
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  expect(report.refused).toEqual([]);
  const id = report.conversations[0]?.conversationId ?? '';
  expect(await target.rows(id)).toEqual(sorted(rows));
  const parts = (await target.path(id)).flatMap((message) => message.parts);
  return {
    notes: report.files[0]?.notes.map(({ kind }) => kind),
    pairs: parts.flatMap((part) => (part.type === 'tool_call' || part.type === 'tool_result' ? [part.type] : [])),
  };
}

test.each<[string, JsonObject[], string[], string[]]>([
  [
    'a call in a row of the user',
    [write.user(1, null, [call('A')]), write.calls(2, 1, 'm', 'A'), write.result(3, 2, 'A', 'r')],
    ['tool_call', 'tool_result'],
    [],
  ],
  [
    'a call without a name',
    [write.user(1, null, 'q'), write.assistant(2, 1, 'm', [call('A', {})]), write.result(3, 2, 'A', 'r')],
    [],
    ['orphan_result'],
  ],
  [
    'a call whose name is no text',
    [write.user(1, null, 'q'), write.assistant(2, 1, 'm', [call('A', { name: ['Read'] })])],
    [],
    [],
  ],
  [
    'an answer in a row of the assistant',
    [write.user(1, null, 'q'), write.assistant(2, 1, 'm', [answer('A'), call('A')]), write.result(3, 2, 'A', 'r')],
    ['tool_call', 'tool_result'],
    [],
  ],
  [
    'a call beside an answer',
    [
      write.user(1, null, 'q'),
      write.calls(2, 1, 'm', 'A'),
      write.user(3, 2, [answer('A'), call('B')]),
      write.result(4, 3, 'B', 'r'),
    ],
    ['tool_call', 'tool_result'],
    ['orphan_result'],
  ],
  [
    'a call in what the client said in the name of the assistant',
    [
      write.user(1, null, 'q'),
      write.assistant(2, 1, 'm', [call('A')], { isApiErrorMessage: true }),
      write.result(3, 2, 'A', 'r'),
    ],
    [],
    ['orphan_result'],
  ],
  [
    'a call that stands twice in one row',
    [write.user(1, null, 'q'), write.assistant(2, 1, 'm', [call('A'), call('A')]), write.result(3, 2, 'A', 'r')],
    ['tool_call', 'tool_result'],
    ['second_call'],
  ],
  [
    'an answer that stands twice in one row',
    [write.user(1, null, 'q'), write.calls(2, 1, 'm', 'A'), write.user(3, 2, [answer('A'), answer('A')])],
    ['tool_call', 'tool_result'],
    ['second_result'],
  ],
  [
    'a row that answers calls of two messages',
    [
      write.user(1, null, 'q'),
      write.calls(2, 1, 'm', 'A'),
      write.calls(3, 2, 'n', 'B'),
      write.user(4, 3, [answer('A'), answer('B')]),
    ],
    ['tool_call', 'tool_call', 'tool_result', 'tool_result'],
    [],
  ],
  [
    'a row that answers a call of this turn and one that came again in it, of another',
    [
      write.calls(1, null, 'm', 'B'),
      write.calls(2, null, 'n', 'A'),
      write.calls(3, 2, 'o', 'B'),
      write.user(4, 1, [answer('A'), answer('B')]),
    ],
    ['tool_call', 'tool_result', 'tool_call'],
    ['orphan_result'],
  ],
  [
    'calls whose ids differ in a lone surrogate',
    [
      write.user(1, null, 'q'),
      write.assistant(2, 1, 'm', [call('\ud83d'), call('\ud83e')]),
      write.result(3, 2, '\ud83e', 'second'),
      write.result(4, 2, '\ud83d', 'first'),
    ],
    ['tool_call', 'tool_call', 'tool_result', 'tool_result'],
    [],
  ],
])('%s refuses no row, and what pairs is paired', async (_, rows, pairs, notes) => {
  expect(await pairsOf(rows)).toEqual({ pairs, notes });
});

test.each([
  ['between two calls', 2, ['A', 'B']],
  ['between two calls, the second answered first', 2, ['B', 'A']],
  ['after each of three calls', 2, ['A', 'B', 'C', 'A2']],
])('a session that grew %s takes a row that answers them all', async (_, known, ids) => {
  const calls = ids.toSorted().map((id, at) => write.calls(2 + at, 1 + at, `m${id}`, id));
  const last = 1 + calls.length;
  const rows = [
    write.user(1, null, 'q'),
    ...calls,
    write.user(last + 1, last, ids.map(answer)),
    write.user(99, last + 1, 'go on'),
  ];
  const target = new MemoryTarget();
  for (let end = known; end <= rows.length; end++) {
    const report = await importClaudeCode(target, bytesOf(jsonl(rows.slice(0, end))));
    expect(report.refused).toEqual([]);
  }
  const { conversations } = await importClaudeCode(target, bytesOf(jsonl(rows)));
  const id = conversations[0]?.conversationId ?? '';
  expect(await target.rows(id)).toEqual(sorted(rows));
  const answered = (await target.path(id)).flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_result' ? [part.callId] : [])),
  );
  expect(answered.toSorted()).toEqual(ids.toSorted());
});

test('a call that cannot pair keeps a number that JavaScript would round', async () => {
  const row = JSON.stringify(write.assistant(2, 1, 'm', [call('A', { n: 0 })])).replace('"n":0', '"n":1e400');
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(`${jsonl([write.user(1, null, 'q')])}${row}\n`));
  expect(report.refused).toEqual([]);
  const [, message] = await target.path(report.conversations[0]?.conversationId ?? '');
  expect(message?.metadata).toMatchObject({ rows: [{ text: row }] });
});
