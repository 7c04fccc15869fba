import { expect, test } from 'vitest';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { contents, opened, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';

/** So many files may a journal have open, apart from those that it opens for a moment. */
const MOST = 40;

/** A system that gives a process no more than so many descriptors. */
class FewDescriptors {
  open = 0;
  /** Reads of archives. */
  reads = 0;

  readonly fileSystem: FileSystem = {
    ...realFileSystem,
    open: (path, mode) => {
      if (this.open >= MOST) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
      const file = realFileSystem.open(path, mode);
      this.open += 1;
      const close = () => {
        this.open -= 1;
        file.close();
      };
      const read = (bytes: Uint8Array, position: number) => {
        if (path.includes('/archives/')) this.reads += 1;
        return file.read(bytes, position);
      };
      return withFile(file, { close, read });
    },
  };
}

test('a journal of many segments gets along with few descriptors', async () => {
  const [directory, few] = [temporaryDirectory(), new FewDescriptors()];
  const settings = { segmentBytes: 4_000, foldCommits: 8, foldBytes: 8_000 };
  const journal = await opened(directory, { fileSystem: few.fileSystem, settings });
  for (let k = 0; k < 100; k++) await journal.commit(turnOf('a', k));
  await journal.cool('ns', { hotMessages: 4 });
  const held = await contents(journal);
  await journal.catchUp();
  await journal.search('ns', { text: 'fox', limit: 5 });
  expect(await journal.verify()).toEqual([]);
  await journal.close();
  expect(few.open).toBe(0);
  const again = await opened(directory, { fileSystem: few.fileSystem, settings });
  expect(await contents(again)).toBe(held);
});

test('an archive that was closed for want of descriptors is opened again without its directory', async () => {
  const [directory, few] = [temporaryDirectory(), new FewDescriptors()];
  const settings = { segmentBytes: 4_000 };
  const journal = await opened(directory, { fileSystem: few.fileSystem, settings });
  for (let k = 0; k < 60; k++) await journal.commit(turnOf('a', k));
  await journal.cool('ns', { hotMessages: 4 });
  const tiers = async () => {
    few.reads = 0;
    await journal.read('ns', (rows) => Array.from({ length: 50 }, (_, at) => rows.log('a', at + 1)?.tier));
    return few.reads;
  };
  const first = await tiers();
  // What was read of commits is kept: of the archives nothing but where they are is asked again.
  expect(await tiers()).toBeLessThan(first / 2);
});
