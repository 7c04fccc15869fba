import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isTurnkeepError } from '../core/errors.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem, JournalFile } from './files/file-system.ts';
import type { JournalBackend } from './journal-backend.ts';
import { contents, opened, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';
import { openJournal } from './open.ts';

/** A disk on which there is room for so many writes, and for none after them. */
class FullDisk {
  left = Infinity;
  /** Files that are open. */
  readonly open = new Map<JournalFile, string>();

  readonly fileSystem: FileSystem = {
    ...realFileSystem,
    open: (path, mode) => {
      const file = realFileSystem.open(path, mode);
      this.open.set(file, path);
      const close = () => {
        this.open.delete(file);
        file.close();
      };
      const write = (bytes: Uint8Array, position: number) => {
        this.left -= 1;
        if (this.left < 0) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
        file.write(bytes, position);
      };
      return withFile(file, { close, write });
    },
  };
}

/** What a call fails with; `undefined` where it does not. */
async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => (isTurnkeepError(error) ? error.code : String(error)),
  );
}

/** Folds while it is built anew, and small segments. */
const SETTINGS = { foldCommits: 3, foldBytes: 1_000, segmentBytes: 20_000, mergeRuns: 3 };

test('a journal whose rebuild finds no room goes on with the index that it has', async () => {
  for (let room = 0, isThrough = false; !isThrough; room += 7) {
    const disk = new FullDisk();
    const directory = temporaryDirectory();
    const journal = await opened(directory, { fileSystem: disk.fileSystem, settings: SETTINGS });
    for (let k = 0; k < 16; k++) await journal.commit(turnOf(`c${k % 2}`, Math.floor(k / 2)));
    await journal.catchUp();
    const expected = await contents(journal);
    disk.left = room;
    const rebuilt = await codeOf(journal.rebuild());
    isThrough = rebuilt === undefined;
    expect([undefined, 'store_full']).toContain(rebuilt);
    expect(await contents(journal)).toBe(expected);
    expect([undefined, 'store_full']).toContain(await codeOf(journal.commit(turnOf('c0', 8))));
    disk.left = Infinity;
    expect(await journal.commit(turnOf('c0', 8))).toMatchObject({ version: 9 });
    expect(await journal.verify()).toEqual([]);
    const held = await contents(journal);
    await journal.catchUp();
    await journal.close();
    const again = await opened(directory, { settings: SETTINGS });
    expect(await contents(again)).toBe(held);
    expect(await again.verify()).toEqual([]);
    expect(readdirSync(directory)).not.toContain('damaged');
    await again.close();
  }
});

/** Files that are not whole, and runs that no fold names: room that nobody has anything of. */
function leftovers(directory: string): readonly string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const fold = `${directory}/fold.json`;
  const runs = existsSync(fold) ? readFileSync(fold, 'utf8') : '';
  return names.filter((name) => name.endsWith('.tmp') || (name.startsWith('runs/') && !runs.includes(name.slice(5))));
}

test('what does not come to its end for want of room takes none', async () => {
  for (let room = 0, isThrough = false; !isThrough; room += 1) {
    const disk = new FullDisk();
    const directory = temporaryDirectory();
    const journal = await opened(directory, { fileSystem: disk.fileSystem, settings: SETTINGS });
    for (let k = 0; k < 8; k++) await journal.commit(turnOf('c', k));
    disk.left = room;
    for (let attempt = 1; attempt <= 2; attempt++) {
      await codeOf(journal.cool('ns', { hotMessages: 2 }));
      isThrough = (await codeOf(journal.catchUp())) === undefined && disk.left >= 0;
    }
    await codeOf(journal.close());
    expect(leftovers(directory)).toEqual([]);
    expect([...disk.open.values()]).toEqual([]);
  }
});

test.each([false, true])('an opening that fails leaves nothing open, readOnly: %s', async (readOnly) => {
  const directory = temporaryDirectory();
  const journal = await opened(directory, { settings: SETTINGS });
  for (let k = 0; k < 8; k++) await journal.commit(turnOf('c', k));
  await journal.catchUp();
  await journal.close();
  for (let opens = 0, isThrough = false; !isThrough; opens++) {
    const disk = new FullDisk();
    let left = opens;
    const fileSystem: FileSystem = {
      ...disk.fileSystem,
      open(path, mode) {
        left -= 1;
        if (left < 0) throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
        return disk.fileSystem.open(path, mode);
      },
      async syncDirectory(path) {
        left -= 1;
        if (left < 0) throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
        await realFileSystem.syncDirectory(path);
      },
    };
    const opening = openJournal(directory, { fileSystem, readOnly, settings: SETTINGS });
    const code = await codeOf(opening);
    expect([undefined, 'store_unavailable']).toContain(code);
    isThrough = code === undefined;
    if (isThrough) await opening.then((store) => store.close());
    expect([...disk.open.values()]).toEqual([]);
  }
});

test('a disk that has no room even for the mark refuses what follows, and goes on when it has', async () => {
  let isFull = false;
  const fileSystem: FileSystem = {
    ...realFileSystem,
    open(path, mode) {
      const file = realFileSystem.open(path, mode);
      const write = (bytes: Uint8Array, position: number) => {
        if (isFull && path.endsWith('durable.json')) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
        file.write(bytes, position);
      };
      return withFile(file, { write });
    },
  };
  const directory = temporaryDirectory();
  const journal = await opened(directory, { fileSystem });
  const reader = await opened(directory, { readOnly: true });
  const versionOf = (backend: JournalBackend) => backend.read('ns', (rows) => rows.head('c')?.version);
  await journal.commit(turnOf('c', 0));
  isFull = true;
  expect(await journal.commit(turnOf('c', 1))).toMatchObject({ version: 2 });
  expect(await codeOf(journal.commit(turnOf('c', 2)))).toBe('store_full');
  expect([await versionOf(journal), await versionOf(reader)]).toEqual([2, 1]);
  isFull = false;
  expect(await journal.commit(turnOf('c', 2))).toMatchObject({ version: 3, replayed: false });
  expect([await versionOf(journal), await versionOf(reader)]).toEqual([3, 3]);
  isFull = true;
  await journal.commit(turnOf('c', 3));
  await journal.close();
  const again = await opened(directory);
  expect(await versionOf(again)).toBe(4);
  expect(await again.verify()).toEqual([]);
});
