import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ERRORS } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import { openLedger } from '../ledger/open.ts';
import { cli, endOf, fillKiln, startCli, storeWith, temporaryFolder, textParts } from './cli.testkit.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { failureOf } from './failure.ts';

const COMMANDS =
  'import ls show tree search tasks interrupts answer memories usage attachment erase verify maintain doctor demo'.split(
    ' ',
  );

test('help of the program and of every command ends well and shows an example', async () => {
  const all = await cli(['--help']);
  expect(all).toMatchObject({ code: 0, stderr: '' });
  for (const command of COMMANDS) {
    expect(all.stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    const { code, stdout } = await cli([command, '--help']);
    expect(code).toBe(0);
    for (const piece of ['--store', '--namespace', '--json', `turnkeep ${command}`]) expect(stdout).toContain(piece);
    expect(stdout).toMatch(/^Examples?:$/m);
  }
  expect((await cli(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('docs/cli.md has every command and every exit code', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/cli.md'), 'utf8');
  for (const command of COMMANDS) expect(page).toContain(`\`turnkeep ${command}`);
  const documented = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(documented).toEqual(Object.values(EXIT));
});

test.each([
  [['lss'], "unknown command 'lss' (Did you mean ls?)"],
  [['ls', '--limt', '3'], 'Did you mean --limit?'],
  [['ls', '--limit', 'many'], '--limit: expected a whole number from 1 on'],
  [['ls', '--limit', '0'], '--limit: expected a whole number from 1 on'],
  [['ls', '--order', 'size'], '--order: expected one of activity, created'],
  [['ls', 'extra'], 'too many arguments'],
  [['show'], "missing required argument 'conversation'"],
  [['ls', '--store', 'nosuch:place'], '--store: a store is memory:, sqlite:FILE, journal:DIRECTORY or postgres:'],
  [['ls', '--store', 'memory:', '--namespace', '..'], 'a namespace is 1 to 128'],
  [['ls', '--store', 'memory:', '--limit', '1001'], 'pageRows'],
  [['ls', '--store', 'memory:', '--after', 'x'], 'Start again without --after'],
  [['show', 'a\u001b[31mb', '--store', 'memory:'], 'an id has no control characters'],
  [['import', 'no-such-file'], 'no-such-file: there is no such file or folder'],
  [['demo', '--store', 'memory:'], 'outlives a process'],
] as const)('a wrong command line is 2: %j', async (args, says) => {
  const human = await cli(args);
  expect(human).toMatchObject({ code: EXIT.usage, stdout: '' });
  expect(human.stderr).toContain(says);
  expect(human.stderr).toMatch(/^turnkeep: .*\[\w+\].*\n$/);
  const { code, stdout, stderr } = await cli([...args, '--json']);
  expect({ code, stdout }).toEqual({ code: EXIT.usage, stdout: '' });
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: expect.any(String) as string, details: {}, retry: expect.any(String) as string },
  });
});

test('a store that is none is told by where it was named, and not repeated: it may hold a password', async () => {
  const { code, stderr } = await cli(['ls'], { TURNKEEP_STORE: 'postgress://ann:secret@db/x' });
  expect(code).toBe(EXIT.usage);
  expect(stderr).toContain('$TURNKEEP_STORE: a store is memory:, sqlite:FILE');
  expect(stderr).not.toContain('secret');
});

test('no command at all is 2, with the help', async () => {
  const { code, stdout } = await cli([]);
  expect(code).toBe(EXIT.usage);
  expect(stdout).toContain('Usage: turnkeep');
});

test('what is not there is 3, with the way to what is', async () => {
  const store = await storeWith(fillKiln);
  for (const command of ['show', 'tree', 'tasks']) {
    const { code, stdout, stderr } = await cli([command, 'nobody', '--store', store]);
    expect({ code, stdout }).toEqual({ code: EXIT.notFound, stdout: '' });
    expect(stderr).toContain('turnkeep ls shows the conversations');
  }
  expect((await cli(['show', 'kiln', '--leaf', 'nowhere', '--store', store])).code).toBe(EXIT.notFound);
  const { stderr } = await cli(['show', 'nobody', '--store', store, '--json']);
  expect(JSON.parse(stderr)).toEqual({
    error: { code: 'conversation_not_found', details: { conversationId: 'nobody' }, retry: 'never' },
  });
});

test('a list that cannot be begun prints nothing, as JSON too', async () => {
  const store = await storeWith(fillKiln);
  for (const command of ['tasks', 'interrupts']) {
    const { code, stdout, stderr } = await cli([command, 'nobody', '--store', store, '--json']);
    expect({ code, stdout }).toEqual({ code: EXIT.notFound, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'conversation_not_found' } });
  }
});

/** Somebody who may write nothing of what this process made: root may write whatever it is told. */
const STRANGER = process.getuid?.() === 0 ? 65_534 : undefined;

test('a journal in which nothing may be written can be read', async () => {
  const folder = temporaryFolder();
  const store = `journal:${join(folder, 'store')}`;
  const ledger = await openLedger(store);
  await fillKiln(ledger.namespace('default'));
  await ledger.close();
  const shut = (mode: string): void => void execFileSync('chmod', ['-R', mode, folder]);
  shut('a+rX,a-w');
  onTestFinished(() => shut('u+w'));
  const run = (...args: readonly string[]) =>
    endOf(startCli([...args, '--store', store], {}, 'ignore', undefined, STRANGER));
  expect((await run('ls')).stdout).toContain('Fix the kiln timer');
  expect((await run('show', 'kiln')).stdout).toContain('Mend the test');
  expect(await run('verify')).toMatchObject({ code: EXIT.ok, stderr: '' });
  for (const command of [['maintain'], ['import', import.meta.filename]]) {
    const { code, stderr } = await run(...command);
    expect(code).toBe(EXIT.failure);
    expect(stderr).toContain('[store_unavailable]');
  }
});

test.each(['sqlite:', 'journal:'])('a folder that nobody else may enter is told as such: %s', async (scheme) => {
  const folder = join(temporaryFolder(), 'private');
  mkdirSync(folder);
  const store = scheme === 'sqlite:' ? join(folder, 'store.db') : folder;
  const ledger = await openLedger(scheme + store);
  await fillKiln(ledger.namespace('default'));
  await ledger.close();
  execFileSync('chmod', ['-R', 'a-rwx', folder]);
  execFileSync('chmod', ['a+rx', dirname(folder)]);
  onTestFinished(() => void execFileSync('chmod', ['-R', 'u+rwX', folder]));
  const run = (...args: readonly string[]) => endOf(startCli(args, {}, 'ignore', undefined, STRANGER));

  for (const command of ['ls', 'verify', 'maintain']) {
    const { code, stderr } = await run(command, '--store', scheme + store);
    expect({ code, stderr }).toMatchObject({ code: EXIT.failure, stderr: expect.stringContaining('EACCES') as string });
    expect(stderr).toContain('[store_unavailable]');
  }
  const { code, stdout, stderr } = await run('doctor', scheme + store);
  expect({ code, stderr }).toEqual({ code: EXIT.failure, stderr: '' });
  expect(stdout).toMatch(/^✗ folder .*EACCES/m);
});

test('a store that cannot be used is 1, and is left as it is', async () => {
  const folder = temporaryFolder();
  const foreign = join(folder, 'notes.txt');
  writeFileSync(foreign, 'not a database, but dear to somebody\n'.repeat(40));
  const cases = {
    [`sqlite:${join(folder, 'none.db')}`]: 'store_unavailable',
    [`sqlite:${foreign}`]: 'store_foreign',
    [`sqlite:${join(foreign, 'below-a-file.db')}`]: 'store_unavailable',
    [`sqlite:${folder}`]: 'store_unavailable',
  };
  for (const [store, expected] of Object.entries(cases)) {
    const { code, stdout, stderr } = await cli(['verify', '--store', store, '--json']);
    expect({ store, code, stdout }).toEqual({ store, code: EXIT.failure, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: expected } });
  }
  expect(readFileSync(foreign, 'utf8')).toBe('not a database, but dear to somebody\n'.repeat(40));
  const { code, stderr } = await cli(['import', folder], { XDG_DATA_HOME: foreign });
  expect(code).toBe(EXIT.failure);
  expect(stderr).toMatch(/^turnkeep: .*\[store_unavailable\]/);
});

test('damage is 4, named with its place and what it affects', async () => {
  const store = await storeWith((namespace) =>
    namespace
      .conversation('c')
      .record({ origin: 'test', messages: [{ role: 'user', parts: textParts('The word is swordfish') }] }),
  );
  const file = store.slice('sqlite:'.length);
  const bytes = readFileSync(file, 'latin1');
  expect(bytes).toContain('swordfish');
  writeFileSync(file, bytes.replaceAll('swordfish', 'swordfist'), 'latin1');
  const human = await cli(['verify', '--store', store]);
  expect(human.code).toBe(EXIT.damage);
  expect(human.stdout).toMatch(/^✗ record_digest at \S.*\n {4}\S.*\n {4}affects \S/);
  const { code, stdout } = await cli(['verify', '--store', store, '--json']);
  expect(code).toBe(EXIT.damage);
  const { faults } = JSON.parse(stdout) as { faults: object[] }; // our own output
  expect(faults[0]).toMatchObject({
    kind: 'record_digest',
    place: expect.any(String) as string,
    affects: expect.any(String) as string,
  });
  const shown = await cli(['show', 'c', '--store', store]);
  expect(shown).toMatchObject({ code: EXIT.damage, stdout: '' });
  expect(shown.stderr).toContain('turnkeep verify lists everything that is damaged');
});

test('lines that a journal lost are refused until maintain --rebuild accepts it', async () => {
  const folder = join(temporaryFolder(), 'store');
  const store = `journal:${folder}`;
  const ledger = await openLedger(store);
  for (const id of ['a', 'b']) await ledger.namespace('default').conversation(id).create({ title: id });
  await ledger.close();
  const segment = join(folder, 'segments', '0001.jsonl');
  writeFileSync(
    segment,
    readFileSync(segment, 'utf8')
      .split(/(?<=\n)/)
      .slice(0, 1)
      .join(''),
  );
  const codes = async (...commands: readonly string[][]) => {
    const ended = [];
    for (const command of commands) ended.push((await cli([...command, '--store', store])).code);
    return ended;
  };
  expect(await codes(['ls'], ['show', 'a'], ['maintain'])).toEqual([EXIT.damage, EXIT.damage, EXIT.damage]);
  expect(await codes(['maintain', '--rebuild'], ['ls'], ['verify'])).toEqual([EXIT.ok, EXIT.ok, EXIT.damage]);
});

test('every error code has an exit code and one line', () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) expect(Object.values(EXIT)).toContain(exitCodeOf(code));
  expect(exitCodeOf('conflict')).toBe(EXIT.conflict);
  expect(exitCodeOf('store_busy')).toBe(EXIT.busy);
  const { line, exitCode } = failureOf(new Error('a\u001b[31m\n    at somewhere'));
  expect(exitCode).toBe(EXIT.failure);
  expect(line).toMatch(/^turnkeep: A mistake in Turnkeep: a␛\[31m \[internal\]/);
  expect(line).not.toContain('somewhere');
});

test('a reader that leaves early is no error', async () => {
  const store = await storeWith((namespace) =>
    namespace
      .conversation('long')
      .record({ origin: 'test', messages: [{ role: 'user', parts: textParts('word\n'.repeat(400_000)) }] }),
  );
  const child = startCli(['show', 'long', '--store', store]);
  child.stdout?.once('data', () => child.stdout?.destroy());
  expect(await endOf(child)).toMatchObject({ code: 0, stderr: '' });
});

test('who waits for standard input is interrupted at once', async () => {
  const store = `sqlite:${join(temporaryFolder(), 'store.db')}`;
  for (const args of [
    ['import', '-'],
    ['attachment', 'put', '-'],
  ]) {
    const child = startCli([...args, '--store', store], {}, 'pipe');
    const ended = endOf(child);
    // Once a pipe's worth of it was taken, it is read.
    await new Promise((resolve) => child.stdin?.write('\n'.repeat(4_000_000), resolve));
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(EXIT.interrupted);
    expect(stderr).toMatch(/SIGINT/);
  }
});

test('an interruption ends cleanly with 130', async () => {
  const folder = temporaryFolder();
  const child = startCli(['demo', '--store', `sqlite:${join(folder, 'demo.db')}`]);
  const ended = endOf(child);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  expect(code).toBe(EXIT.interrupted);
  expect(stderr).toMatch(/^turnkeep: .*SIGINT.*\n$/);
  // What was committed until then is whole, and nothing holds the store.
  const again = await cli(['verify', '--store', `sqlite:${join(folder, 'demo.db')}`]);
  expect(again).toMatchObject({ code: 0, stderr: '' });
});
