import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import type { JournalBackend } from './journal-backend.ts';
import { contents, opened, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';

/** What cooling by hand looks at again, and what it does not. */

const SETTINGS = { segmentBytes: 30_000, foldCommits: 4, foldBytes: 8_000 };
const HOT = { hotMessages: 4 };
const CONVERSATIONS = ['a', 'b', 'c', 'd'];

/** A file system that counts what is read of segments, archived ones too. */
class CountsLines {
  reads = 0;

  readonly fileSystem: FileSystem = {
    ...realFileSystem,
    open: (path, mode) => {
      const file = realFileSystem.open(path, mode);
      if (!/\/(segments|archives)\//.test(path)) return file;
      const read = (bytes: Uint8Array, position: number) => {
        this.reads += 1;
        return file.read(bytes, position);
      };
      return withFile(file, { read });
    },
  };

  async during(work: () => Promise<unknown>): Promise<number> {
    this.reads = 0;
    await work();
    return this.reads;
  }
}

interface Cooled {
  readonly directory: string;
  readonly lines: CountsLines;
  readonly journal: JournalBackend;
  /** A segment as it was before it became an archive. */
  readonly plain: Buffer;
  /** Opens it again. */
  readonly again: () => Promise<JournalBackend>;
}

const segmentOf = (directory: string) => `${directory}/segments/0001.jsonl`;
const archiveOf = (directory: string) => `${directory}/archives/0001.tka`;

/** A store that cooled all that may. */
async function cooled(options: { readonly hotMessages: number } = HOT): Promise<Cooled> {
  const [directory, lines] = [temporaryDirectory(), new CountsLines()];
  const again = () => opened(directory, { fileSystem: lines.fileSystem, settings: SETTINGS });
  const journal = await again();
  for (let k = 0; k < 16; k++) for (const id of CONVERSATIONS) await journal.commit(turnOf(id, k));
  const plain = readFileSync(segmentOf(directory));
  expect(await journal.cool('ns', options)).toBeGreaterThan(0);
  return { directory, lines, journal, plain, again };
}

test('cooling reads no line where nothing is to be cooled, in the next process too', async () => {
  const { lines, journal, again } = await cooled();
  expect(await lines.during(() => journal.cool('ns', HOT))).toBe(0);
  await journal.close();
  const next = await again();
  expect(await lines.during(() => next.cool('ns', HOT))).toBe(0);
  expect(await lines.during(() => next.cool('ns', { hotMessages: 6 }))).toBe(0);
});

test('cooling looks at the conversations alone that went on', async () => {
  const { lines, journal, again } = await cooled({ hotMessages: 20 });
  await journal.commit(turnOf('b', 16));
  await journal.close();
  const one = await again();
  await one.catchUp();
  const few = await lines.during(async () => expect(await one.cool('ns', { hotMessages: 22 })).toBe(0));
  await one.close();
  const other = await again();
  await other.catchUp();
  const all = await lines.during(async () => expect(await other.cool('ns', { hotMessages: 21 })).toBe(0));
  expect(few).toBeLessThan(all / 2);
  for (let k = 17; k < 20; k++) await other.commit(turnOf('b', k));
  expect(await other.cool('ns', { hotMessages: 22 })).toBe(3);
  expect(await other.verify()).toEqual([]);
});

test('an older archive that somebody has put in the place of its successor cools again', async () => {
  const { directory, journal, again } = await cooled({ hotMessages: 28 });
  const older = readFileSync(archiveOf(directory));
  expect(await journal.cool('ns', HOT)).toBeGreaterThan(0);
  const held = await contents(journal);
  await journal.close();
  writeFileSync(archiveOf(directory), older);
  const next = await again();
  expect(await next.cool('ns', HOT)).toBeGreaterThan(0);
  expect(await contents(next)).toBe(held);
});

test('a segment that was put back for its archive cools again', async () => {
  const { directory, journal, plain, again } = await cooled();
  const held = await contents(journal);
  await journal.close();
  rmSync(archiveOf(directory));
  writeFileSync(segmentOf(directory), plain);
  const next = await again();
  expect(await next.cool('ns', HOT)).toBeGreaterThan(0);
  expect(await contents(next)).toBe(held);
});

test('what could not be cooled for damage cools once its segment was restored', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory, { settings: SETTINGS });
  for (let k = 0; k < 16; k++) await journal.commit(turnOf('a', k));
  await journal.close();
  const plain = readFileSync(segmentOf(directory));
  const damaged = Buffer.from(plain);
  const words = damaged.indexOf('quick brown');
  damaged[words] = (damaged[words] ?? 0) ^ 1;
  writeFileSync(segmentOf(directory), damaged);
  const broken = await opened(directory, { settings: SETTINGS });
  const moved = await broken.cool('ns', HOT);
  await broken.close();
  // The archive holds the damaged line as it stands: whoever has the segment puts it back.
  rmSync(archiveOf(directory), { force: true });
  writeFileSync(segmentOf(directory), plain);
  const whole = await opened(directory, { settings: SETTINGS });
  expect(await whole.cool('ns', HOT)).toBeGreaterThan(0);
  expect(moved).toBeGreaterThan(0);
  expect(await whole.cool('ns', HOT)).toBe(0);
});
