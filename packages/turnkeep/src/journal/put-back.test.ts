import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isTurnkeepError } from '../core/errors.ts';
import { MemoryBackend } from '../memory/index.ts';
import { sha256 } from '../platform/hash.ts';
import type { JournalBackend } from './journal-backend.ts';
import { commitOf, contents, opened, temporaryDirectory, turnOf } from './journal.testkit.ts';
import { openJournal } from './open.ts';

/** Files that somebody put into a store: out of a backup, or out of another store. */

const SETTINGS = { segmentBytes: 30_000 };
const isHot = (text: string) => text.replaceAll(',"tier":"cool"', '');

/** How each commit of a conversation can be read. */
async function statuses(journal: JournalBackend): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: 25 }, (_, at) =>
      journal
        .read('ns', (rows) => rows.log('a', at + 1))
        .then(JSON.stringify, (error: unknown) => (isTurnkeepError(error) ? error.code : String(error))),
    ),
  );
}

/** A closed store whose first segment is archived, in a block that is damaged, and stands beside it again as it was before. */
async function putBack(directory: string): Promise<MemoryBackend> {
  const journal = await openJournal(directory, { settings: SETTINGS });
  const memory = new MemoryBackend(sha256);
  for (let k = 0; k < 24; k++) {
    for (const turn of [turnOf('a', k), turnOf('b', k)]) {
      await journal.commit(turn);
      await memory.commit(turn);
    }
  }
  const [segment, archive] = [`${directory}/segments/0001.jsonl`, `${directory}/archives/0001.tka`];
  const plain = readFileSync(segment);
  await journal.cool('ns', { hotMessages: 2 });
  await journal.close();
  const bytes = readFileSync(archive);
  bytes.writeUInt8((bytes[100] as number) ^ 1, 100);
  writeFileSync(archive, bytes);
  writeFileSync(segment, plain);
  return memory;
}

test('a segment that was put back beside its damaged archive is read, and kept', async () => {
  const directory = temporaryDirectory();
  const memory = await putBack(directory);
  const journal = await openJournal(directory, { settings: SETTINGS });
  expect(isHot(await contents(journal))).toBe(await contents(memory));
  expect(existsSync(`${directory}/segments/0001.jsonl`)).toBe(true);
  expect((await journal.verify()).map(({ kind }) => kind)).toContain('archive');
  const next = turnOf('c', 0);
  expect(await journal.commit(next)).toEqual(await memory.commit(next));
  await journal.close();
  rmSync(`${directory}/archives/0001.tka`);
  const again = await opened(directory, { settings: SETTINGS });
  expect(isHot(await contents(again))).toBe(await contents(memory));
  expect(await again.verify()).toEqual([]);
});

test('a segment that was put back cools again, once its damaged archive is gone', async () => {
  const directory = temporaryDirectory();
  const memory = await putBack(directory);
  rmSync(`${directory}/archives/0001.tka`);
  const journal = await opened(directory, { settings: SETTINGS });
  expect(existsSync(`${directory}/segments/0001.jsonl`)).toBe(true);
  expect(await journal.cool('ns', { hotMessages: 2 })).toBeGreaterThan(0);
  expect(existsSync(`${directory}/segments/0001.jsonl`)).toBe(false);
  expect(isHot(await contents(journal))).toBe(await contents(memory));
  expect(await journal.cool('ns', { hotMessages: 2 })).toBe(0);
  expect(await journal.verify()).toEqual([]);
});

test('I10: a collection leaves nothing in a damaged archive whose segment was put back', async () => {
  const directory = temporaryDirectory();
  const memory = await putBack(directory);
  const journal = await opened(directory, { settings: SETTINGS });
  const erasure = commitOf('b', 'e', [{ kind: 'conversation.erase' }]);
  await journal.commit(erasure);
  await memory.commit(erasure);
  await journal.collect('ns');
  await memory.collect('ns');
  expect(existsSync(`${directory}/archives/0001.tka`)).toBe(false);
  expect(readFileSync(`${directory}/segments/0001.jsonl`, 'latin1')).not.toMatch(/b-message|b-turn/);
  expect(isHot(await contents(journal))).toBe(await contents(memory));
});

test.each([
  ['whole', 0, ['archives/0001.tka']],
  ['damaged', 1, ['segments/0001.jsonl', 'archives/0001.tka']],
])('a segment that says something else than its %s archive is not read, and told', async (_, turned, places) => {
  const directory = temporaryDirectory();
  const journal = await openJournal(directory, { settings: SETTINGS });
  for (let k = 0; k < 24; k++) await journal.commit(turnOf('a', k));
  await journal.cool('ns', { hotMessages: 2 });
  await journal.commit(turnOf('a', 24));
  await journal.catchUp();
  await journal.close();
  const archive = `${directory}/archives/0001.tka`;
  const bytes = readFileSync(archive);
  bytes.writeUInt8((bytes[100] as number) ^ turned, 100);
  writeFileSync(archive, bytes);
  const before = await opened(directory, { settings: SETTINGS, readOnly: true });
  const expected = await statuses(before);
  const [last = ''] = readdirSync(`${directory}/segments`).toSorted().toReversed();
  cpSync(`${directory}/segments/${last}`, `${directory}/segments/0001.jsonl`);
  const again = await opened(directory, { settings: SETTINGS });
  expect(await statuses(again)).toEqual(expected);
  const told = new Set((await again.verify()).map(({ place }) => place.split(',')[0]));
  expect([...told].filter((place) => places.includes(place ?? ''))).toEqual(places);
  expect(existsSync(`${directory}/segments/0001.jsonl`)).toBe(true);
});

test('a manifest of another store beside the own one is refused, and nothing is touched', async () => {
  const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
  for (const place of [directory, other]) {
    const journal = await openJournal(place);
    await journal.commit(turnOf('a', 0));
    await journal.close();
  }
  const own = readFileSync(`${directory}/manifest.json`);
  const before = readFileSync(`${directory}/durable.json`, 'utf8');
  cpSync(`${other}/manifest.json`, `${directory}/manifest.json`);
  for (const readOnly of [true, false])
    await expect(openJournal(directory, { readOnly })).rejects.toMatchObject({
      code: 'corrupt',
      details: { place: `${directory}/manifest.json` },
    });
  expect(readFileSync(`${directory}/durable.json`, 'utf8')).toBe(before);
  writeFileSync(`${directory}/manifest.json`, own);
  expect(await contents(await opened(directory))).toContain('a-message-0-1');
});

/** A closed store of three segments, folded up to a place in the second; the last line of that and the third stand behind. */
async function threeSegments(directory: string): Promise<void> {
  const settings = { segmentBytes: 6_000, foldCommits: 1e6 };
  const journal = await openJournal(directory, { settings });
  for (let k = 0; !existsSync(`${directory}/segments/0002.jsonl`); k++) await journal.commit(turnOf('a', k));
  // Longer than the third segment will be.
  for (const k of [0, 1]) await journal.commit(turnOf('d', k));
  await journal.catchUp();
  for (let k = 0; !existsSync(`${directory}/segments/0003.jsonl`); k++) await journal.commit(turnOf('b', k));
  await journal.close();
}

function swap(directory: string): void {
  const [second, third] = [2, 3].map((number) => `${directory}/segments/000${number}.jsonl`) as [string, string];
  renameSync(second, `${directory}/aside`);
  renameSync(third, second);
  renameSync(`${directory}/aside`, third);
}

test('what a swap of segments has lost is not forgotten by the next opening, and comes back with them', async () => {
  const directory = temporaryDirectory();
  await threeSegments(directory);
  const before = await openJournal(directory, { readOnly: true });
  const expected = await contents(before);
  await before.close();
  swap(directory);
  for (let opening = 1; opening <= 3; opening++) {
    const journal = await openJournal(directory);
    await expect(contents(journal)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(journal.commit(turnOf('c', opening))).rejects.toMatchObject({ code: 'corrupt' });
    expect((await journal.verify()).map(({ kind }) => kind)).toContain('lost');
    await journal.close();
  }
  swap(directory);
  const journal = await opened(directory);
  await journal.rebuild();
  expect(await contents(journal)).toBe(expected);
});

test('a reader whose fold was made of another segment says so, and answers nothing from it', async () => {
  const directory = temporaryDirectory();
  await threeSegments(directory);
  const path = `${directory}/segments/0002.jsonl`;
  const lines = readFileSync(path, 'latin1').split(/(?<=\n)/);
  writeFileSync(path, lines.toReversed().join(''), 'latin1');
  await expect(openJournal(directory, { readOnly: true })).rejects.toMatchObject({
    code: 'corrupt',
    details: { reason: expect.stringContaining('made of another segment') as string },
  });
});

const SEALED = ['manifest.json', 'manifest.copy.json', 'fold.json', 'durable.json'];

test.each(SEALED.flatMap((name) => SEALED.filter((other) => other !== name).map((other) => [name, other] as const)))(
  'a %s that is a copy of %s costs nothing, and is told',
  async (name, other) => {
    const directory = temporaryDirectory();
    await threeSegments(directory);
    const before = await openJournal(directory);
    const expected = await contents(before);
    await before.close();
    cpSync(`${directory}/${other}`, `${directory}/${name}`);
    const journal = await opened(directory);
    expect(await contents(journal)).toBe(expected);
    const isSame = name.startsWith('manifest') && other.startsWith('manifest');
    expect((await journal.verify()).length > 0).toBe(!isSame);
  },
);

test('a mark of another store is none', async () => {
  const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
  await threeSegments(directory);
  await (await openJournal(other)).close();
  cpSync(`${other}/durable.json`, `${directory}/durable.json`);
  expect((await (await opened(directory)).verify()).map(({ kind, place }) => `${kind} ${place}`)).toEqual([
    'set_aside durable.json',
  ]);
});

test.each(['null', '5', '{}', 'words', '{"file":1}'])(
  'a line of the report of what was set aside that says %s is told as that',
  async (line) => {
    const directory = temporaryDirectory();
    const journal = await opened(directory);
    mkdirSync(`${directory}/damaged`);
    writeFileSync(`${directory}/damaged/report.jsonl`, `${line}\n`);
    expect((await journal.verify()).map(({ kind, place }) => `${kind} ${place}`)).toEqual([
      'set_aside damaged/report.jsonl',
    ]);
    expect((await journal.examine()).map(({ check }) => check)).toContain('set_aside');
  },
);

test('a segment of another store says nothing, though its lines stand at the same places', async () => {
  const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
  for (const [place, words] of [
    [directory, 'quokka'],
    [other, 'wombat'],
  ] as const) {
    const journal = await openJournal(place);
    await journal.commit({ ...turnOf('a', 0, words), now: 1_700_000_000_000 });
    await journal.catchUp();
    await journal.close();
  }
  cpSync(`${other}/segments/0001.jsonl`, `${directory}/segments/0001.jsonl`);
  const journal = await opened(directory);
  await expect(journal.read('ns', (rows) => rows.log('a', 1))).rejects.toMatchObject({ code: 'corrupt' });
  // Nobody knows what it said.
  const { places } = await journal.search('ns', { text: 'quokka', limit: 10 });
  expect(places).toMatchObject([{ conversationId: 'a', version: 1 }]);
});

test('a search does not pass over a commit in whose place another stands', async () => {
  const directory = temporaryDirectory();
  const settings = { segmentBytes: 1 };
  const journal = await openJournal(directory, { settings });
  for (const [id, words] of [
    ['a', 'quokka'],
    ['b', 'wombat'],
    ['c', 'wallaby'],
  ] as const)
    await journal.commit({ ...turnOf(id, 0, words), now: 1_700_000_000_000 });
  await journal.catchUp();
  await journal.close();
  cpSync(`${directory}/segments/0002.jsonl`, `${directory}/segments/0001.jsonl`);
  const again = await opened(directory, { settings });
  const { places } = await again.search('ns', { text: 'quokka', limit: 10 });
  expect(places).toMatchObject([{ conversationId: 'a' }]);
  await expect(again.read('ns', (rows) => rows.log('a', 1))).rejects.toMatchObject({ code: 'corrupt' });
});
