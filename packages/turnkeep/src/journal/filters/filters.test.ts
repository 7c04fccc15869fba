import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { JournalBackend } from '../journal-backend.ts';
import { sha256 } from '../../platform/hash.ts';
import { realFileSystem } from '../files/file-system.ts';
import { commitOf, opened, says, temporaryDirectory } from '../journal.testkit.ts';
import { findManifest } from '../manifest.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { storeParts } from '../store-parts.ts';
import { FilterProbe } from './filter-probe.ts';

const SETTINGS = { foldCommits: 4, foldBytes: 1, segmentBytes: 20_000, filterBytes: 5_000, mergeRuns: 3 };
const LINES = 80;

/** A journal of lines in one conversation, the 20th and the last but ten of which say something of their own. */
async function written(directory: string, rare = 'zyzzyva'): Promise<JournalBackend> {
  const journal = await opened(directory, { settings: SETTINGS });
  for (let k = 1; k <= LINES; k++) {
    const words = k === 20 || k === LINES - 10 ? `${rare} of line` : 'the quick brown fox of line';
    await journal.commit(commitOf('c', `commit-${k}`, [says(`m${k}`, 'user', `${words} ${k}`)]));
  }
  await journal.catchUp();
  return journal;
}

function filters(directory: string): readonly string[] {
  return readdirSync(`${directory}/search`).sort();
}

/** The versions that a search proposes. */
async function proposed(journal: JournalBackend, text: string): Promise<readonly number[]> {
  const versions: number[] = [];
  for (let before: string | undefined; ;) {
    const found = await journal.search('ns', { text, before, limit: 1_000 });
    versions.push(...found.places.map(({ version }) => version));
    if (found.next === undefined) return versions;
    before = found.next;
  }
}

/** How many of the log's lines no filter rules a text out for. */
function notRuledOut(directory: string, text: string): number {
  const store = findManifest(realFileSystem, directory)?.manifest.store ?? '';
  const parts = storeParts({
    fs: realFileSystem,
    directory,
    store,
    settings: { ...DEFAULT_SETTINGS, ...SETTINGS },
    sha256,
  });
  const probe = new FilterProbe(parts.filters, text);
  const lines = Array.from({ length: LINES }, (_, at) => at + 1).filter((n) => !probe.excluding(n));
  probe.close();
  parts.segments.forget();
  return lines.length;
}

test('filters rule out what is nowhere, up to the last stretch', async () => {
  const directory = temporaryDirectory();
  const journal = await written(directory);
  expect(await proposed(journal, 'zyzzyva')).toEqual([70, 20]);
  expect(await proposed(journal, 'jumps over no dog')).toEqual([]);
  expect(await proposed(journal, ' fox')).toHaveLength(LINES - 2);
  const lines = readFileSync(`${directory}/segments/0001.jsonl`, 'latin1').indexOf('\n');
  expect(notRuledOut(directory, 'jumps over no dog')).toBeLessThanOrEqual(Math.ceil(SETTINGS.filterBytes / lines) + 1);
  expect(notRuledOut(directory, 'zyzzyva')).toBeLessThan(LINES / 2);
  expect(notRuledOut(directory, 'fox')).toBe(LINES);
  expect(await journal.verify()).toEqual([]);
});

test('a filter that is missing or damaged changes no answer, is told where it is damaged, and is made anew', async () => {
  const directory = temporaryDirectory();
  await (await written(directory)).close();
  const [first = '', second = ''] = filters(directory);
  rmSync(`${directory}/search/${first}`);
  const journal = await opened(directory, { settings: SETTINGS });
  expect(await proposed(journal, 'zyzzyva')).toEqual([70, 20]);
  await journal.catchUp();
  expect(filters(directory)).toContain(first);
  const path = `${directory}/search/${second || first}`;
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
  writeFileSync(path, bytes);
  expect(await journal.verify()).toEqual([
    { kind: 'index', place: `search/${second || first}`, reason: 'page 0 does not match its checksum' },
  ]);
  for (const text of ['zyzzyva', 'jumps over no dog', 'xylophone'])
    expect((await proposed(journal, text)).toSorted((left, right) => left - right)).toEqual(
      text === 'zyzzyva' ? [20, 70] : [],
    );
  await journal.rebuild();
  expect(await journal.verify()).toEqual([]);
});

test.each([
  ['cut', (bytes: Buffer) => bytes.subarray(0, -5)],
  ['empty', () => Buffer.alloc(0)],
  ['something else', () => Buffer.from('not a filter')],
])('a filter file that is %s is told of, and made anew by the next writer', async (_, damage) => {
  const directory = temporaryDirectory();
  await (await written(directory)).close();
  const [first = ''] = filters(directory);
  writeFileSync(`${directory}/search/${first}`, damage(readFileSync(`${directory}/search/${first}`)));
  const reader = await opened(directory, { settings: SETTINGS, readOnly: true });
  expect((await reader.verify()).map(({ place }) => place)).toEqual([`search/${first}`]);
  expect(await proposed(reader, 'zyzzyva')).toEqual([70, 20]);
  const journal = await opened(directory, { settings: SETTINGS });
  await journal.catchUp();
  expect(await journal.verify()).toMatchObject([{ kind: 'set_aside', place: `search/${first}` }]);
  expect(notRuledOut(directory, 'zyzzyva')).toBeLessThan(LINES / 2);
});

test('filters of another log are not looked at', async () => {
  const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
  await (await written(directory)).close();
  cpSync(directory, other, { recursive: true });
  // Both go on, each with words of its own under the same numbers of lines.
  for (const [place, words] of [
    [directory, 'quokka'],
    [other, 'wombat'],
  ] as const) {
    const journal = await opened(place, { settings: SETTINGS });
    for (let k = 1; k <= LINES; k++)
      await journal.commit(commitOf('d', `d-${k}`, [says(`d${k}`, 'user', `${words} ${k}`)]));
    await journal.catchUp();
    await journal.close();
  }
  rmSync(`${directory}/search`, { recursive: true });
  cpSync(`${other}/search`, `${directory}/search`, { recursive: true });
  const journal = await opened(directory, { settings: SETTINGS });
  expect(await proposed(journal, 'quokka')).toHaveLength(LINES);
  await journal.catchUp();
  expect(await proposed(journal, 'wombat')).toEqual([]);
  expect(await proposed(journal, 'quokka')).toHaveLength(LINES);
});

test('I10: a filter keeps nothing of words that went', async () => {
  const directory = temporaryDirectory();
  const journal = await written(directory);
  const redactions = [20, 70].map((k) => ({ kind: 'message.redact', messageId: `m${k}`, reason: 'asked' }) as const);
  for (const change of redactions) await journal.commit(commitOf('c', `redacts-${change.messageId}`, [change]));
  // Each of the two lines stands in a stretch of four.
  expect(notRuledOut(directory, 'zyzzyva')).toBe(8);
  const before = filters(directory).map((name) => readFileSync(`${directory}/search/${name}`, 'latin1'));
  await journal.collect('ns');
  const kept = filters(directory).map((name) => readFileSync(`${directory}/search/${name}`, 'latin1'));
  expect(kept.length).toBeLessThan(before.length);
  await journal.catchUp();
  expect(notRuledOut(directory, 'zyzzyva')).toBe(0);
  expect(await proposed(journal, 'zyzzyva')).toEqual([]);
  expect(await proposed(journal, 'quick')).toHaveLength(LINES - 2);
});

test('a line whose words cannot be read is looked at by every search', async () => {
  const directory = temporaryDirectory();
  await (await written(directory)).close();
  rmSync(`${directory}/search`, { recursive: true });
  const segment = `${directory}/segments/0001.jsonl`;
  writeFileSync(segment, readFileSync(segment, 'latin1').replace('fox of line 7"', 'fix of line 7"'), 'latin1');
  const journal = await opened(directory, { settings: SETTINGS });
  await journal.catchUp();
  expect(filters(directory).length).toBeGreaterThan(0);
  expect(await proposed(journal, 'jumps over no dog')).toEqual([7]);
  expect(await proposed(journal, 'zyzzyva')).toEqual([70, 20, 7]);
});

test('files of a stretch or two become one of many', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory, { settings: { ...SETTINGS, filterBytes: 1_000 } });
  for (let k = 1; k <= 3 * LINES; k++) {
    await journal.commit(commitOf('c', `commit-${k}`, [says(`m${k}`, 'user', `line ${k}`)]));
    if (k % 8 === 0) await journal.catchUp();
  }
  expect(filters(directory).length).toBeLessThan(16 + 8);
  expect(await proposed(journal, 'line 77')).toContain(77);
  expect(await journal.verify()).toEqual([]);
});

test('a long text is found wherever the query stands in it', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory, { settings: SETTINGS });
  const numbers = Array.from({ length: 9_000 }, (_, at) => `🦊${at}`).join('');
  await journal.commit(commitOf('c', 'long', [says('m', 'user', numbers)]));
  await journal.catchUp();
  expect(filters(directory)).toHaveLength(1);
  const points = Array.from(numbers);
  for (let at = 13_400; at < 13_520; at++)
    expect(await proposed(journal, points.slice(at, at + 8).join(''))).toEqual([1]);
  expect(await proposed(journal, '9000🦊')).toEqual([]);
});
