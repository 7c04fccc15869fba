import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isTurnkeepError } from '../core/errors.ts';
import { openLedger } from '../ledger/open.ts';
import { Ledger } from '../ledger/ledger.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { opened, temporaryDirectory, turnOf } from './journal.testkit.ts';
import { openJournal } from './open.ts';

const LETTERS = ['a', 'b', 'a', 'c', 'a', 'b'] as const;

/** A closed store whose lines 1 to 6 are each one message of `a`, `b` or `c`, none of them folded. */
async function sixLines(): Promise<string> {
  const directory = temporaryDirectory();
  const ledger = await openLedger(`journal:${directory}`);
  for (const [at, id] of LETTERS.entries()) {
    const message = {
      messageId: `m${at + 1}`,
      role: 'user',
      parts: [{ type: 'text', text: `words of line ${at + 1}` }],
    };
    await ledger
      .namespace('n')
      .conversation(id)
      .append(message as Parameters<typeof append>[0]);
  }
  await ledger.close();
  return directory;
}
declare const append: ReturnType<ReturnType<Ledger['namespace']>['conversation']>['append'];

function segment(directory: string): string {
  return `${directory}/segments/0001.jsonl`;
}

/** Rewrites the segment's lines; each has its line feed. */
function rewrite(directory: string, change: (lines: readonly string[]) => readonly string[]): void {
  const lines = readFileSync(segment(directory), 'latin1').split(/(?<=\n)/);
  writeFileSync(segment(directory), change(lines).join(''), 'latin1');
}

function ledgerOver(backend: Awaited<ReturnType<typeof openJournal>>): Ledger {
  return new Ledger(backend, systemSurroundings, mintCommitId);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'fine',
    (error: unknown) => (isTurnkeepError(error) ? error.code : String(error)),
  );
}

/** How each reading of a store ends: what was found, or the code of its error. */
async function readings(ledger: Ledger, id: string) {
  const namespace = ledger.namespace('n');
  const conversation = namespace.conversation(id);
  const found = await Promise.all(
    LETTERS.flatMap((owner, at) => (owner === id ? conversation.message(`m${at + 1}`) : [])),
  );
  return {
    messages: found.map(({ status }) => status).join(' '),
    page: await codeOf(conversation.page()),
    window: await codeOf(conversation.window(10)),
    info: await codeOf(conversation.info()),
    search: await codeOf(conversation.search('words')),
  };
}

const WHOLE = { page: 'fine', window: 'fine', info: 'fine', search: 'fine' };
const LOST = { page: 'corrupt', window: 'corrupt', info: 'corrupt', search: 'corrupt' };
const FOUND = 'found_verified';
const CORRUPT = 'source_corrupt';

async function across(ledger: Ledger) {
  const namespace = ledger.namespace('n');
  return {
    list: await codeOf(namespace.page()),
    search: await codeOf(namespace.search('words')),
    namespaces: await codeOf(ledger.namespaces()),
    feed: await codeOf(ledger.backend.feed('n', 0, 100)),
  };
}

/** Both handles that read: the one that writes, and one of another process. */
async function eachHandle(directory: string, check: (ledger: Ledger) => Promise<void>): Promise<void> {
  const reader = await openJournal(directory, { readOnly: true });
  await check(ledgerOver(reader));
  await reader.close();
  await check(ledgerOver(await opened(directory)));
}

test('a line with damaged words harms these words alone', async () => {
  const directory = await sixLines();
  rewrite(directory, (lines) => lines.map((line) => line.replace('words of line 3', 'words of line 9')));
  await eachHandle(directory, async (ledger) => {
    expect(await readings(ledger, 'a')).toEqual({
      ...WHOLE,
      messages: `${FOUND} ${CORRUPT} ${FOUND}`,
      page: 'corrupt',
      window: 'corrupt',
    });
    const { damage } = await ledger.namespace('n').search('words');
    expect(damage).toMatchObject([{ conversationId: 'a', version: 2 }]);
    expect(await readings(ledger, 'b')).toEqual({ ...WHOLE, messages: `${FOUND} ${FOUND}` });
    const { messages } = await ledger.namespace('n').conversation('a').page({ damaged: 'mark' });
    expect(messages.map(({ damage }) => damage?.place)).toEqual([
      undefined,
      expect.stringMatching(/^segments\/0001\.jsonl, byte \d+, line 3$/),
      undefined,
    ]);
    expect((await ledger.backend.verify()).map(({ kind }) => kind)).toEqual(['damaged']);
    expect(await across(ledger)).toMatchObject({ list: 'fine', namespaces: 'fine', feed: 'fine' });
  });
});

test('a line with damaged words is no obstacle to writing, nor to a fold, and a rebuild keeps what it says', async () => {
  const directory = await sixLines();
  rewrite(directory, (lines) => lines.map((line) => line.replace('words of line 5', 'words of line 9')));
  const journal = await opened(directory);
  expect(await journal.commit(turnOf('a', 0))).toMatchObject({ version: 1 }); // the namespace is another
  const a = ledgerOver(journal).namespace('n').conversation('a');
  await a.append({ messageId: 'm7', role: 'user', parts: [{ type: 'text', text: 'after it' }] });
  for (const settle of [() => journal.catchUp(), () => journal.rebuild()]) {
    await settle();
    expect((await a.message('m5')).status).toBe(CORRUPT);
    expect((await a.message('m7')).status).toBe(FOUND);
    expect((await a.info()).version).toBe(4);
  }
});

test('a conversation that lost a line is neither read nor written, others are', async () => {
  const directory = await sixLines();
  rewrite(directory, (lines) =>
    lines.map((line, at) => (at === 4 ? line.replace('"lastSequence":3', '"lastSequence":8') : line)),
  );
  await eachHandle(directory, async (ledger) => {
    expect(await readings(ledger, 'a')).toEqual({ ...LOST, messages: `${CORRUPT} ${CORRUPT} ${CORRUPT}` });
    expect(await readings(ledger, 'b')).toEqual({ ...WHOLE, messages: `${FOUND} ${FOUND}` });
    expect(await across(ledger)).toEqual({ list: 'corrupt', search: 'corrupt', namespaces: 'corrupt', feed: 'fine' });
    expect((await ledger.backend.feed('n', 0, 100)).map(({ position }) => position)).toEqual([1, 2, 3, 4]);
    expect(await codeOf(ledger.backend.feed('n', 4, 100))).toBe('corrupt');
    expect((await ledger.backend.feed('n', 5, 100)).map(({ position }) => position)).toEqual([6]);
    const lookUp = await ledger.namespace('n').conversation('a').message('m5');
    expect(lookUp).toMatchObject({
      place: expect.stringMatching(/^segments\/0001\.jsonl, byte \d+, line 5$/) as string,
    });
  });
});

test('a loss is refused until a rebuild accepts it, and then for good', async () => {
  const directory = await sixLines();
  rewrite(directory, (lines) =>
    lines.map((line, at) => (at === 4 ? line.replace('"lastSequence":3', '"lastSequence":8') : line)),
  );
  const journal = await openJournal(directory);
  const ledger = ledgerOver(journal);
  const say = (id: string) => codeOf(ledger.namespace('n').conversation(id).append({ role: 'user', parts: [] }));
  expect([await say('a'), await say('b'), await say('new')]).toEqual(['corrupt', 'fine', 'fine']);
  await journal.rebuild();
  expect(await say('a')).toBe('fine');
  expect(await readings(ledger, 'a')).toEqual({ ...WHOLE, messages: `${FOUND} ${FOUND} not_found_confirmed` });
  expect((await journal.verify()).map(({ kind }) => kind)).toEqual(['damaged']);
  await journal.close();
  // What is accepted outlives the index: it is built anew by itself.
  const [run = ''] = readdirSync(`${directory}/runs`);
  writeFileSync(`${directory}/runs/${run}`, 'nothing');
  const again = await opened(directory);
  expect(await readings(ledgerOver(again), 'a')).toMatchObject(WHOLE);
});

test.each([
  ['is NUL', (lines: readonly string[]) => lines.with(2, `${'\0'.repeat((lines[2] ?? '').length - 1)}\n`)],
  ['is gone', (lines: readonly string[]) => lines.toSpliced(2, 1)],
  ['was cut off', (lines: readonly string[]) => lines.slice(0, 5)],
  ['has lost its beginning', (lines: readonly string[]) => lines.with(2, (lines[2] ?? '').slice(800))],
  ['is of another store', (lines: readonly string[]) => lines.with(2, foreignLine(lines[2] ?? ''))],
])('where a line %s nobody knows whose it was, and nothing is read as if it had not been', async (_what, change) => {
  const directory = await sixLines();
  rewrite(directory, change);
  await eachHandle(directory, async (ledger) => {
    for (const id of ['a', 'b', 'c', 'unheard of'])
      expect(await readings(ledger, id)).toMatchObject({
        ...LOST,
        messages: expect.not.stringContaining(FOUND) as string,
      });
    expect(await across(ledger)).toMatchObject({ list: 'corrupt', search: 'corrupt', namespaces: 'corrupt' });
    expect((await ledger.verify()).faults.length).toBeGreaterThan(0);
  });
});

function foreignLine(line: string): string {
  return line.replace(/"store":"[^"]*"/, `"store":"${'x'.repeat(22)}"`);
}

test('a segment that is missing takes with it only what it held, where the index knows it', async () => {
  const directory = temporaryDirectory();
  const settings = { foldCommits: 2, foldBytes: 1, segmentBytes: 4_000 };
  const journal = await openJournal(directory, { settings });
  for (let k = 0; k < 6; k++) await journal.commit(turnOf('c', k));
  await journal.catchUp();
  await journal.close();
  rmSync(segment(directory));
  const ledger = ledgerOver(await opened(directory, { settings }));
  const c = ledger.namespace('ns').conversation('c');
  expect(await c.message('c-message-0-1')).toMatchObject({ status: CORRUPT, reason: 'the segment is missing' });
  expect((await c.message('c-message-5-1')).status).toBe(FOUND);
  expect(await codeOf(c.page())).toBe('corrupt');
  expect(await codeOf(c.window(2))).toBe('fine');
});

test('an index that is built anew does not forget what the log has lost', async () => {
  const directory = await sixLines();
  const journal = await openJournal(directory);
  await journal.catchUp();
  await journal.close();
  rewrite(directory, (lines) =>
    lines.map((line, at) => (at === 4 ? line.replace('"lastSequence":3', '"lastSequence":8') : line)),
  );
  const folded = await openJournal(directory);
  expect(await readings(ledgerOver(folded), 'a')).toMatchObject({ messages: `${FOUND} ${FOUND} ${CORRUPT}` });
  const [run = ''] = readdirSync(`${directory}/runs`);
  const path = `${directory}/runs/${run}`;
  writeFileSync(path, readFileSync(path).fill(1, 16, 200));
  await folded.close();
  const again = await opened(directory);
  expect(await readings(ledgerOver(again), 'a')).toEqual({ ...LOST, messages: `${CORRUPT} ${CORRUPT} ${CORRUPT}` });
  expect(await readings(ledgerOver(again), 'b')).toEqual({ ...WHOLE, messages: `${FOUND} ${FOUND}` });
});
