import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../ledger/open.ts';
import { cli, fillKiln, storeWith, temporaryFolder, textParts } from './cli.testkit.ts';

/** The one JSON document that a command printed. */
async function json(args: readonly string[], store: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await cli([...args, '--json', '--store', store]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trimEnd()).not.toContain('\n');
  return JSON.parse(stdout) as Record<string, unknown>; // our own output
}

async function lines(args: readonly string[], store: string): Promise<string[]> {
  const { code, stdout, stderr } = await cli([...args, '--store', store]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trimEnd().split('\n');
}

test('ls lists conversations with counts, title, labels and the last message', async () => {
  const store = await storeWith(fillKiln);
  const [head, first, second] = await lines(['ls'], store);
  expect(head).toMatch(/^CONVERSATION +LAST ACTIVITY +TURNS +MESSAGES +TITLE AND LAST MESSAGE$/);
  expect(first).toMatch(/^kiln +\d{4}-\d\d-\d\d \d\d:\d\d +3 +5 {2}Fix the kiln timer {2}#urgent$/);
  expect(second?.trim()).toBe('user: Mend the test');
  expect(second?.indexOf('user')).toBe(head?.indexOf('TITLE'));
  const { conversations, next } = await json(['ls'], store);
  expect(next).toBeNull();
  expect(conversations).toMatchObject([{ conversationId: 'kiln', turnCount: 3, messageCount: 5, labels: ['urgent'] }]);
});

test('ls pages, filters and orders', async () => {
  const store = await storeWith(async (namespace) => {
    for (const id of ['a', 'b', 'c']) await namespace.conversation(id).create({ title: id });
    await namespace.conversation('b').update({ archived: true });
    await namespace.conversation('a').append({ role: 'user', parts: textParts('again') });
  });
  const ids = async (...args: string[]) => {
    const { conversations, next } = await json(['ls', ...args], store);
    return { ids: (conversations as { conversationId: string }[]).map((one) => one.conversationId), next };
  };
  expect((await ids()).ids.toSorted()).toEqual(['a', 'c']);
  expect((await ids('--archived')).ids).toEqual(['b']);
  expect((await ids('--all')).ids.toSorted()).toEqual(['a', 'b', 'c']);
  const first = await ids('--all', '--limit', '2', '--order', 'created');
  const rest = await ids('--all', '--limit', '2', '--order', 'created', '--after', String(first.next));
  expect([...first.ids, ...rest.ids].toSorted()).toEqual(['a', 'b', 'c']);
  expect(rest.next).toBeNull();
  expect((await lines(['ls', '--limit', '1'], store)).at(-1)).toMatch(/^More: --after \S+$/);
  expect(await lines(['ls', '--label', 'none'], store)).toEqual(['No conversations.']);
});

test('show prints the active path, other paths, the past and the newest messages', async () => {
  const store = await storeWith(fillKiln);
  const active = (await lines(['show', 'kiln'], store)).join('\n');
  for (const words of [
    'The timer test is flaky',
    '→ Bash call_1',
    '{"command":"make test"}',
    '← result error',
    'Mend the test',
  ]) {
    expect(active).toContain(words);
  }
  expect(active).not.toContain('Skip the test');
  expect(active).toMatch(/… 1,9\d\d more characters \(--full\)/);
  expect((await lines(['show', 'kiln', '--full'], store)).filter((line) => line.trim() === 'line')).toHaveLength(400);
  expect((await lines(['show', 'kiln', '--leaf', 'turn_left'], store)).at(-1)).toBe('    Skip the test');
  expect((await lines(['show', 'kiln', '--at', '2'], store)).join('\n')).not.toContain('Mend');
  const newest = await lines(['show', 'kiln', '--limit', '1'], store);
  expect(newest.filter((line) => line.includes('·'))).toHaveLength(2);
  expect(newest.at(-1)).toBe('    Mend the test');
});

test('show --json prints a message a line, and --limit cuts no call from its result', async () => {
  const store = await storeWith(fillKiln);
  const messages = async (...args: string[]) => {
    const { stdout } = await cli(['show', 'kiln', '--json', '--store', store, ...args]);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { sequence: number }).sequence); // our own output
  };
  expect(await messages()).toEqual([1, 2, 3, 5]);
  expect(await messages('--limit', '2')).toEqual([5]);
  expect(await messages('--limit', '3')).toEqual([2, 3, 5]);
  expect(await messages('--limit', '1', '--leaf', 'turn_first')).toEqual([2, 3]);
  expect(await messages('--limit', '1', '--at', '2')).toEqual([3]);
});

test('tree draws branches, ordinals, edits and the active leaf', async () => {
  const store = await storeWith(fillKiln);
  const [title, facts, ...tree] = await lines(['tree', 'kiln'], store);
  expect(title).toBe('Fix the kiln timer');
  expect(facts).toBe('kiln · version 5 · 3 turns');
  expect(tree).toEqual([
    expect.stringMatching(/^● The timer test is flaky +completed turn_first$/),
    expect.stringMatching(/^├─● \[1\] Skip the test +completed turn_left$/),
    expect.stringMatching(/^● \[2 edit\] Mend the test +completed turn_edit ◀ active leaf$/),
  ]);
  const document = await json(['tree', 'kiln'], store);
  expect(document).toMatchObject({ conversationId: 'kiln', version: 5, leaf: 'turn_edit' });
  expect(document['turns']).toMatchObject([
    { turnId: 'turn_first' },
    { turnId: 'turn_left' },
    { why: 'edit', ordinal: 2 },
  ]);
  expect(await json(['tree', 'kiln', '--at', '3'], store)).toMatchObject({ version: 3, leaf: 'turn_left' });
});

test('search finds literal text in all conversations or one', async () => {
  const store = await storeWith(fillKiln);
  const found = await lines(['search', 'MEND THE'], store);
  expect(found).toEqual([expect.stringMatching(/^kiln {2}#5 msg_/), '    Mend the test']);
  expect(await json(['search', 'kiln', '--conversation', 'kiln'], store)).toMatchObject({
    hits: [{ conversationId: 'kiln', snippet: 'Fix the kiln timer', matchStart: 8 }],
    next: null,
  });
  const { hits } = await json(['search', 'test', '--conversation', 'kiln', '--leaf', 'turn_left'], store);
  expect((hits as { sequence: number }[]).map(({ sequence }) => sequence)).toEqual([4, 2, 1]);
  expect(await lines(['search', '.*'], store)).toEqual(['Nothing found.']);
});

test('tasks lists those of one conversation or of each', async () => {
  const store = await storeWith(async (namespace) => {
    await fillKiln(namespace);
    const other = namespace.conversation('other');
    const { taskId } = await other.tasks.create({ title: 'Old' });
    await other.tasks.transition(taskId, 'cancelled');
  });
  expect(await lines(['tasks', 'kiln'], store)).toEqual([
    'kiln',
    expect.stringMatching(/^ {2}created {12}Mend the timer {2}task_timer · for ada · \d{4}-/),
  ]);
  const { tasks } = await json(['tasks'], store);
  expect(tasks).toHaveLength(2);
  expect((await json(['tasks', '--open'], store))['tasks']).toMatchObject([
    { conversationId: 'kiln', status: 'created' },
  ]);
  expect(await lines(['tasks', '--namespace', 'empty'], store)).toEqual(['No tasks.']);
  expect(await json(['tasks', '--namespace', 'empty'], store)).toEqual({ tasks: [] });
});

test('tasks shows what an operator’s tasks wait for, and what became of them', async () => {
  const store = await storeWith(async (namespace) => {
    for (const conversationId of ['asks', 'done', 'stuck', 'works']) {
      const operator = namespace.conversation(conversationId).operator();
      const { turnId } = await operator.send('Refund order 7');
      if (conversationId === 'asks') await operator.complete(turnId, 'May I?', { awaits: 'approval' });
      if (conversationId === 'done') await operator.complete(turnId, 'Refunded.');
      if (conversationId === 'stuck') await operator.fail(turnId, { code: 'offline', message: 'no bank' });
    }
  });
  const { tasks } = await json(['tasks'], store);
  const statuses = (tasks as { conversationId: string; status: string }[]).map((one) => [
    one.conversationId,
    one.status,
  ]);
  expect(Object.fromEntries(statuses)).toEqual({
    asks: 'awaiting_approval',
    done: 'completed',
    stuck: 'failed',
    works: 'running',
  });
  const open = (await lines(['tasks', '--open'], store)).filter((line) => line.startsWith('  '));
  expect(open).toHaveLength(2);
  expect(open.join('\n')).toMatch(/^ {2}running {12}Refund order 7 /m);
  expect(open.join('\n')).toMatch(/^ {2}awaiting_approval {2}Refund order 7 /m);
});

test('verify counts what it went through', async () => {
  const store = await storeWith(fillKiln);
  expect(await lines(['verify'], store)).toEqual([
    expect.stringMatching(/^✓ no faults in 1 conversation, 5 commits, \d+ records$/),
  ]);
  expect(await json(['verify'], store)).toMatchObject({ conversations: 1, commits: 5, faults: [] });
});

test.each(['sqlite:', 'journal:'])('maintain takes erased words out of every file: %s', async (scheme) => {
  const folder = temporaryFolder();
  const store = `${scheme}${join(folder, 'store')}`;
  const ledger = await openLedger(store);
  await fillKiln(ledger.namespace('default'));
  await ledger.namespace('default').conversation('kept').create({ title: 'Kept' });
  await ledger.namespace('default').conversation('kiln').erase();
  await ledger.close();
  const report = await json(['maintain'], store);
  expect(report).toEqual({
    namespaces: 1,
    rowsRemoved: expect.any(Number) as number,
    attachmentsRemoved: 0,
    commitsCooled: 0,
  });
  expect(report['rowsRemoved']).toBeGreaterThan(0);
  expect(await lines(['maintain'], store)).toEqual([
    '✓ maintained 1 namespace, 0 rows of erased conversations removed, 0 commits moved into archives',
  ]);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const holding = files.filter((file) =>
    readFileSync(join(file.parentPath, file.name)).includes('timer test is flaky'),
  );
  expect(holding).toEqual([]);
  expect((await json(['ls'], store))['conversations']).toMatchObject([{ conversationId: 'kept' }]);
});

test('the store is the one of TURNKEEP_STORE, else a private file in the data folder', async () => {
  const store = await storeWith(fillKiln);
  expect((await cli(['ls'], { TURNKEEP_STORE: store })).stdout).toContain('kiln');
  const home = temporaryFolder();
  const before = await cli(['ls'], { HOME: home });
  expect(before.code).toBe(1);
  expect(before.stderr).toContain('there is no store yet; turnkeep import makes one');
  const data = join(home, 'data');
  await cli(['import', home], { HOME: home, XDG_DATA_HOME: data });
  expect(statSync(join(data, 'turnkeep')).mode & 0o777).toBe(0o700);
  expect(statSync(join(data, 'turnkeep', 'turnkeep.db')).mode & 0o777).toBe(0o600);
  expect((await cli(['ls'], { HOME: home, XDG_DATA_HOME: data })).code).toBe(0);
});

test('colour comes where it is wanted and goes where it is not', async () => {
  const store = await storeWith(fillKiln);
  const escape = '\u001b[';
  expect((await cli(['ls', '--store', store])).stdout).not.toContain(escape);
  expect((await cli(['ls', '--store', store], { FORCE_COLOR: '1' })).stdout).toContain(escape);
  expect((await cli(['ls', '--store', store], { FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).not.toContain(escape);
});
