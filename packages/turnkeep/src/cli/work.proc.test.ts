import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../ledger/open.ts';
import { cli, DANGEROUS, endOf, fillKiln, startCli, storeWith, temporaryFolder, textParts } from './cli.testkit.ts';
import { EXIT } from './exit-codes.ts';

async function json(args: readonly string[], store: string): Promise<unknown> {
  const { code, stdout, stderr } = await cli([...args, '--json', '--store', store]);
  expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: '' });
  expect(stdout.trimEnd()).not.toContain('\n');
  return JSON.parse(stdout) as unknown;
}

test('interrupts lists what turns wait on; the first answer stands, and the same one again is no other', async () => {
  const store = await storeWith(async (namespace) => {
    const prompt = textParts('Refund order 7');
    await namespace.conversation('kiln').run(
      { prompt },
      async (agent) => {
        const payload = { amount: 7, of: 'a\u001b[31mb' };
        await agent.interrupt({ interruptId: 'int_1', type: 'approval', payload });
      },
      { idempotencyKey: 'refund' },
    );
  });
  const open = await cli(['interrupts', '--store', store]);
  expect(open.code).toBe(EXIT.ok);
  expect(open.stdout).toMatch(/^open {2}approval {2}int_1 {2}kiln · \d{4}-\d\d-\d\d \d\d:\d\d\n {4}\{"amount":7,/);
  expect(open.stdout).not.toMatch(DANGEROUS);
  expect(await json(['interrupts'], store)).toMatchObject({
    interrupts: [{ conversationId: 'kiln', interruptId: 'int_1', status: 'open', payload: { amount: 7 } }],
  });
  const answer = (text: string, ...args: string[]) =>
    cli(['answer', 'int_1', text, '--value', '--store', store, ...args], { USER: 'ada' });
  expect(await answer('{"approved":true}', '--json')).toMatchObject({
    code: EXIT.ok,
    stdout: expect.stringMatching(/^\{"conversationId":"kiln","turnId":"\w+.*","first":true\}\n$/) as string,
  });
  expect((await answer('{ "approved": true }')).code).toBe(EXIT.ok);
  const late = await answer('{"approved":false}');
  expect(late.code).toBe(EXIT.conflict);
  expect(late.stdout).toContain('answered before, and that answer stands');
  expect((await answer('{"approved":true}', '--by', 'bob')).code).toBe(EXIT.conflict);
  expect((await cli(['interrupts', '--store', store])).stdout).toBe('No open interrupts.\n');
  expect(await json(['interrupts', 'kiln'], store)).toEqual({ interrupts: [] });
  const { turns } = (await json(['tree', 'kiln'], store)) as { turns: { turnId: string }[] };
  expect(await json(['interrupts', 'kiln', '--turn', turns[0]?.turnId ?? ''], store)).toMatchObject({
    interrupts: [{ status: 'answered', answer: { by: 'ada', response: { approved: true } } }],
  });
});

test('answer takes a text, and says who answers', async () => {
  const store = await storeWith(fillKiln);
  const unknown = await cli(['answer', 'nope', 'yes', '--by', 'ada', '--store', store]);
  expect(unknown).toMatchObject({ code: EXIT.notFound, stdout: '' });
  expect(unknown.stderr).toContain('turnkeep interrupts shows');
  expect(await cli(['answer', 'nope', 'yes', '--store', store])).toMatchObject({ code: EXIT.usage, stdout: '' });
  expect((await cli(['answer', 'nope', '{', '--value', '--by', 'ada', '--store', store])).code).toBe(EXIT.usage);
});

test('memories lists those of the namespace, by type and person, or those that answer a query', async () => {
  const store = await storeWith(async (namespace) => {
    const { memories } = namespace.conversation('kiln');
    await namespace.conversation('kiln').create({ title: 'Kiln' });
    const author = { id: 'agent', kind: 'agent' } as const;
    await memories.create({
      memoryId: 'm1',
      text: 'Ada likes port 7000\n\u001b[2Jalways',
      type: 'taste',
      subject: 'ada',
      author,
      sources: [],
    });
    await memories.create({ memoryId: 'm2', text: 'The kiln is hot', author, sources: [] });
  });
  const { stdout } = await cli(['memories', '--store', store]);
  expect(stdout).toMatch(/^m1 {2}taste · about ada · .* · from kiln\n {4}Ada likes port 7000\n {4}␛\[2Jalways\nm2 {2}/);
  const ids = async (...args: string[]) => {
    const { memories } = (await json(['memories', ...args], store)) as { memories: { memoryId: string }[] };
    return memories.map(({ memoryId }) => memoryId);
  };
  expect(await ids()).toEqual(['m1', 'm2']);
  expect(await ids('--limit', '1')).toEqual(['m2']);
  expect(await ids('--subject', 'ada', '--type', 'taste')).toEqual(['m1']);
  expect(await ids('which port')).toEqual(['m1']);
  expect((await cli(['memories', '--type', 'none', '--store', store])).stdout).toBe('No memories.\n');
});

test('usage sums up the namespace, a conversation and a turn, by model and by day', async () => {
  const store = await storeWith(async (namespace) => {
    await fillKiln(namespace);
    const { usage } = namespace.conversation('kiln');
    const cost = (amount: string) => ({ amount, currency: 'USD' });
    const paid = { provider: 'anthropic', model: 'sonnet' };
    await usage.record({ ...paid, turnId: 'turn_first', inputTokens: 1_200, outputTokens: 30, cost: cost('0.012') });
    await usage.record({ provider: 'openai', model: 'gpt', inputTokens: 5, outputTokens: 3, cost: cost('0.001') });
  });
  const { stdout } = await cli(['usage', '--store', store]);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['MODEL', 'CALLS', 'INPUT', 'CACHED', 'CACHE WRITES', 'OUTPUT', 'REASONING', 'COST'],
    ['anthropic sonnet', '1', '1,200', '0', '0', '30', '0', '0.012 USD'],
    ['openai gpt', '1', '5', '0', '0', '3', '0', '0.001 USD'],
    ['all', '2', '1,205', '0', '0', '33', '0', '0.013 USD'],
    [''],
  ]);
  expect(await json(['usage', 'kiln', '--turn', 'turn_first'], store)).toMatchObject({ calls: 1, inputTokens: 1_200 });
  expect(await json(['usage', 'kiln'], store)).toMatchObject({ calls: 2, cost: { USD: '0.013' } });
  expect(await json(['usage', '--days'], store)).toMatchObject({ days: [{ calls: 2 }] });
  expect(await json(['usage', '--to', '2001-01-01'], store)).toEqual({ days: [] });
  expect((await cli(['usage', '--namespace', 'empty', '--store', store])).stdout).toBe('No usage.\n');
  for (const args of [
    ['--turn', 'turn_first'],
    ['kiln', '--turn', 'turn_first', '--days'],
    ['--from', 'today'],
  ])
    expect((await cli(['usage', ...args, '--store', store])).code).toBe(EXIT.usage);
  expect((await cli(['usage', 'kiln', '--turn', 'nowhere', '--store', store])).code).toBe(EXIT.notFound);
});

test('attachment keeps bytes of a file or of standard input, and gives them back byte by byte', async () => {
  const folder = temporaryFolder();
  const store = `sqlite:${join(folder, 'store.db')}`;
  const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, at) => (at * 7 + (at >> 8)) % 256));
  const file = join(folder, 'photo');
  writeFileSync(file, bytes);
  const missing = await cli(['attachment', 'put', join(folder, 'none'), '--store', store]);
  expect(missing).toMatchObject({ code: EXIT.usage, stdout: '' });
  expect(existsSync(join(folder, 'store.db'))).toBe(false);
  const { digest } = (await json(['attachment', 'put', file], store)) as { digest: string };
  const piped = startCli(['attachment', 'put', '-', '--json', '--store', store], {}, 'pipe');
  piped.stdin?.end(bytes);
  expect(JSON.parse((await endOf(piped)).stdout)).toEqual({ digest, sizeBytes: 600_000 });

  const got = startCli(['attachment', 'get', digest, '--store', store]);
  const chunks: Buffer[] = [];
  got.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  expect((await endOf(got)).code).toBe(EXIT.ok);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  const copy = join(folder, 'copy');
  expect(await json(['attachment', 'get', digest, '--output', copy], store)).toEqual({
    digest,
    sizeBytes: 600_000,
    output: copy,
  });
  expect(readFileSync(copy).equals(bytes)).toBe(true);
  expect(statSync(copy).mode & 0o777).toBe(0o600);

  const codes = async (...args: string[]) => (await cli(['attachment', ...args, '--store', store])).code;
  expect(await codes('get', digest, '--output', copy)).toBe(EXIT.usage);
  expect(await codes('get', digest, '--json')).toBe(EXIT.usage);
  expect(await codes('get', '0'.repeat(64))).toBe(EXIT.notFound);
  expect(await codes('get', 'photo')).toBe(EXIT.usage);
  expect(await codes('put', folder)).toBe(EXIT.failure);
});

test('erase takes a conversation or a person, once it is told that it may', async () => {
  const store = await storeWith(async (namespace) => {
    await fillKiln(namespace);
    const author = { id: 'ada', kind: 'human' } as const;
    await namespace.conversation('own').create({ owner: 'ada' });
    await namespace.conversation('other').record({
      origin: 'test',
      messages: [{ role: 'user', parts: textParts('said by Ada'), author }],
    });
  });
  for (const args of [['kiln'], ['--subject', 'ada'], ['--yes'], ['kiln', '--subject', 'ada', '--yes']]) {
    expect(await cli(['erase', ...args, '--store', store])).toMatchObject({ code: EXIT.usage, stdout: '' });
  }
  const unknown = await cli(['erase', 'nobody', '--yes', '--store', store]);
  expect(unknown.code).toBe(EXIT.notFound);
  expect(await json(['erase', 'kiln', '--reason', 'no_need', '--yes'], store)).toMatchObject({
    conversationId: 'kiln',
    events: [{ kind: 'conversation.erase' }],
  });
  expect((await cli(['erase', 'kiln', '--yes', '--store', store])).code).toBe(EXIT.notFound);
  const person = await cli(['erase', '--subject', 'ada', '--yes', '--store', store]);
  expect(person.stdout).toMatch(/^✓ erased ada: 1 conversation, 1 message redacted, 0 memories forgotten\n.*maintain/);
  expect(await json(['ls', '--all'], store)).toMatchObject({ conversations: [{ conversationId: 'other' }] });
  expect(await json(['search', 'said by Ada'], store)).toMatchObject({ hits: [] });
  expect((await cli(['maintain', '--store', store])).code).toBe(EXIT.ok);
  const ledger = await openLedger(store);
  expect(await ledger.namespace('default').conversation('nobody').exists()).toBe(false);
  await ledger.close();
});

test('output to a full disk is told as that, and ends with 1', async () => {
  const store = await storeWith(fillKiln);
  for (const args of [['ls'], ['show', 'kiln'], ['--help']]) {
    const child = startCli([...args, '--store', store], {}, 'ignore', '/dev/full');
    const { code, stderr } = await endOf(child);
    expect(code).toBe(EXIT.failure);
    expect(stderr).toBe('turnkeep: standard output: no space is left [file_unavailable]\n');
  }
});
