import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importClaudeCode, planClaudeCode } from './import.ts';
import {
  bytesOf,
  inShort,
  jsonl,
  MemoryTarget,
  SESSION,
  SessionWriter,
  sorted,
  uuid,
  withFiles,
} from './session.testkit.ts';

const write = new SessionWriter();
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } };

/** A session with all that a session has. */
const WHOLE = [
  { type: 'summary', summary: 'A title of old', leafUuid: uuid(2) },
  { type: 'file-history-snapshot', messageId: uuid(1), snapshot: { trackedFileBackups: {} }, isSnapshotUpdate: false },
  write.user(1, null, '<local-command-caveat>synthetic</local-command-caveat>', { isMeta: true }),
  write.user(2, 1, 'Read both files', { permissionMode: 'default' }),
  write.assistant(3, 2, 'msg_A', [{ type: 'thinking', thinking: 'two reads', signature: 'c2ln' }]),
  write.calls(4, 3, 'msg_A', 'toolu_1'),
  write.calls(5, 4, 'msg_A', 'toolu_2', { path: 'b.png' }),
  write.result(6, 4, 'toolu_1', 'int a;', { toolUseResult: { type: 'text', file: { content: 'int a;' } } }),
  { ...write.envelope(7, 5), type: 'progress', toolUseID: 'toolu_2', data: { type: 'hook_progress' } },
  write.result(8, 7, 'toolu_2', [image], { toolUseResult: { type: 'image', file: { base64: IMAGE } } }),
  write.says(9, 8, 'msg_B', 'Both read.'),
  write.system(10, 9, 'stop_hook_summary', { hookCount: 1 }),
  write.user(11, 10, [{ type: 'text', text: '[Request interrupted by user for tool use]' }]),
  write.user(12, 10, 'Refactor a.c (asked again)'),
  write.calls(13, 12, 'msg_C', 'toolu_3', { description: 'sub', prompt: 'look' }, 'Task'),
  write.system(14, 999, 'api_error', { error: { message: 'ECONNRESET' } }),
  write.user(15, 14, 'continue'),
  write.assistant(16, 15, 'api', [{ type: 'text', text: 'API Error: 400' }], { isApiErrorMessage: true }),
  write.boundary(17, 16, { preservedSegment: { headUuid: uuid(15), anchorUuid: uuid(18), tailUuid: uuid(16) } }),
  write.summary(18, 17, 'Summary: files were read.'),
  write.says(19, 18, 'msg_D', 'Continuing after compaction.'),
  write.user(15, 14, 'continue'),
  write.boundary(20, 998),
  write.summary(21, 20, 'Second summary.'),
  { type: 'custom-title', customTitle: 'Kiln refactor', sessionId: SESSION },
  { type: 'custom-title', customTitle: 'Kiln refactor', sessionId: SESSION },
  { type: 'last-prompt', lastPrompt: 'continue', leafUuid: uuid(21), sessionId: SESSION },
  { type: 'a-record-type-from-the-future', sessionId: SESSION, x: 1 },
];
const AGENT = [
  { ...write.user(101, null, 'look'), isSidechain: true, agentId: 'a1b2c3d' },
  { ...write.says(102, 101, 'msg_S', 'looked'), isSidechain: true, agentId: 'a1b2c3d' },
];
const FORK = 'f0000000-0000-4000-8000-00000000000b';
const fork = new SessionWriter(FORK);
const FORKED = [
  fork.user(1, null, '<local-command-caveat>synthetic</local-command-caveat>', {
    isMeta: true,
    forkedFrom: { sessionId: SESSION, messageUuid: uuid(1) },
  }),
  fork.user(2, 1, 'Read both files', {
    permissionMode: 'default',
    forkedFrom: { sessionId: SESSION, messageUuid: uuid(2) },
  }),
  fork.user(201, 2, 'fork goes elsewhere'),
];
const FOLDER = {
  [`-srv-kiln/${SESSION}.jsonl`]: jsonl(WHOLE),
  [`-srv-kiln/${SESSION}/subagents/agent-a1b2c3d.jsonl`]: jsonl(AGENT),
  [`-srv-kiln/${SESSION}/tool-results/toolu_9.txt`]: 'large output',
  [`-srv-kiln/${FORK}.jsonl`]: jsonl(FORKED),
};

async function importRows(rows: readonly unknown[], target = new MemoryTarget()) {
  const report = await importClaudeCode(target, bytesOf(jsonl(rows)));
  return { target, report, file: report.files[0], id: report.conversations[0]?.conversationId ?? '' };
}

describe('a session', () => {
  test('is accounted for to the last row', async () => {
    const { file, report } = await importRows(WHOLE);
    expect(file).toMatchObject({
      lines: 28,
      blank: 0,
      damaged: 0,
      records: 28,
      imported: 20,
      opaque: 6,
      repeated: 2,
      unusable: 0,
    });
    expect(file?.ids).toEqual({ withId: 22, imported: 18, opaque: 3, repeated: 1 });
    expect(file?.openCalls).toEqual([{ line: 15, callId: 'toolu_3', name: 'Task' }]);
    expect(file?.unknownTypes).toEqual({ 'a-record-type-from-the-future': 1 });
    expect(file?.notes.map(({ kind, id, about }) => [kind, id, about])).toEqual(
      [
        ['missing_parent', uuid(14), '999'],
        ['missing_logical_parent', uuid(20), '998'],
      ].map(([kind, id, about]) => [kind, id, uuid(Number(about))]),
    );
    expect(report.conversations[0]).toMatchObject({ turns: 5, summaries: 2, title: 'Kiln refactor', replayed: 0 });
    expect(report.refused).toEqual([]);
  });

  test('becomes turns: parallel results whole, the rewind a branch, each compaction a turn of its own', async () => {
    const { target, id } = await importRows(WHOLE);
    const graph = await target.graph(id);
    const at = (turn: string | null) => graph.findIndex(({ turnId }) => turnId === turn);
    expect(graph.map((turn) => [at(turn.parentTurnId), turn.parentMessageId !== null])).toEqual([
      [-1, false],
      [0, true],
      [1, false],
      [2, false],
      [3, false],
    ]);
    expect((await target.path(id)).map(inShort)).toEqual([
      'system: claude-code.summary, claude-code.file-history-snapshot',
      'user: <local-command-caveat>synthetic</local-command-caveat>',
      'user: Read both files',
      'assistant: two reads, call toolu_1, call toolu_2',
      'tool: result toolu_1',
      'tool: result toolu_2',
      'system: claude-code.progress',
      'assistant: Both read.',
      'system: claude-code.system',
      'user: Refactor a.c (asked again)',
      'assistant: call toolu_3',
      'system: claude-code.system',
      'user: continue',
      'system: API Error: 400',
      'system: Conversation compacted',
      'user: Summary: files were read.',
      'assistant: Continuing after compaction.',
      'system: Conversation compacted',
      'user: Second summary.',
      'system: claude-code.custom-title, claude-code.last-prompt, claude-code.a-record-type-from-the-future',
    ]);
    expect((await target.path(id, graph[0]?.turnId)).map(inShort)).toContain(
      'user: [Request interrupted by user for tool use]',
    );
  });

  test('keeps what each row was for', async () => {
    const { target, id } = await importRows(WHOLE);
    const messages = await target.path(id);
    const [caveat, , answer, , picture] = messages.slice(1);
    expect(caveat).toMatchObject({ role: 'user', visibility: 'model', occurredAt: '2026-05-04T10:00:01.000Z' });
    expect(answer).toMatchObject({ author: { id: 'claude-sonnet-4-6', kind: 'agent' }, finishReason: 'end_turn' });
    expect(answer?.parts[0]).toEqual({ type: 'reasoning', text: 'two reads', signature: 'c2ln' });
    expect(answer?.metadata).toMatchObject({
      ids: [{ id: uuid(3), parentId: uuid(2) }, { id: uuid(4) }, { id: uuid(5) }],
    });
    const file = { type: 'file', mediaType: 'image/png', source: { url: `data:image/png;base64,${IMAGE}` } };
    expect(picture?.parts).toEqual([{ type: 'tool_result', callId: 'toolu_2', status: 'ok', content: [file] }]);
    expect(messages.find((one) => inShort(one) === 'system: API Error: 400')).toMatchObject({
      visibility: 'user',
      author: { kind: 'system' },
    });
  });

  test('comes back row by row, equal', async () => {
    const { target, id } = await importRows(WHOLE);
    const repeated = [WHOLE.findLastIndex((row) => 'uuid' in row && row['uuid'] === uuid(15)), 25];
    expect(await target.rows(id)).toEqual(sorted(WHOLE.filter((_, at) => !repeated.includes(at))));
  });

  test('has its compactions as summaries that cover what the model no longer saw', async () => {
    const { target, id } = await importRows(WHOLE);
    const graph = await target.graph(id);
    const messages = await target.all(id);
    const covered = async (turn: number) => {
      const summary = await target.summary(id, graph[turn]?.turnId);
      const upTo = messages.find(({ messageId }) => messageId === summary?.upTo);
      return summary && upTo && [summary.text, inShort(upTo)];
    };
    expect(await covered(2)).toBeUndefined();
    // The first compaction left rows 15 and 16 in context.
    expect(await covered(3)).toEqual(['Summary: files were read.', 'system: claude-code.system']);
    expect(await covered(4)).toEqual(['Second summary.', 'assistant: Continuing after compaction.']);
  });
});

describe('a folder', () => {
  test('gives each session, its sub-agents with the call that started them, and its forks', async () => {
    await withFiles(FOLDER, async (folder) => {
      const target = new MemoryTarget();
      const report = await importClaudeCode(target, [folder]);
      expect(report.conversations).toHaveLength(3);
      expect(report.ignored).toEqual([
        { file: join(folder, `-srv-kiln/${SESSION}/tool-results/toolu_9.txt`), reason: 'not a session file (.jsonl)' },
      ]);
      const [main, agent, forked] = report.conversations.map(({ conversationId }) => conversationId) as [
        string,
        string,
        string,
      ];
      expect((await target.fields(agent))?.['metadata']).toMatchObject({
        agent: { agentId: 'a1b2c3d', parentConversationId: main, callId: 'toolu_3' },
      });
      expect((await target.fields(forked))?.['metadata']).toMatchObject({
        forkedFrom: { sessionId: SESSION, conversationId: main },
      });
      expect((await target.path(forked)).map(inShort)).toEqual([
        'user: <local-command-caveat>synthetic</local-command-caveat>',
        'user: Read both files',
        'user: fork goes elsewhere',
      ]);
    });
  });

  test('a file of a session brings its sub-agents in either layout', async () => {
    const beside = {
      [`p/${SESSION}.jsonl`]: jsonl(WHOLE),
      'p/agent-a1b2c3d.jsonl': jsonl(AGENT),
      'p/agent-other.jsonl': jsonl([{ ...FORKED[0], isSidechain: true, agentId: 'other' }]),
    };
    await withFiles(beside, async (folder) => {
      const report = await importClaudeCode(new MemoryTarget(), [join(folder, `p/${SESSION}.jsonl`)]);
      expect(report.files.map(({ file }) => file)).toEqual([
        join(folder, `p/${SESSION}.jsonl`),
        join(folder, 'p/agent-a1b2c3d.jsonl'),
      ]);
    });
    await withFiles(FOLDER, async (folder) => {
      const report = await importClaudeCode(new MemoryTarget(), [join(folder, `-srv-kiln/${SESSION}.jsonl`)]);
      expect(report.conversations).toHaveLength(2);
    });
  });

  test('side chains within a session file are conversations of their own', async () => {
    const mixed = [
      ...WHOLE.slice(0, 15),
      ...AGENT,
      { ...write.user(103, null, 'old'), isSidechain: true },
      ...WHOLE.slice(15),
    ];
    const { target, report, id } = await importRows(mixed);
    expect(report.conversations).toHaveLength(3);
    expect((await target.path(id)).map(inShort)).toEqual(
      (
        await (async () => {
          const alone = await importRows(WHOLE);
          return alone.target.path(alone.id);
        })()
      ).map(inShort),
    );
  });

  test('what is none of it is named, and what cannot be read', async () => {
    const other = '{"sessionId":"s","kind":"main"}\n{"id":"1","type":"user","content":"of another tool"}\n';
    const files = { 'chat.jsonl': other, 'history.jsonl': '{"display":"x","timestamp":1}\n', 'notes.txt': 'x' };
    await withFiles(files, async (folder) => {
      const report = await importClaudeCode(new MemoryTarget(), [folder, join(folder, 'none')]);
      expect(report.conversations).toEqual([]);
      expect(report.ignored.map(({ reason }) => reason)).toEqual([
        'not a session file (.jsonl)',
        'it holds no row of a Claude Code session',
        'it holds no row of a Claude Code session',
      ]);
      expect(report.unread).toEqual([{ file: join(folder, 'none'), reason: 'no such file or folder' }]);
    });
  });
});

describe('an import', () => {
  test('repeated changes nothing', async () => {
    await withFiles(FOLDER, async (folder) => {
      const target = new MemoryTarget();
      const first = await importClaudeCode(target, [folder]);
      const before = await target.backend.feed('imports', 0, 1e6);
      const again = await importClaudeCode(target, [folder]);
      expect(await target.backend.feed('imports', 0, 1e6)).toEqual(before);
      expect(again.conversations.every(({ commits, replayed }) => commits === replayed)).toBe(true);
      expect(again.refused).toEqual([]);
      expect(first.conversations.every(({ replayed }) => replayed === 0)).toBe(true);
    });
  });

  test('twice at the same time ends as once', async () => {
    await withFiles(FOLDER, async (folder) => {
      const alone = new MemoryTarget();
      await importClaudeCode(alone, [folder]);
      const target = new MemoryTarget();
      const reports = await Promise.all([1, 2, 3].map(() => importClaudeCode(target, [folder])));
      expect(reports.flatMap(({ refused }) => refused)).toEqual([]);
      expect(await target.backend.feed('imports', 0, 1e6)).toHaveLength(
        (await alone.backend.feed('imports', 0, 1e6)).length,
      );
      for (const { conversationId } of reports[0]?.conversations ?? []) {
        expect((await target.all(conversationId)).map(inShort)).toEqual((await alone.all(conversationId)).map(inShort));
      }
    });
  });

  test('is what its plan says', async () => {
    const plan = [];
    for await (const { commit } of planClaudeCode(bytesOf(jsonl(WHOLE)), { namespace: 'imports' })) plan.push(commit);
    const sent: unknown[] = [];
    const target = new MemoryTarget();
    const listening = {
      namespace: target.namespace,
      head: (id: string) => target.head(id),
      commit: (commit: unknown) => (sent.push(commit), target.commit(commit)),
    };
    await importClaudeCode(listening, bytesOf(jsonl(WHOLE)));
    expect(sent).toEqual(plan);
  });

  test('goes on where the reader went on', async () => {
    const { target, id } = await importRows(WHOLE.slice(0, 11));
    const record = { kind: 'turn.record', turnId: 'mine', origin: 'test' };
    await target.commit({ commitId: 'mine', namespace: 'imports', conversationId: id, changes: [record] });
    const { report } = await importRows(WHOLE, target);
    expect(report.refused).toEqual([]);
    expect((await target.graph(id)).map(({ turnId }) => turnId)).toContain('mine');
    expect(await target.rows(id)).toHaveLength(26);
  });

  test('stops at a signal, and goes on when it is sent again', async () => {
    const target = new MemoryTarget();
    const control = new AbortController();
    const stopped = importClaudeCode(target, bytesOf(jsonl(WHOLE)), {
      signal: control.signal,
      onProgress: ({ commits }) => commits === 3 && control.abort(),
    });
    await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
    expect(await target.backend.feed('imports', 0, 100)).toHaveLength(3);
    const { id, report } = await importRows(WHOLE, target);
    expect(report.conversations[0]?.replayed).toBe(3);
    expect(await target.rows(id)).toHaveLength(26);
  });

  test('of an erased conversation is refused, once and loudly', async () => {
    const { target, id } = await importRows(WHOLE);
    await target.commit({
      commitId: 'gone',
      namespace: 'imports',
      conversationId: id,
      changes: [{ kind: 'conversation.erase' }],
    });
    const { report } = await importRows(WHOLE, target);
    expect(report.refused).toMatchObject([{ conversationId: id, code: 'erased' }]);
  });
});

/** Whatever row a first import ended at, importing the whole file adds just the rest. */
test.each(WHOLE.map((_, at) => at).slice(1))('a file that grew after row %i', async (length) => {
  const { target } = await importRows(WHOLE.slice(0, length));
  await importRows(WHOLE.slice(0, Math.min(WHOLE.length, length + 3)), target);
  const { id, report } = await importRows(WHOLE, target);
  const repeated = [WHOLE.findLastIndex((row) => 'uuid' in row && row['uuid'] === uuid(15)), 25];
  expect(report.refused).toEqual([]);
  expect(await target.rows(id)).toEqual(sorted(WHOLE.filter((_, at) => !repeated.includes(at))));
  const messages = (await target.all(id)).map(inShort);
  expect(messages.filter((text) => text.startsWith('user:') || text.startsWith('tool:')).sort()).toEqual([
    'tool: result toolu_1',
    'tool: result toolu_2',
    'user: <local-command-caveat>synthetic</local-command-caveat>',
    'user: Read both files',
    'user: Refactor a.c (asked again)',
    'user: Second summary.',
    'user: Summary: files were read.',
    'user: [Request interrupted by user for tool use]',
    'user: continue',
  ]);
  expect((await target.path(id)).map(inShort)).toContain('user: Second summary.');
});

test.each([
  [
    'a piece of its message',
    2,
    [
      write.calls(1, null, 'msg_A', 'toolu_1'),
      write.user(2, 1, 'another way'),
      write.calls(3, null, 'msg_A', 'toolu_2'),
      write.user(4, 3, 'and on'),
    ],
  ],
  [
    'the result of its call',
    3,
    [
      write.calls(1, null, 'msg_A', 'toolu_1'),
      write.says(2, 1, 'msg_B', 'meanwhile'),
      write.user(3, 1, 'another way'),
      write.result(4, 1, 'toolu_1', 'late'),
    ],
  ],
])('a turn stays where it hangs when %s comes later', async (_, length, rows) => {
  const { target } = await importRows(rows.slice(0, length));
  const { id, report } = await importRows(rows, target);
  expect(report.refused).toEqual([]);
  expect(await target.rows(id)).toEqual(sorted(rows));
});

test('a session whose rows came to hang elsewhere as it grew is imported whole', async () => {
  const rows = [
    write.user(0, null, 'first'),
    write.system(1, 5, 'local_command', { content: 'under a row that came later' }),
    write.user(2, null, 'second'),
    write.calls(3, null, 'm', 'A'),
    write.result(4, 3, 'B', 'of another call'),
    write.says(5, null, 'm', 'answer'),
    write.summary(6, 5, 'what was said'),
    write.user(7, 6, 'third'),
  ];
  const { target } = await importRows(rows.slice(0, 2));
  const { id, report } = await importRows(rows, target);
  expect(report.refused).toEqual([]);
  expect(await target.rows(id)).toEqual(sorted(rows));
});
