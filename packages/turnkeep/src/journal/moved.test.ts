import { existsSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { realProcesses } from '../platform/processes.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { commitOf, contents, opened, temporaryDirectory, turnOf } from './journal.testkit.ts';
import { openJournal } from './open.ts';
import { seal } from './files/sealed.ts';

/** A directory that is moved while it is open, a lock that is taken away, and two who open at once. */

const SETTINGS = { segmentBytes: 4_000, foldCommits: 3, foldBytes: 1 };
const dead = { ...realProcesses, mayLive: () => false };

test('a writer whose directory was moved writes nothing into the store that took its place', async () => {
  const directory = `${temporaryDirectory()}/store`;
  const moved = `${directory}-moved`;
  const first = await openJournal(directory, { settings: SETTINGS });
  for (let k = 0; k < 4; k++) await first.commit(turnOf('a', k));
  await first.catchUp();
  const acknowledged = await contents(first);
  renameSync(directory, moved);
  const second = await opened(directory, { settings: SETTINGS });
  for (let k = 0; k < 4; k++) await second.commit(turnOf('b', k));
  const expected = await contents(second);
  const unavailable = { code: 'store_unavailable', details: { reason: expect.stringContaining('lock') as string } };
  const erase = commitOf('a', 'e', [{ kind: 'conversation.erase' }]);
  for (const work of [
    () => first.commit(turnOf('a', 4)),
    () => first.commit(erase),
    () => first.rebuild(),
    () => first.attachments.finish('ns', { upload: 'u', parts: [], digest: 'd', size: 0, now: 0 } as never),
  ])
    await expect(work()).rejects.toMatchObject(unavailable);
  await first.close();
  expect(await contents(second)).toBe(expected);
  expect(await second.verify()).toEqual([]);
  const found = await opened(moved, { settings: SETTINGS, processes: dead });
  expect(await contents(found)).toBe(acknowledged);
  expect(await found.verify()).toEqual([]);
});

test('a writer whose lock somebody removed refuses to go on, and the next one has the store for itself', async () => {
  const directory = temporaryDirectory();
  const first = await opened(directory);
  await first.commit(turnOf('a', 0));
  for (const name of readdirSync(directory)) if (name.startsWith('lock.')) rmSync(`${directory}/${name}`);
  const second = await opened(directory);
  await second.commit(turnOf('b', 0));
  await expect(first.commit(turnOf('a', 1))).rejects.toMatchObject({ code: 'store_unavailable' });
  await second.commit(turnOf('b', 1));
  expect(await second.verify()).toEqual([]);
});

test('a store under another name is the same store', async () => {
  const parent = temporaryDirectory();
  await (await openJournal(`${parent}/store`)).close();
  symlinkSync(`${parent}/store`, `${parent}/link`);
  const journal = await opened(`${parent}/link`);
  await journal.commit(turnOf('a', 0));
  await expect(openJournal(`${parent}/store`)).rejects.toMatchObject({ code: 'store_locked' });
});

test('a lock that another opening takes for a dead one’s is put down again, and the other is told', async () => {
  const directory = temporaryDirectory();
  await (await openJournal(directory)).close();
  let isFirst = true;
  const rename: FileSystem['rename'] = (from, to) => {
    if (isFirst && from.includes('lock.')) {
      // Another process takes its own lock just now, and sweeps what is unfinished.
      isFirst = false;
      writeFileSync(`${directory}/lock.other`, seal(realProcesses.self()));
      rmSync(from);
    }
    realFileSystem.rename(from, to);
  };
  const fileSystem = { ...realFileSystem, rename };
  await expect(openJournal(directory, { fileSystem })).rejects.toMatchObject({ code: 'store_locked' });
  expect(isFirst).toBe(false);
  expect(readFileSync(`${directory}/lock.other`, 'utf8')).toBe(seal(realProcesses.self()));
  expect(readdirSync(directory).filter((name) => name.startsWith('lock.'))).toEqual(['lock.other']);
  expect(existsSync(`${directory}/unclean`)).toBe(false);
});

test('a commit that cannot look for the lock was not written, and says so', async () => {
  let fails = false;
  const fileSystem: FileSystem = {
    ...realFileSystem,
    has(path) {
      if (fails) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      return realFileSystem.has(path);
    },
  };
  const journal = await opened(temporaryDirectory(), { fileSystem });
  await journal.commit(turnOf('a', 0));
  fails = true;
  await expect(journal.commit(turnOf('a', 1))).rejects.toMatchObject({ code: 'store_unavailable' });
  fails = false;
  expect(await journal.commit(turnOf('a', 1))).toMatchObject({ version: 2, replayed: false });
});
