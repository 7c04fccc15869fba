import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { cli, endOf, startCli, temporaryFolder } from './cli.testkit.ts';
import { EXIT } from './exit-codes.ts';

const SESSION = '00000000-0000-4000-8000-00000000000a';

/** A session of one question and one answer. */
function sessionLines(): string[] {
  const row = (uuid: string, parentUuid: string | null, type: string, content: unknown) =>
    JSON.stringify({
      type,
      uuid,
      parentUuid,
      sessionId: SESSION,
      timestamp: '2026-01-05T14:03:00.000Z',
      cwd: '/srv',
      version: '2.1.0',
      isSidechain: false,
      message: { role: type, content },
    });
  return [
    row('00000000-0000-4000-8000-000000000001', null, 'user', 'What is the tide?'),
    row('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001', 'assistant', [
      { type: 'text', text: 'High at noon.' },
    ]),
  ];
}

function sessionFile(folder: string, lines: readonly string[]): string {
  const file = join(folder, `${SESSION}.jsonl`);
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
}

test.each(['sqlite:', 'journal:'])(
  'a session is imported once, and a second time it is there already: %s',
  async (scheme) => {
    const folder = temporaryFolder();
    const store = ['--store', `${scheme}${join(folder, 'store.db')}`];
    const file = sessionFile(folder, sessionLines());
    const first = await cli(['import', file, ...store]);
    expect(first).toMatchObject({ code: EXIT.ok, stderr: '' });
    expect(first.stdout).toContain('1 turn, 2 messages');
    const { stdout } = await cli(['ls', '--json', ...store]);
    const { conversations } = JSON.parse(stdout) as { conversations: { conversationId: string }[] }; // our own output
    const shown = await cli(['show', conversations[0]?.conversationId ?? '', ...store]);
    expect(shown.stdout).toMatch(/What is the tide\?[^]*High at noon\./);
    const again = await cli(['import', folder, ...store]);
    expect(again.code).toBe(EXIT.ok);
    expect(again.stdout).toContain('all of it there already');
    expect((await cli(['ls', '--json', ...store])).stdout).toBe(stdout);
  },
);

test('an older copy of a session that has grown is there already', async () => {
  const folder = temporaryFolder();
  const store = ['--store', `sqlite:${join(folder, 'store.db')}`];
  await cli(['import', sessionFile(folder, sessionLines()), ...store]);
  const { code, stdout } = await cli(['import', sessionFile(folder, sessionLines().slice(0, 1)), ...store]);
  expect(code).toBe(EXIT.ok);
  expect(stdout).toContain('all of it there already');
});

test('a damaged file is imported as far as it is whole, and the damage is told with its place', async () => {
  const folder = temporaryFolder();
  const store = ['--store', `sqlite:${join(folder, 'store.db')}`];
  const [question = '', answer = ''] = sessionLines();
  const file = sessionFile(folder, [question, '{"type":"user","uuid":', answer]);
  const { code, stdout } = await cli(['import', file, ...store]);
  expect(code).toBe(EXIT.damage);
  expect(stdout).toContain('1 turn, 2 messages');
  expect(stdout).toMatch(new RegExp(`line 2, byte ${question.length + 1}: not_json`));
  const json = await cli(['import', file, '--json', '--store', 'memory:']);
  expect(json).toMatchObject({ code: EXIT.damage, stderr: '' });
  expect(JSON.parse(json.stdout)).toMatchObject({
    files: [{ file, damaged: 1, damage: [{ line: 2, kind: 'not_json' }] }],
  });
});

test('a folder without a session and a file of another kind are 3', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'empty'));
  const { code, stdout } = await cli(['import', join(folder, 'empty'), '--store', 'memory:']);
  expect(code).toBe(EXIT.notFound);
  expect(stdout).toContain('no session of Claude Code was found');
  for (const text of ['{"a":1}\n', 'Dear diary,\nno JSON here\n', '', '\u0000\u0001', '[]\n']) {
    const other = join(folder, 'other.jsonl');
    writeFileSync(other, text);
    expect((await cli(['import', other, '--store', 'memory:'])).code).toBe(EXIT.notFound);
    const beside = await cli(['import', other, sessionFile(folder, sessionLines()), '--store', 'memory:']);
    expect(beside.code).toBe(EXIT.notFound);
  }
});

test('a session comes by standard input, alone', async () => {
  const store = ['--store', `sqlite:${join(temporaryFolder(), 'store.db')}`];
  const child = startCli(['import', '-', ...store], {}, 'pipe');
  child.stdin?.end(sessionLines().join('\n'));
  const { code, stdout } = await endOf(child);
  expect(code).toBe(EXIT.ok);
  expect(stdout).toContain('1 turn, 2 messages');
  expect((await cli(['import', '-', 'other.jsonl', ...store])).code).toBe(EXIT.usage);
});

test('what is compressed or in another encoding is told so, without its places', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a.jsonl'), gzipSync(sessionLines().join('\n')));
  writeFileSync(join(folder, 'b.jsonl'), Buffer.from(`\ufeff${sessionLines().join('\n')}`, 'utf16le'));
  const { code, stdout } = await cli(['import', folder, '--store', 'memory:']);
  expect(code).toBe(EXIT.notFound);
  expect(stdout).toContain('a.jsonl: it holds no row of a Claude Code session: it is compressed');
  expect(stdout).toContain('b.jsonl: it holds no row of a Claude Code session: it is text in UTF-16');
  expect(stdout).not.toContain('line 1,');
});

test('a session file in a folder of which nothing is whole is damage', async () => {
  const folder = temporaryFolder();
  sessionFile(folder, sessionLines());
  writeFileSync(join(folder, 'torn.jsonl'), '{"type":"user","uuid":"1","mess');
  expect((await cli(['import', folder, '--store', 'memory:'])).code).toBe(EXIT.damage);
});

test('the demonstration runs on the bundled session and fits a screen', async () => {
  const { code, stdout, stderr } = await cli(['demo']);
  expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: '' });
  expect(stdout).not.toContain('✗');
  expect(stdout).toMatch(/✓ (\d+) of \1 acknowledged commits are there/);
  expect(stdout.split('\n').length).toBeLessThan(40);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
  for (const words of ['SIGKILL', '0 in part', '◀ active leaf', 'integrity_check ok']) {
    expect(stdout).toContain(words);
  }
});

test('the demonstration goes on over damage, and keeps a store that is named', async () => {
  const folder = temporaryFolder();
  const store = ['--store', `sqlite:${join(folder, 'demo.db')}`];
  const file = sessionFile(folder, ['{"broken', ...sessionLines()]);
  const human = await cli(['demo', file, ...store]);
  expect(human.code).toBe(EXIT.ok);
  expect(human.stdout).toContain('! line 1 is damaged');
  const { code, stdout } = await cli(['demo', file, '--json', ...store]);
  expect(code).toBe(EXIT.ok);
  const told = JSON.parse(stdout) as { continued: { conversationId: string }; proof: object }; // our own output
  expect(told).toMatchObject({
    continued: { isNew: false },
    proof: { inPart: 0, holds: true, verify: { faults: [] } },
  });
  const tasks = await cli(['tasks', told.continued.conversationId, '--json', ...store]);
  const { tasks: found } = JSON.parse(tasks.stdout) as { tasks: { status: string }[] }; // our own output
  expect(found.map(({ status }) => status).toSorted()).toEqual(['running', 'superseded']);
});

test('the demonstration stands on a conversation of its own where nothing can be imported', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'noise.jsonl');
  writeFileSync(file, '\u0000\u0001 no session\n');
  const { code, stdout } = await cli(['demo', file]);
  expect(code).toBe(EXIT.ok);
  expect(stdout).toContain('nothing from noise.jsonl: 1 line');
  expect(stdout).toContain('a new conversation stands in');
});
