import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MemoryBackend } from '../memory/index.ts';
import { sha256 } from '../platform/hash.ts';
import { realProcesses } from '../platform/processes.ts';
import { othersTurn } from '../platform/timers.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { commitOf, contents, opened, temporaryDirectory, turnOf, withFile } from './journal.testkit.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { storeParts } from './store-parts.ts';

/** Folds that fail, and what relies on them. */

/** A file system on which no run can be written while `full.is`. */
function fullForRuns(full: { is: boolean }): FileSystem {
  return {
    ...realFileSystem,
    open(path, mode) {
      if (full.is && path.includes('/runs/')) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      return realFileSystem.open(path, mode);
    },
  };
}

test('what a fold that failed has left is folded by the next catching up, though nothing came since', async () => {
  const directory = temporaryDirectory();
  const full = { is: true };
  const journal = await opened(directory, { fileSystem: fullForRuns(full) });
  await journal.commit(turnOf('a', 0));
  await expect(journal.catchUp()).rejects.toMatchObject({ code: 'store_full' });
  full.is = false;
  await journal.catchUp();
  expect(readdirSync(`${directory}/runs`)).toHaveLength(1);
});

test('a collection folds all that its lines say, whatever became of the fold before', async () => {
  const directory = temporaryDirectory();
  const full = { is: false };
  const rename: FileSystem['rename'] = (from, to) => {
    realFileSystem.rename(from, to);
    // Once the words are out of the segment, nothing more can be folded: what comes then is a crash.
    full.is ||= to.includes('/segments/');
  };
  const memory = new MemoryBackend(sha256);
  const journal = await opened(directory, { fileSystem: { ...fullForRuns(full), rename } });
  const both = async (envelope: ReturnType<typeof turnOf>) => {
    expect(await journal.commit(envelope)).toEqual(await memory.commit(envelope));
  };
  for (let k = 0; k < 3; k++) await both(turnOf('gone', k, 'secret'));
  await journal.catchUp();
  await both(turnOf('stays', 0));
  full.is = true;
  await expect(journal.catchUp()).rejects.toMatchObject({ code: 'store_full' });
  full.is = false;
  await both(commitOf('gone', 'e', [{ kind: 'conversation.erase' }]));
  await expect(journal.collect('ns')).rejects.toMatchObject({ code: 'store_full' });
  const again = await opened(directory, { processes: { ...realProcesses, mayLive: () => false } });
  await memory.collect('ns');
  expect(await contents(again)).toBe(await contents(memory));
  await again.collect('ns');
  expect(await contents(again)).toBe(await contents(memory));
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files)
    expect(readFileSync(`${parentPath}/${name}`, 'latin1')).not.toMatch(/gone-(message|turn|task)-/);
});

test('a merge of all runs does not wait for folds, which go on while commits come', async () => {
  const directory = temporaryDirectory();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = { held: 0, isMerged: false };
  const fileSystem: FileSystem = {
    ...realFileSystem,
    open(path, mode) {
      const file = realFileSystem.open(path, mode);
      if (state.held === 0 || mode !== 'replace' || !path.includes('/runs/')) return file;
      state.held -= 1;
      return withFile(file, { sync: () => released });
    },
  };
  const { folds, index } = storeParts({
    fs: fileSystem,
    directory,
    store: 'store',
    settings: DEFAULT_SETTINGS,
    sha256,
  });
  realFileSystem.makeDirectory(`${directory}/runs`);
  for (const key of ['one', 'two']) {
    index.put('ns', 'c', key, [key]);
    await folds.fold();
  }
  state.held = 1;
  index.put('ns', 'c', 'three', ['three']);
  const folding = folds.fold();
  while (state.held > 0) await othersTurn();
  const merging = folds.mergeAll(0).then(() => {
    state.isMerged = true;
  });
  for (let turns = 0; !state.isMerged && turns < 200_000; turns++) await othersTurn();
  expect(state.isMerged).toBe(true);
  release();
  await Promise.all([folding, merging]);
  expect(index.runs.length).toBe(2);
  expect(['one', 'two', 'three'].map((key) => index.get('ns', 'c', key))).toEqual([['one'], ['two'], ['three']]);
  index.close();
});
