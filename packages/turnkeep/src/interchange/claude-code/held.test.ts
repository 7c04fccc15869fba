import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../core/json.ts';
import type { ImportTarget } from '../target.ts';
import { importClaudeCode } from './import.ts';
import { bytesOf, inShort, jsonl, MemoryTarget, SESSION, SessionWriter, sorted, uuid } from './session.testkit.ts';

const write = new SessionWriter();

async function importRows(rows: readonly unknown[], target = new MemoryTarget()) {
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  return { target, report, id: report.conversations[0]?.conversationId ?? '' };
}

describe('a file that says a session otherwise than the store', () => {
  const talk = [
    { type: 'ai-title', aiTitle: 'Old', sessionId: SESSION },
    write.user(1, null, 'one'),
    write.says(2, 1, 'm1', 'two'),
    write.user(3, 2, 'three'),
    write.says(4, 3, 'm2', 'four'),
    write.system(5, 4, 'local_command', {}),
    { type: 'ai-title', aiTitle: 'New', sessionId: SESSION },
    write.user(6, 4, 'five'),
    write.user(7, 2, 'three, asked again'),
  ];

  test('an older copy adds nothing, and takes neither the title nor the leaf back', async () => {
    const { target, id } = await importRows(talk);
    const before = await target.backend.feed('imports', 0, 1e6);
    for (let length = 1; length < talk.length; length++) {
      const { report } = await importRows(talk.slice(0, length), target);
      expect(report.refused).toEqual([]);
      const [conversation] = report.conversations;
      expect(conversation?.replayed).toBe(conversation?.commits);
    }
    expect(await target.backend.feed('imports', 0, 1e6)).toEqual(before);
    expect((await target.path(id)).map(inShort).at(-1)).toBe('user: three, asked again');
  });

  test('a row whose words were edited is kept beside what it said, and told', async () => {
    const { target, id } = await importRows(talk);
    const edited = talk.map((row, at) => (at === 3 ? write.user(3, 2, 'three, edited') : row));
    const { report } = await importRows(edited, target);
    expect(report.refused).toEqual([]);
    expect(report.files[0]?.notes).toMatchObject([{ kind: 'variant', line: 4, id: uuid(3) }]);
    expect(await target.rows(id)).toEqual(sorted([...talk, edited[3]]));
    const before = await target.backend.feed('imports', 0, 1e6);
    await importRows(edited, target);
    await importRows(talk, target);
    expect(await target.backend.feed('imports', 0, 1e6)).toEqual(before);
  });

  test('a row that was edited is kept also where it stood in one message with others', async () => {
    const rows = [1, 2, 3].map((id) => ({ ...write.envelope(id, id - 1), type: 'progress', data: {} }));
    const { target, id } = await importRows(rows);
    const edited = { ...rows[1], data: { step: 2 } };
    const { report } = await importRows([edited], target);
    expect(report.refused).toEqual([]);
    expect(report.files[0]?.notes).toContainEqual(expect.objectContaining({ kind: 'variant', id: uuid(2) }));
    expect(await target.rows(id)).toEqual(sorted([...rows, edited]));
  });

  test('a row that stood with others, and came to have a parent of its own, is not there twice', async () => {
    const rows = [
      { ...write.envelope(3, 1), type: 'progress', data: {} },
      { ...write.envelope(7, 6), type: 'progress', data: {} },
      write.summary(6, 5, 'what was said'),
    ];
    const { target, id } = await importRows(rows.slice(0, 2));
    const { report } = await importRows(rows, target);
    expect(report.refused).toEqual([]);
    expect(await target.rows(id)).toEqual(sorted(rows));
  });

  test('words that were redacted do not come back', async () => {
    const { target, id } = await importRows(talk);
    const words = (await target.all(id)).find((message) => inShort(message) === 'user: three');
    await target.commit({
      commitId: 'redact',
      namespace: target.namespace,
      conversationId: id,
      changes: [{ kind: 'message.redact', messageId: words?.messageId, reason: 'asked for' }],
    });
    const { report } = await importRows([...talk.slice(3), write.user(8, 7, 'six')], target);
    expect(report.refused).toEqual([]);
    expect((await target.all(id)).map(inShort)).not.toContain('user: three');
    expect((await target.path(id)).map(inShort)).toContain('user: six');
  });

  test('a large row that goes on in other messages is found again', async () => {
    const rows = [
      write.user(1, null, 'x'.repeat(20_000_000)),
      write.says(2, 1, 'm1', 'two'),
      write.user(3, 2, 'three'),
    ];
    const { target, id } = await importRows(rows.slice(0, 2));
    const { report } = await importRows([write.system(9, null, 'local_command', {}), ...rows], target);
    expect(report.refused).toEqual([]);
    const messages = (await target.all(id)).map(({ metadata }) => (metadata as JsonObject)['ids'] ?? []);
    const ids = (messages as JsonObject[][]).flat().map((named) => named['id']);
    expect(new Set(ids)).toEqual(new Set([1, 2, 3, 9].map(uuid)));
    expect(ids).toHaveLength(4);
  });

  test('a target that cannot be read refuses what it has otherwise, and says which rows', async () => {
    const { target, id } = await importRows(talk);
    const blind: ImportTarget = {
      namespace: target.namespace,
      commit: (commit) => target.commit(commit),
      head: (conversationId) => target.head(conversationId),
    };
    const before = await target.rows(id);
    const report = await importClaudeCode(blind, bytesOf(jsonl(talk.slice(1, 5))));
    expect(report.refused.flatMap(({ lines }) => lines)).toEqual([3, 4]);
    expect(await target.rows(id)).toEqual(before);
  });
});

test('two stages of a file in which a later row moves earlier ones are one session, also imported at the same time', async () => {
  const rows = [
    write.user(0, 5, 'the last row is its parent'),
    write.user(1, 0, 'one'),
    { type: 'custom-title', customTitle: 'Title', sessionId: SESSION },
    write.system(3, 2, 'local_command', {}),
    write.user(4, 3, 'two'),
    write.user(5, 4, 'three'),
  ];
  for (let first = 1; first <= rows.length; first++) {
    for (let second = first; second <= rows.length; second++) {
      const target = new MemoryTarget();
      const ends = [first, second, rows.length];
      const all = await Promise.all(ends.map((end) => importRows(rows.slice(0, end), target)));
      expect(all.flatMap(({ report }) => report.refused)).toEqual([]);
      expect(await target.rows(all[2]?.id ?? '')).toEqual(sorted(rows));
    }
  }
});

test('a branch that grows while another one stands later in the file is the active one, and stays so', async () => {
  const rows = [
    write.user(1, null, 'one'),
    write.says(2, 1, 'm1', 'two'),
    write.user(3, 2, 'three'),
    write.says(4, 3, 'm2', 'four'),
    write.user(5, 2, 'three, asked again'),
    write.says(6, 5, 'm3', 'five'),
    write.says(7, 4, 'm4', 'four goes on'),
  ];
  const { target, id } = await importRows(rows.slice(0, 6));
  await importRows(rows, target);
  expect((await target.path(id)).map(inShort).at(-1)).toBe('assistant: four goes on');
  const before = await target.backend.feed('imports', 0, 1e6);
  await importRows(rows, target);
  expect(await target.backend.feed('imports', 0, 1e6)).toEqual(before);
});
