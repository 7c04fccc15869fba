import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RowReader } from '../core/backend.ts';
import type { Change } from '../core/change.ts';
import { isTurnkeepError } from '../core/errors.ts';
import { MemoryBackend } from '../memory/index.ts';
import { sha256 } from '../platform/hash.ts';
import { nonce } from '../platform/random.ts';
import { ArchiveFile } from './log/archive-file.ts';
import type { JournalFile } from './files/file-system.ts';
import { realFileSystem } from './files/file-system.ts';
import type { JournalBackend } from './journal-backend.ts';
import { findManifest } from './manifest.ts';
import { commitOf, contents, opened, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';

const SMALL = { foldCommits: 8, foldBytes: 16_384, segmentBytes: 65_536, mergeRuns: 3 };
const HOT = 6;

/** The same turns in a journal and in memory. */
async function written(journal: JournalBackend, turns = 60): Promise<MemoryBackend> {
  const memory = new MemoryBackend(sha256);
  for (let k = 0; k < turns; k++) {
    for (const conversation of ['a', 'b', 'c']) {
      const turn = turnOf(conversation, k, 'the quick brown fox jumps over the lazy dog '.repeat(5));
      await journal.commit(turn);
      await memory.commit(turn);
    }
  }
  return memory;
}

async function cooled(
  directory: string,
): Promise<{ readonly journal: JournalBackend; readonly memory: MemoryBackend }> {
  const journal = await opened(directory, { settings: SMALL });
  const memory = await written(journal);
  const moved = await journal.cool('ns', { hotMessages: HOT });
  expect(moved).toBe(await memory.cool('ns', { hotMessages: HOT }));
  return { journal, memory };
}

function names(directory: string, folder: string): readonly string[] {
  return existsSync(`${directory}/${folder}`) ? readdirSync(`${directory}/${folder}`).sort() : [];
}

/** Which versions of a conversation can be read. */
function readable(rows: RowReader, conversation: string): readonly boolean[] {
  const version = rows.head(conversation)?.version ?? 0;
  return Array.from({ length: version }, (_, at) => {
    try {
      return rows.log(conversation, at + 1) !== undefined;
    } catch (error) {
      if (isTurnkeepError(error, 'corrupt')) return false;
      throw error;
    }
  });
}

describe('an archived segment', () => {
  test('says what it said: here, after a reopening, after a rebuild and to another handle', async () => {
    const directory = temporaryDirectory();
    const { journal, memory } = await cooled(directory);
    const expected = await contents(memory);
    expect(await contents(journal)).toBe(expected);
    expect(await journal.verify()).toEqual([]);
    const reader = await opened(directory, { settings: SMALL, readOnly: true });
    expect(await contents(reader)).toBe(expected);
    await reader.close();
    await journal.close();
    const again = await opened(directory, { settings: SMALL });
    expect(await contents(again)).toBe(expected);
    await again.rebuild();
    expect(await contents(again)).toBe(expected);
    expect(await again.verify()).toEqual([]);
    const next = turnOf('a', 60);
    expect(await again.commit(next)).toEqual(await memory.commit(next));
    expect(await contents(again)).toBe(await contents(memory));
  });

  test('takes the place of its file, and of less room', async () => {
    const directory = temporaryDirectory();
    const journal = await opened(directory, { settings: SMALL });
    await written(journal);
    const size = (folder: string) =>
      names(directory, folder).reduce((sum, name) => sum + statSync(`${directory}/${folder}/${name}`).size, 0);
    const before = size('segments');
    await journal.cool('ns', { hotMessages: HOT });
    // The last lines of all conversations are hot, and so may be a segment that holds no others.
    expect(names(directory, 'archives').length).toBeGreaterThan(3);
    expect(
      names(directory, 'archives').filter((name) => names(directory, 'segments').includes(`${name.slice(0, 4)}.jsonl`)),
    ).toEqual([]);
    expect(size('archives') + size('segments')).toBeLessThan(before / 2);
  });

  test('is archived again when more of it may cool', async () => {
    const directory = temporaryDirectory();
    const { journal, memory } = await cooled(directory);
    for (const hotMessages of [4, 2, 0]) {
      expect(await journal.cool('ns', { hotMessages })).toBe(await memory.cool('ns', { hotMessages }));
      expect(await contents(journal)).toBe(await contents(memory));
    }
    expect(await journal.cool('ns', { hotMessages: 0 })).toBe(0);
  });

  test('is read by the block, not as a whole', async () => {
    const directory = temporaryDirectory();
    await (await cooled(directory)).journal.close();
    let bytesRead = 0;
    const counting = (file: JournalFile) =>
      withFile(file, {
        read(bytes, position) {
          bytesRead += bytes.length;
          return file.read(bytes, position);
        },
      });
    const fileSystem: typeof realFileSystem = {
      ...realFileSystem,
      open: (path, mode) => counting(realFileSystem.open(path, mode)),
    };
    const journal = await opened(directory, { settings: SMALL, fileSystem });
    await journal.read('ns', (rows) => rows.log('a', 3));
    bytesRead = 0;
    await journal.read('ns', (rows) => rows.log('a', 8));
    expect(bytesRead).toBeLessThan(statSync(`${directory}/archives/0001.tka`).size);
  });

  test('that is damaged harms the commits of the block, and verify says where', async () => {
    const directory = temporaryDirectory();
    const { journal, memory } = await cooled(directory);
    await journal.close();
    const path = `${directory}/archives/0001.tka`;
    const bytes = readFileSync(path);
    bytes.writeUInt8((bytes[100] as number) ^ 1, 100);
    writeFileSync(path, bytes);
    const again = await opened(directory, { settings: SMALL });
    const found = await again.read('ns', (rows) => readable(rows, 'a'));
    expect(found[0]).toBe(false);
    expect(found.at(-1)).toBe(true);
    expect(found.filter((is) => !is).length).toBeLessThan(found.length / 2);
    await expect(again.read('ns', (rows) => rows.log('a', 1))).rejects.toMatchObject({
      code: 'corrupt',
      details: { reason: 'archive block 0 does not match its digest' },
    });
    expect(await again.verify()).toContainEqual({
      kind: 'archive',
      place: 'archives/0001.tka',
      reason: 'archive block 0 does not match its digest',
    });
    const next = turnOf('a', 60);
    expect(await again.commit(next)).toEqual(await memory.commit(next));
  });

  test.each([
    ['the archive’s end', (bytes: Buffer) => bytes.subarray(0, -10)],
    ['all of it', () => Buffer.alloc(0)],
  ])('of which %s is lost is told, and the rest of the store is read', async (_, damage) => {
    const directory = temporaryDirectory();
    const { journal } = await cooled(directory);
    await journal.close();
    const path = `${directory}/archives/0001.tka`;
    writeFileSync(path, damage(readFileSync(path)));
    const again = await opened(directory, { settings: SMALL });
    const found = await again.read('ns', (rows) => readable(rows, 'a'));
    expect([found[0], found.at(-1)]).toEqual([false, true]);
    const kinds = (await again.verify()).map(({ kind, place }) => `${kind} ${place}`);
    expect(kinds).toContain('archive archives/0001.tka');
  });

  test('beside its segment, as a crash leaves it, is the one that counts', async () => {
    const directory = temporaryDirectory();
    const journal = await opened(directory, { settings: SMALL });
    const memory = await written(journal);
    const plain = readFileSync(`${directory}/segments/0001.jsonl`);
    await journal.cool('ns', { hotMessages: HOT });
    await memory.cool('ns', { hotMessages: HOT });
    await journal.close();
    writeFileSync(`${directory}/segments/0001.jsonl`, plain);
    writeFileSync(`${directory}/archives/0002.tka.tmp`, 'half of it');
    const again = await opened(directory, { settings: SMALL });
    expect(await contents(again)).toBe(await contents(memory));
    expect(names(directory, 'segments')).not.toContain('0001.jsonl');
    expect(names(directory, 'archives')).not.toContain('0002.tka.tmp');
    expect(await again.verify()).toEqual([]);
  });

  test('that is not sound leaves the segment beside it as it is', async () => {
    const directory = temporaryDirectory();
    const journal = await opened(directory, { settings: SMALL });
    const memory = await written(journal);
    await journal.close();
    realFileSystem.makeDirectory(`${directory}/archives`);
    writeFileSync(`${directory}/archives/0001.tka`, 'no archive');
    const again = await opened(directory, { settings: SMALL });
    expect(await contents(again)).toBe(await contents(memory));
    expect(names(directory, 'segments')).toContain('0001.jsonl');
  });

  test('I10: holds no byte of words that went, once they were collected', async () => {
    const directory = temporaryDirectory();
    const journal = await opened(directory, { settings: SMALL });
    const memory = new MemoryBackend(sha256);
    const both = [journal, memory];
    for (let k = 0; k < 30; k++) {
      for (const turn of [turnOf('a', k, k === 2 ? 'zanzibar' : 'plain'), turnOf('b', k, 'zanzibar')])
        for (const backend of both) await backend.commit(turn);
    }
    const redactions = [1, 2].map((at): Change => {
      return { kind: 'message.redact', messageId: `a-message-2-${at}`, reason: 'asked' };
    });
    const redact = commitOf('a', 'redacts', redactions);
    const erase = commitOf('b', 'erases', [{ kind: 'conversation.erase' }]);
    for (const backend of both) {
      await backend.cool('ns', { hotMessages: 2 });
      await backend.commit(redact);
      await backend.commit(erase);
    }
    expect(textIn(directory)).toContain('zanzibar');
    for (const backend of both) await backend.collect('ns');
    expect(textIn(directory)).not.toContain('zanzibar');
    expect(textIn(directory)).toContain('plain');
    expect(await contents(journal)).toBe(await contents(memory));
    await journal.rebuild();
    expect(await contents(journal)).toBe(await contents(memory));
    expect(await journal.verify()).toEqual([]);
  });
});

describe('an erasure over an archive block that is damaged', () => {
  /** Of several blocks. */
  const ONE_SEGMENT = { ...SMALL, segmentBytes: 10_000_000 };
  const words = 'zanzibar '.repeat(40);

  /** Turns of `b` that are erased, among those of `a`, all archived; the first block is damaged. Answers the sound archive. */
  async function damaged(directory: string): Promise<Buffer> {
    const journal = await opened(directory, { settings: ONE_SEGMENT });
    for (let k = 0; k < 60; k++) {
      await journal.commit(turnOf('b', k, words));
      // Words that do not compress fill the block.
      await journal.commit(turnOf('a', k, nonces(100)));
    }
    await journal.cool('ns', { hotMessages: 0 });
    await journal.close();
    const path = `${directory}/archives/0001.tka`;
    const sound = readFileSync(path);
    const bytes = Buffer.from(sound);
    bytes.writeUInt8((bytes[100] as number) ^ 1, 100);
    writeFileSync(path, bytes);
    return sound;
  }

  function nonces(count: number): string {
    return Array.from({ length: count }, () => nonce()).join(' ');
  }

  test('takes the words of all others, tells what stays, and ends once the block is right again', async () => {
    const directory = temporaryDirectory();
    const sound = await damaged(directory);
    const journal = await opened(directory, { settings: ONE_SEGMENT });
    const readableA = () => journal.read('ns', (rows) => readable(rows, 'a').filter(Boolean).length);
    const before = await readableA();
    await journal.commit(commitOf('b', 'erases', [{ kind: 'conversation.erase' }]));
    await journal.commit(
      commitOf('a', 'redacts', [{ kind: 'message.redact', messageId: 'a-message-59-1', reason: 'r' }]),
    );
    expect(await journal.collect('ns')).toBeGreaterThan(0);
    expect(textIn(directory)).not.toContain('zanzibar');
    expect(await readableA()).toBe(before + 1);
    expect(await journal.examine()).toContainEqual({
      check: 'uncollected',
      status: 'problem',
      says: expect.stringMatching(
        /^namespace ns: .*commits of conversation b, the first at segments\/0001.jsonl, byte 0/,
      ) as string,
      advice: expect.stringContaining('turnkeep maintain') as string,
    });
    expect((await journal.verify()).map(({ reason }) => reason)).toContain('archive block 0 does not match its digest');
    // It comes back to it, and finds it as it was.
    expect(await journal.collect('ns')).toBe(0);
    await journal.close();
    writeFileSync(`${directory}/archives/0001.tka`, sound);
    const again = await opened(directory, { settings: ONE_SEGMENT });
    await again.collect('ns');
    expect(textIn(directory)).not.toContain('zanzibar');
    expect(await again.read('ns', (rows) => readable(rows, 'a').every(Boolean))).toBe(true);
    expect((await again.examine()).map(({ check }) => check)).not.toContain('uncollected');
  });
});

/** All that stands in the files, archives unpacked. */
function textIn(directory: string): string {
  const store = findManifest(realFileSystem, directory)?.manifest.store ?? '';
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => {
      const path = `${parentPath}/${name}`;
      if (!name.endsWith('.tka')) return readFileSync(path, 'utf8');
      const archive = ArchiveFile.open(realFileSystem, path, { store, segment: Number(name.slice(0, 4)) });
      if (!(archive instanceof ArchiveFile)) return `${path} is no archive`;
      const bytes = Buffer.alloc(archive.sizeBytes());
      archive.read(bytes, 0);
      archive.close();
      return bytes.toString('utf8');
    })
    .join('\n');
}

test('what is old cools by itself where it is worth it', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory, { settings: SMALL, hotMessages: 10 });
  const memory = await written(journal, 130);
  while (names(directory, 'archives').filter((name) => name.endsWith('.tka')).length < 2)
    await journal.read('ns', (rows) => rows.head('a'));
  const isHot = (text: string) => text.replaceAll(',"tier":"cool"', '');
  expect(isHot(await contents(journal))).toBe(await contents(memory));
  expect(await journal.verify()).toEqual([]);
});
