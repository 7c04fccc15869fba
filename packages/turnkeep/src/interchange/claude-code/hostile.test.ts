import { describe, expect, test } from 'vitest';
import { bytesSource } from '../byte-source.ts';
import { importClaudeCode } from './import.ts';
import type { ImportOptions } from './given.ts';
import { readSessionFile } from './session-file.ts';
import { bytesOf, inShort, jsonl, MemoryTarget, SessionWriter, sorted, uuid } from './session.testkit.ts';

const write = new SessionWriter();

async function importText(file: string | Uint8Array, options: ImportOptions = {}) {
  const target = new MemoryTarget();
  const report = await importClaudeCode(target, bytesOf(file), options);
  const [one] = report.files;
  if (!one) throw new Error('a file has its report');
  expect(one.lines).toBe(one.blank + one.damaged + one.records - one.salvaged);
  expect(one.records).toBe(one.imported + one.opaque + one.repeated + one.unusable);
  expect(one.ids.withId).toBe(one.ids.imported + one.ids.opaque + one.ids.repeated);
  expect(report.refused).toEqual([]);
  const id = report.conversations[0]?.conversationId ?? '';
  return { target, report, id, file: one };
}

const talk = [
  write.user(1, null, 'one'),
  write.says(2, 1, 'm1', 'two'),
  write.user(3, 2, 'three'),
  write.says(4, 3, 'm2', 'four'),
];
const texts = ['user: one', 'assistant: two', 'user: three', 'assistant: four'];
const lines = talk.map((row) => JSON.stringify(row));

describe('damaged files', () => {
  test('byte order mark, CRLF, blanks, no last end', async () => {
    const { target, id, file } = await importText(
      `\ufeff${lines[0]}\r\n${lines[1]}\r\n\r\n  \r\n${lines[2]}\r\n${lines[3]}`,
    );
    expect((await target.path(id)).map(inShort)).toEqual(texts);
    expect(file).toMatchObject({ lines: 6, blank: 2, damaged: 0, salvaged: 0 });
    expect(await target.rows(id)).toEqual(sorted(talk));
  });

  test('a tail torn at every byte', async () => {
    const whole = Buffer.from(lines.join('\n'));
    const start = whole.length - Buffer.byteLength(lines[3] ?? '');
    for (let cut = start + 1; cut < whole.length; cut += 7) {
      const { target, id, file } = await importText(whole.subarray(0, cut));
      expect((await target.path(id)).map(inShort)).toEqual(texts.slice(0, 3));
      expect(file.damage).toMatchObject([{ line: 4, byte: start, kind: 'torn_tail', bytes: cut - start }]);
    }
  });

  test('a record glued behind a torn one, zero bytes, a broken first line', async () => {
    const torn = JSON.stringify(write.user(9, 2, 'never finis')).slice(0, -4);
    const { target, id, file } = await importText(
      `{"type":"us\n${lines[0]}\n${'\0'.repeat(300)}${lines[1]}\n${torn}${lines[2]}\n${lines[3]}\n`,
    );
    expect((await target.path(id)).map(inShort)).toEqual(texts);
    expect(file.damage.map(({ line, kind }) => [line, kind])).toEqual([
      [1, 'not_json'],
      [3, 'nul_run'],
      [4, 'glued'],
    ]);
    expect(file).toMatchObject({ damaged: 3, salvaged: 2, records: 4 });
  });

  test('bytes that are not UTF-8', async () => {
    const bad = Buffer.concat([Buffer.from(JSON.stringify(write.user(3, 2, 'a#b')).replace('#', '\u0001'))]);
    bad[bad.indexOf(1)] = 0xff;
    const file = Buffer.concat([Buffer.from(`${lines[0]}\n${lines[1]}\n`), bad, Buffer.from(`\n${lines[3]}\n`)]);
    const refused = await importText(file);
    expect(refused.file.damage).toMatchObject([{ line: 3, kind: 'invalid_utf8', bytes: bad.length }]);
    expect(refused.file.notes).toMatchObject([{ kind: 'missing_parent', line: 4 }]);
    const replaced = await importText(file, { invalidUtf8: 'replace' });
    expect((await replaced.target.path(replaced.id)).map(inShort)).toEqual([
      'user: one',
      'assistant: two',
      'user: a\ufffdb',
      'assistant: four',
    ]);
    expect(replaced.file.damage).toMatchObject([{ line: 3, kind: 'invalid_utf8', bytes: 0 }]);
  });

  test('JSON that is no record, and records that are none of the tool', async () => {
    const odd = [
      'null',
      '42',
      '"str"',
      '[]',
      '{}',
      '{"uuid":null}',
      '{"uuid":7,"type":3}',
      '{"uuid":""}',
      '{"type":"user","uuid":"u1"}',
      '{"type":"user","uuid":"u2","message":"text"}',
    ];
    const { target, id, file } = await importText([...lines, ...odd].join('\n'));
    expect(file).toMatchObject({ unusable: 4, opaque: 6, imported: 4 });
    expect(file.damage.map(({ kind, line }) => [kind, line])).toEqual(
      [5, 6, 7, 8].map((line) => ['not_a_record', line]),
    );
    expect(await target.rows(id)).toEqual(sorted([...talk, ...odd.slice(4).map((text): unknown => JSON.parse(text))]));
  });

  test('nothing at all', async () => {
    for (const file of ['', '\n\n', '\ufeff', '\0\0\0']) {
      const { report } = await importText(file);
      expect(report.conversations).toEqual([]);
      expect(report.ignored).toHaveLength(1);
    }
  });
});

describe('values', () => {
  test('come back as they are: separators, NUL, surrogates, keys of JavaScript', async () => {
    const text = 'a\u2028b\u2029c\u0085d\u0000e\\u0000 \ud83d… \udd25 🔥';
    const input = JSON.parse(
      '{"__proto__":{"x":1},"constructor":2,"k\\u0000":"\\ud83d","toString":null,"a":-0,"b":19.90,"c":5e-324}',
    ) as { [key: string]: null };
    const rows = [
      write.user(1, null, text),
      write.calls(2, 1, 'm', 'call', input, '__proto__'),
      write.result(3, 2, 'call', text),
    ];
    const { target, id, file } = await importText(jsonl(rows));
    expect(await target.rows(id)).toEqual(sorted(JSON.parse(JSON.stringify(rows)) as unknown[]));
    const [prompt, call, result] = await target.path(id);
    expect(prompt?.parts).toEqual([{ type: 'text', text }]);
    expect(JSON.stringify(call?.parts[0])).toContain('"__proto__":{"x":1}');
    expect(result?.parts).toMatchObject([{ type: 'tool_result', output: text }]);
    expect(file.notes).toEqual([]);
  });

  test('a number that JavaScript would round is kept as text, wherever it stands', async () => {
    const numbers =
      '{"id":2512292042121000001,"max":9007199254740993,"huge":1e400,"dec":0.10000000000000000555,"price":19.90}';
    const call = JSON.stringify(write.calls(2, 1, 'm', 'call', 'NUMBERS')).replace('"NUMBERS"', numbers);
    const result = JSON.stringify(write.result(3, 2, 'call', 'done', { toolUseResult: 'NUMBERS' })).replace(
      '"NUMBERS"',
      numbers,
    );
    const side = `{"type":"queue-operation","sessionId":"s","n":${numbers}}`;
    const { target, id, file } = await importText([lines[0], call, result, side].join('\n'));
    expect(file.notes.filter(({ kind }) => kind === 'inexact_number')).toHaveLength(12);
    const messages = await target.path(id);
    expect(messages[1]?.parts).toEqual([{ type: 'tool_call', callId: 'call', name: 'Read', inputText: numbers }]);
    expect(messages[2]).toMatchObject({
      parts: [{ type: 'tool_result', output: 'done' }],
      metadata: { rows: [{ text: result }] },
    });
    expect(messages[3]?.parts).toEqual([{ type: 'opaque', kind: 'claude-code.row_text', value: side }]);
  });

  test('a key that stands twice, and nesting without end, are kept as text', async () => {
    const twice = JSON.stringify(write.user(3, 2, 'three')).replace('"cwd"', '"cwd":"first","cwd"');
    const deep = JSON.stringify(write.calls(4, 3, 'm2', 'call', 'DEEP')).replace(
      '"DEEP"',
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    );
    const { target, id, file } = await importText([lines[0], lines[1], twice, deep].join('\n'));
    expect(file.notes.map(({ kind }) => kind)).toEqual(['repeated_key', 'too_deep']);
    const [, , prompt, call] = await target.path(id);
    expect(prompt).toMatchObject({ parts: [{ type: 'text', text: 'three' }], metadata: { rows: [{ text: twice }] } });
    expect(call?.parts).toMatchObject([{ type: 'tool_call', callId: 'call' }]);
    expect(call?.parts[0]).toHaveProperty('inputText');
  });

  test('ids that cannot be ids of ours, and blocks with members of their own', async () => {
    const odd = ['', 'a\u0000b', 'x'.repeat(600), '\ud83d', 'ok'].map((callId, at) => [
      write.assistant(10 + 3 * at, at === 0 ? null : 9 + 3 * at, `m${at}`, [
        { type: 'tool_use', id: callId, name: 'T', input: {}, caller: { type: 'direct' } },
      ]),
      write.user(11 + 3 * at, 10 + 3 * at, [
        {
          type: 'tool_result',
          tool_use_id: callId,
          content: [{ type: 'tool_reference', tool_name: 'x' }],
          is_error: false,
          cache_control: null,
        },
      ]),
      write.assistant(12 + 3 * at, 11 + 3 * at, `n${at}`, [
        { type: 'text', text: 't', citations: null },
        { type: 'server_tool_use', id: 's', name: 'web', input: {} },
        { type: 'redacted_thinking', data: 'x' },
      ]),
    ]);
    const rows = odd.flat();
    const { target, id, file } = await importText(jsonl(rows));
    expect(await target.rows(id)).toEqual(sorted(rows));
    // The parts themselves give the rows back: none is kept beside as text.
    for (const { metadata } of await target.path(id)) expect(JSON.stringify(metadata)).not.toContain('"text"');
    expect(file.openCalls).toEqual([]);
  });
});

describe('chains', () => {
  test('a uuid that comes again equal is repeated, with other content it is kept apart; a map of the last ones would loop', async () => {
    const rows = [
      write.user(1, 100, 'same'),
      write.user(2, 1, 'q'),
      { ...write.user(1, 2, 'same') },
      write.user(2, 1, 'q'),
      write.user(3, 2, 'one'),
      write.user(3, 2, 'two'),
    ];
    const { target, id, file } = await importText(jsonl(rows));
    expect(file.repeated).toBe(1);
    expect(file.notes.filter(({ kind }) => kind === 'variant').map(({ line }) => line)).toEqual([3, 6]);
    expect(await target.rows(id)).toEqual(sorted(rows.filter((_, at) => at !== 3)));
    expect((await target.graph(id)).length).toBe(5);
  });

  test('a uuid with other content is kept apart where a number, a key that stands twice or the depth is all that differs', async () => {
    const row = (value: string) => JSON.stringify(write.user(2, 1, 'q', { n: 'VALUE' })).replace('"VALUE"', value);
    const deep = (inner: string) => `${'['.repeat(300)}${inner}${']'.repeat(300)}`;
    const values = [
      '9007199254740992',
      '9007199254740993',
      '1e400',
      '1e401',
      '{"a":2}',
      '{"a":1,"a":2}',
      deep('1'),
      deep('2'),
    ];
    const texts = [...values, ...values].map(row);
    const { file } = await importText([lines[0], ...texts].join('\n'));
    expect(file).toMatchObject({ repeated: 8, imported: 9 });
    expect(file.notes.filter(({ kind }) => kind === 'variant')).toHaveLength(7);
  });

  test('one uuid with other content each time is read in a time that grows with the file', async () => {
    const rows = Array.from({ length: 2_000 }, (_, at) => write.user(1, null, `t${at}`));
    let reads = 0;
    const data = Buffer.from(jsonl(rows));
    const source = bytesSource('variants', data);
    const slice = (byte: number, bytes: number) => {
      reads += 1;
      return source.slice(byte, bytes);
    };
    const { rows: found } = await readSessionFile({ ...source, slice }, undefined, {});
    expect([found.length, reads]).toEqual([2_000, 1]);
  });

  test('ids that differ in a lone surrogate name two rows and two agents', async () => {
    const [first, second] = ['x\ud83d', 'x\ud83e'];
    const rows = [
      write.user(1, null, 'q'),
      { ...write.user(2, 1, 'a'), uuid: first },
      { ...write.user(3, 1, 'b'), uuid: second },
    ];
    const { target, id } = await importText(jsonl(rows));
    expect(await target.rows(id)).toEqual(sorted(rows));
    const agents = [first, second].map((agentId, at) => ({
      ...write.user(at, null, `t${at}`),
      isSidechain: true,
      agentId,
    }));
    const { report } = await importText(jsonl(agents));
    expect(new Set(report.conversations.map(({ conversationId }) => conversationId)).size).toBe(2);
  });

  test('an import of what a second compaction appended again adds nothing', async () => {
    const target = new MemoryTarget();
    await importClaudeCode(target, bytesOf(jsonl(talk)));
    const before = await target.backend.feed('imports', 0, 100);
    const report = await importClaudeCode(target, bytesOf(jsonl([...talk, ...talk])));
    expect(report.files[0]).toMatchObject({ repeated: 4 });
    expect(await target.backend.feed('imports', 0, 100)).toEqual(before);
  });

  test.each<[string, (number | null)[], string[]]>([
    ['a parent that is the row itself', [null, 1, 3, 3], ['self_parent']],
    ['a loop of two', [null, 3, 2, 3], ['cyclic_parent']],
    ['a loop from the first row', [2, 3, 1, 3], ['cyclic_parent']],
    ['a loop that only a later row leads into', [null, 3, 4, 3], ['cyclic_parent']],
    ['a loop that is entered at its middle', [4, null, 4, 3], ['cyclic_parent']],
    ['parents that stand later', [4, 1, 2, null], []],
    [
      'parents that are not there',
      [90, 91, 92, 93],
      ['missing_parent', 'missing_parent', 'missing_parent', 'missing_parent'],
    ],
    ['children before parents', [2, 3, 4, null], []],
  ])('%s', async (_, parents, kinds) => {
    const rows = parents.map((parent, at) =>
      at % 2 === 0 ? write.user(at + 1, parent, `t${at}`) : write.says(at + 1, parent, `m${at}`, `t${at}`),
    );
    const { target, id, file } = await importText(jsonl(rows));
    expect(file.notes.map(({ kind }) => kind)).toEqual(kinds);
    expect(await target.rows(id)).toEqual(sorted(rows));
  });

  test('a loop through the logical parent ends', async () => {
    const rows = [write.boundary(1, 2), write.summary(2, 1, 'summary'), write.says(3, 2, 'm', 'on')];
    const { target, id, file } = await importText(jsonl(rows));
    expect(file.notes.map(({ kind }) => kind)).toEqual(['cyclic_parent', 'summary_without_prefix']);
    expect(await target.rows(id)).toEqual(sorted(rows));
  });

  test('5,000 rows with 22 parents that were never written are one path in the order of the file', async () => {
    const rows = Array.from({ length: 5_000 }, (_, at) => {
      const parent = at === 0 ? null : at % 227 === 0 ? 100_000 + at : at;
      return at % 4 === 0 ? write.user(at + 1, parent, `t${at}`) : write.says(at + 1, parent, `m${at}`, `t${at}`);
    });
    const { target, id, file } = await importText(jsonl(rows));
    expect(file.notes).toHaveLength(22);
    const path = (await target.path(id)).map(({ parts }) => (parts[0]?.type === 'text' ? parts[0].text : ''));
    expect(path).toEqual(rows.map((_, at) => `t${at}`));
  });

  test('two writers that went on from one row are two branches, and neither holds a row of the other', async () => {
    const rows = [write.user(1, null, 'start'), write.says(2, 1, 'm', 'shared')];
    for (let at = 0; at < 10; at++) {
      rows.push(write.user(10 + at, at === 0 ? 2 : 9 + at, `a${at}`));
      rows.push(write.user(50 + at, at === 0 ? 2 : 49 + at, `b${at}`));
    }
    const { target, id } = await importText(jsonl(rows));
    const graph = await target.graph(id);
    const leaves = graph.filter(({ turnId }) => !graph.some(({ parentTurnId }) => parentTurnId === turnId));
    const paths = await Promise.all(
      leaves.map(async ({ turnId }) => (await target.path(id, turnId)).map(inShort).join()),
    );
    expect(paths).toHaveLength(2);
    expect(paths[0]).not.toContain('b');
    expect(paths[1]).not.toMatch(/: a\d/);
  });

  test('an answer that was tried again is a branch within the turn', async () => {
    const rows = [
      write.user(1, null, 'q'),
      write.says(2, 1, 'm1', 'first'),
      write.says(3, 1, 'm2', 'second'),
      write.user(4, 3, 'on'),
    ];
    const { target, id } = await importText(jsonl(rows));
    expect((await target.path(id)).map(inShort)).toEqual(['user: q', 'assistant: second', 'user: on']);
  });
});

describe('tools', () => {
  test('results in any order, a call id that is used again, an open call, a result without a call', async () => {
    const rows = [
      write.user(1, null, 'q'),
      write.calls(2, 1, 'm1', 'A'),
      write.calls(3, 2, 'm1', 'B'),
      write.result(4, 3, 'B', 'b'),
      write.result(5, 2, 'A', 'a'),
      write.assistant(6, 4, 'm2', [
        { type: 'text', text: 'mid' },
        { type: 'tool_use', id: 'C', name: 'Read', input: {} },
      ]),
      write.user(7, 6, 'interrupt before C returned'),
      write.calls(8, 7, 'm3', 'A'),
      write.result(9, 8, 'A', 'again'),
      write.result(10, 9, 'Z', 'orphan'),
      write.says(11, 10, 'm4', 'end'),
      write.result(12, 9, 'A', 'twice'),
    ];
    const { target, id, file } = await importText(jsonl(rows));
    expect((await target.path(id)).map(inShort)).toEqual([
      'user: q',
      'assistant: call A, call B',
      'tool: result B',
      'tool: result A',
      'assistant: mid, call C',
      'user: interrupt before C returned',
      'assistant: call A',
      'tool: result A',
      'tool: claude-code.tool_result',
      'tool: claude-code.tool_result',
      'assistant: end',
    ]);
    expect(file.openCalls).toMatchObject([{ callId: 'C', line: 6 }]);
    expect(file.notes.map(({ kind, about }) => [kind, about])).toEqual([
      ['orphan_result', 'Z'],
      ['second_result', 'A'],
    ]);
    expect(await target.rows(id)).toEqual(sorted(rows));
  });

  test('a result that comes after the next prompt stands with its call', async () => {
    const early = [
      write.user(1, null, 'q'),
      write.calls(2, 1, 'm1', 'A'),
      write.user(3, 2, 'next'),
      write.says(4, 3, 'm2', 'ok'),
    ];
    const rows = [...early, write.result(5, 2, 'A', 'late')];
    const expected = ['user: q', 'assistant: call A', 'tool: result A', 'user: next', 'assistant: ok'];
    const { target, id } = await importText(jsonl(rows));
    expect((await target.path(id)).map(inShort)).toEqual(expected);
    const grown = new MemoryTarget();
    await importClaudeCode(grown, bytesOf(jsonl(early)));
    await importClaudeCode(grown, bytesOf(jsonl(rows)));
    expect((await grown.path(id)).map(inShort)).toEqual(expected);
    expect(await grown.graph(id)).toHaveLength(2);
  });

  test.each([
    ["The user doesn't want to proceed with this tool use. The tool use was rejected.", true, 'denied'],
    ['[Request interrupted by user for tool use]', true, 'interrupted'],
    ['exit code 1', true, 'error'],
    ['fine', undefined, 'ok'],
  ])('%s: %s is %s', async (content, isError, status) => {
    const block = { type: 'tool_result', tool_use_id: 'A', content, ...(isError ? { is_error: true } : {}) };
    const rows = [write.user(1, null, 'q'), write.calls(2, 1, 'm', 'A'), write.user(3, 2, [block])];
    const { target, id } = await importText(jsonl(rows));
    expect((await target.path(id))[2]?.parts).toMatchObject([{ status }]);
    expect(await target.rows(id)).toEqual(sorted(rows));
  });
});

describe('compactions', () => {
  test('an empty summary covers nothing, a second one with nothing new neither; no message is lost', async () => {
    const rows = [
      ...talk,
      write.boundary(5, 4),
      write.summary(6, 5, ' \n '),
      write.says(7, 6, 'm3', 'five'),
      write.boundary(8, 7),
      write.summary(9, 8, 'real'),
      write.boundary(10, 7),
      write.summary(11, 10, 'pressed twice'),
      write.boundary(12, 11),
      write.says(13, 12, 'm4', 'six'),
    ];
    const { target, id, file, report } = await importText(jsonl(rows));
    expect(file.notes.map(({ kind, id: row }) => [kind, row])).toEqual([
      ['empty_summary', uuid(6)],
      ['boundary_without_summary', uuid(12)],
    ]);
    expect(report.conversations[0]?.summaries).toBe(2);
    expect(await target.rows(id)).toEqual(sorted(rows));
    expect(await target.summary(id)).toMatchObject({ text: 'pressed twice' });
  });

  test('a summary whose compaction left everything in context covers no more than the last', async () => {
    const rows = [
      ...talk,
      write.boundary(5, 4),
      write.summary(6, 5, 'first'),
      write.boundary(7, 6, { preservedSegment: { headUuid: uuid(5) } }),
      write.summary(8, 7, 'second'),
    ];
    const { target, id, file } = await importText(jsonl(rows));
    expect(file.notes.map(({ kind }) => kind)).toEqual(['summary_not_longer']);
    expect(await target.summary(id)).toMatchObject({ text: 'first' });
  });

  test('a fork after a compaction has the same summary as its parent', async () => {
    const rows = [
      ...talk,
      write.boundary(5, 4),
      write.summary(6, 5, 'sum'),
      write.user(7, 6, 'a'),
      write.user(8, 6, 'b'),
      write.says(9, 7, 'x', 'more'),
    ];
    const { target, id } = await importText(jsonl(rows));
    const graph = await target.graph(id);
    for (const turn of graph.slice(2)) expect(await target.summary(id, turn.turnId)).toMatchObject({ text: 'sum' });
    expect(await target.summary(id, graph[1]?.turnId)).toBeUndefined();
  });
});

describe('names', () => {
  test.each<[string, string]>([
    ['nests without end', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['is a number beyond the range', '1e400'],
    ['is a long text', JSON.stringify('x'.repeat(5_000))],
  ])(
    'what a fork says of itself and %s stays in its row, and the conversation is told without it',
    async (_, value) => {
      const [first = ''] = lines;
      const forked = JSON.stringify({
        ...(JSON.parse(first) as object),
        cwd: 'CWD',
        forkedFrom: { sessionId: 'of', odd: 'ODD' },
      })
        .replace('"CWD"', value)
        .replace('"ODD"', value);
      const { target, id } = await importText([forked, ...lines.slice(1)].join('\n'));
      expect(await target.fields(id)).toMatchObject({
        metadata: { version: '2.1.144', forkedFrom: { sessionId: 'of' } },
        origin: { kind: 'import' },
      });
      expect(JSON.stringify(await target.fields(id))).not.toMatch(/odd|CWD/);
    },
  );

  test('a title that the user gave goes before the newest of the tool, whatever its place', async () => {
    const titles = [
      { type: 'summary', summary: 'of another file', leafUuid: uuid(999) },
      { type: 'custom-title', customTitle: 'mine' },
      { type: 'ai-title', aiTitle: 'made' },
    ];
    const { target, id, file } = await importText(jsonl([...titles, ...talk]));
    expect(await target.fields(id)).toMatchObject({ title: 'mine', titleSource: 'user' });
    expect(file.notes).toMatchObject([{ kind: 'foreign_summary', about: uuid(999) }]);
    const auto = await importText(jsonl([titles[2], ...talk]));
    expect(await auto.target.fields(auto.id)).toMatchObject({ title: 'made', titleSource: 'auto' });
  });

  test('rows that another session wrote keep its name and are told', async () => {
    const rows = [...talk.map((row) => ({ ...row, sessionId: 'old' })), write.user(5, 4, 'mine')];
    const { target, id, file } = await importText(jsonl(rows));
    expect(file.sessionId).toBe(write.user(0, null, '')['sessionId']);
    expect(file.notes).toMatchObject([{ kind: 'foreign_session', line: 1, about: 'old: 4 rows' }]);
    expect(await target.rows(id)).toEqual(sorted(rows));
  });
});
