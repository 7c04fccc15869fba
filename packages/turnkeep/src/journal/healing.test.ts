import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { isTurnkeepError } from '../core/errors.ts';
import { MemoryBackend } from '../memory/index.ts';
import { Ledger } from '../ledger/ledger.ts';
import { sha256 } from '../platform/hash.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem, JournalFile } from './files/file-system.ts';
import type { JournalBackend } from './journal-backend.ts';
import { commitOf, contents, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';
import { openJournal } from './open.ts';

/** Failures of the file system and damaged runs, met by everything that a journal does. */

/** A file system of which one operation fails: the one that is as many operations away as `left` says. */
class FailsOnce implements FileSystem {
  left = Infinity;
  /** The opening of a file that fails, counted likewise. */
  opensLeft = Infinity;
  /** The paths of files that are open. */
  readonly files = new Map<JournalFile, string>();
  readonly #code: string;

  constructor(code = 'EIO') {
    this.#code = code;
  }

  #step(): void {
    this.left -= 1;
    if (this.left === 0) throw Object.assign(new Error(`${this.#code}: it fails`), { code: this.#code });
  }

  open(path: string, mode: Parameters<FileSystem['open']>[1]): JournalFile {
    this.#step();
    this.opensLeft -= 1;
    if (this.opensLeft === 0) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
    const file = realFileSystem.open(path, mode);
    this.files.set(file, path);
    const step = () => this.#step();
    return {
      read: (bytes, position) => (step(), file.read(bytes, position)),
      write: (bytes, position) => (step(), file.write(bytes, position)),
      sync: async () => (step(), file.sync()),
      truncate: (sizeBytes) => (step(), file.truncate(sizeBytes)),
      sizeBytes: () => file.sizeBytes(),
      identity: () => file.identity(),
      close: () => {
        this.files.delete(file);
        file.close();
      },
    };
  }

  has = (path: string) => (this.#step(), realFileSystem.has(path));
  list = (directory: string) => (this.#step(), realFileSystem.list(directory));
  makeDirectory = (path: string) => (this.#step(), realFileSystem.makeDirectory(path));
  rename = (from: string, to: string) => (this.#step(), realFileSystem.rename(from, to));
  remove = (path: string) => (this.#step(), realFileSystem.remove(path));
  syncDirectory = async (path: string) => (this.#step(), realFileSystem.syncDirectory(path));
}

/** Small segments, folds by hand, nothing of the index kept in memory. */
const SETTINGS = { segmentBytes: 6_000, foldBytes: 1e9, cacheBytes: 0, mergeRuns: 9 };

interface Prepared {
  readonly directory: string;
  readonly fileSystem: FailsOnce;
  readonly journal: JournalBackend;
  /** What the journal holds. */
  readonly memory: MemoryBackend;
}

/** An open store: some turns, folded, and an erased conversation that waits for its collection. */
async function prepared(code?: string): Promise<Prepared> {
  const directory = temporaryDirectory();
  const fileSystem = new FailsOnce(code);
  const journal = await openJournal(directory, { fileSystem, settings: SETTINGS });
  // One whose closing failed has told so.
  onTestFinished(() => journal.close().catch(() => undefined));
  const memory = new MemoryBackend(sha256);
  const turns = ['a', 'gone'].flatMap((id) => [0, 1, 2, 3].map((k) => turnOf(id, k)));
  for (const envelope of [...turns, commitOf('gone', 'e', [{ kind: 'conversation.erase' }])]) {
    await journal.commit(envelope);
    await memory.commit(envelope);
  }
  await journal.catchUp();
  return { directory, fileSystem, journal, memory };
}

/** Turns a byte in every block of every run. */
function damageRuns(directory: string): void {
  for (const name of readdirSync(`${directory}/runs`)) {
    const path = `${directory}/runs/${name}`;
    const bytes = readFileSync(path);
    for (let at = 100; at < bytes.length - 3_000; at += 1_000) bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  }
}

function ledgerOver(journal: JournalBackend): Ledger {
  return new Ledger(journal, systemSurroundings, mintCommitId);
}

const put = (journal: JournalBackend) => ledgerOver(journal).namespace('ns').attachments.put(Buffer.from('hello'));

const withoutTiers = (text: string) => text.replaceAll(',"tier":"cool"', '');

const WORKS: readonly (readonly [what: string, work: (journal: JournalBackend) => Promise<unknown>])[] = [
  ['cool', (journal) => journal.cool('ns', { hotMessages: 2 })],
  ['collect', (journal) => journal.collect('ns')],
  ['verify', (journal) => journal.verify()],
  ['examine', (journal) => journal.examine()],
  ['catchUp', async (journal) => journal.commit(turnOf('b', 0)).then(() => journal.catchUp())],
  ['rebuild', (journal) => journal.rebuild()],
  ['put', put],
  ['read', (journal) => contents(journal)],
  ['search', (journal) => journal.search('ns', { text: 'fox', limit: 5 })],
  ['feed', (journal) => journal.feed('ns', 0, 5)],
  ['namespaces', (journal) => journal.namespaces()],
  ['commit', (journal) => journal.commit(turnOf('b', 0))],
  ['close', (journal) => journal.close()],
];

test.each(WORKS)('%s fails in our own words and leaves nothing open, whichever operation fails', async (what, work) => {
  const failures: string[] = [];
  for (let operation = 1; operation < 200; operation += operation < 6 ? 1 : 13) {
    const { fileSystem, journal } = await prepared();
    fileSystem.left = operation;
    await work(journal).catch((error: unknown) => {
      if (!isTurnkeepError(error)) failures.push(`${what}, operation ${operation}: ${String(error)}`);
    });
    const isThrough = fileSystem.left > 0;
    fileSystem.left = Infinity;
    await journal.close().catch(() => undefined);
    for (const path of fileSystem.files.values()) failures.push(`${what}, operation ${operation}: ${path} stays open`);
    if (isThrough) break;
  }
  expect(failures).toEqual([]);
});

test.each(WORKS.filter(([what]) => ['cool', 'collect', 'catchUp', 'rebuild', 'search'].includes(what)))(
  '%s leaves nothing open, whichever file cannot be opened',
  async (what, work) => {
    const left: string[] = [];
    for (let opening = 1, isThrough = false; !isThrough; opening++) {
      const { fileSystem, journal } = await prepared();
      fileSystem.opensLeft = opening;
      await work(journal).catch(() => undefined);
      isThrough = fileSystem.opensLeft > 0;
      fileSystem.opensLeft = Infinity;
      await journal.close();
      for (const path of fileSystem.files.values()) left.push(`${what}, opening ${opening}: ${path}`);
    }
    expect(left).toEqual([]);
  },
);

test('to give a verification up is told in our own words', async () => {
  const { journal } = await prepared();
  const giveUp = new AbortController();
  const verifying = journal.verify(giveUp.signal);
  giveUp.abort();
  await expect(verifying).rejects.toMatchObject({ code: 'aborted' });
});

test.each(WORKS.filter(([what]) => !['close', 'verify', 'catchUp', 'rebuild'].includes(what)))(
  '%s builds a damaged index anew and goes on',
  async (_what, work) => {
    const { directory, journal, memory } = await prepared();
    damageRuns(directory);
    await work(journal);
    await journal.collect('ns');
    await memory.collect('ns');
    const held = await contents(journal);
    const lines = held.split('\n');
    for (const line of (await contents(memory)).split('\n'))
      expect(lines.some((one) => withoutTiers(one) === line)).toBe(true);
    await journal.rebuild();
    expect(await contents(journal)).toBe(held);
  },
);

test('an index that could not be built anew answers nothing, and is built when that can be done', async () => {
  let isThrough = false;
  for (let operation = 1; !isThrough; operation += operation < 20 ? 1 : 17) {
    const { directory, fileSystem, journal, memory } = await prepared();
    damageRuns(directory);
    fileSystem.left = operation;
    const first = await contents(journal).catch((error: unknown) => (isTurnkeepError(error) ? 'refused' : error));
    isThrough = fileSystem.left > 0;
    fileSystem.left = Infinity;
    const expected = await contents(memory);
    expect([expected, 'refused']).toContain(first);
    expect(await journal.commit(turnOf('a', 3))).toMatchObject({ version: 4, replayed: true });
    expect(await contents(journal)).toBe(expected);
    await journal.close();
  }
});

test('a group is answered though the index that was built anew is damaged as well', async () => {
  const directory = temporaryDirectory();
  let isDamaged = false;
  const fileSystem: FileSystem = {
    ...realFileSystem,
    open(path, mode) {
      const file = realFileSystem.open(path, mode);
      if (!path.endsWith('.run')) return file;
      return withFile(file, {
        read(bytes, position) {
          const filled = file.read(bytes, position);
          // The first block.
          if (isDamaged && position === 16) bytes[0] = (bytes[0] ?? 0) ^ 1;
          return filled;
        },
      });
    },
  };
  const journal = await openJournal(directory, { fileSystem, settings: SETTINGS });
  await journal.commit(turnOf('a', 0));
  await journal.catchUp();
  isDamaged = true;
  await expect(journal.commit(turnOf('a', 1))).rejects.toMatchObject({ code: 'corrupt' });
  isDamaged = false;
  expect(await journal.commit(turnOf('a', 1))).toMatchObject({ version: 2, replayed: false });
  await journal.close();
});
