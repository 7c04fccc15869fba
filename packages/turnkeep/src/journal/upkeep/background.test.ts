import { mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sha256 } from '../../platform/hash.ts';
import { BackgroundHere, slicesOf } from './background-here.ts';
import { BackgroundThread } from './background-thread.ts';
import type { Background } from './background.ts';
import { realFileSystem } from '../files/file-system.ts';
import { opened, temporaryDirectory, turnOf } from '../journal.testkit.ts';
import { LAYOUT } from '../files/layout.ts';
import { findManifest } from '../manifest.ts';
import { sourceOf } from '../index/merge.ts';
import { LOG_START } from '../log/position.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { IndexDamage } from '../store-error.ts';

const KEYS = 5_000;
const filterBytes = 50_000;

function hereIn(directory: string, store = 's'): BackgroundHere {
  const segmentsDirectory = `${directory}/${LAYOUT.segments}`;
  const archivesDirectory = `${directory}/${LAYOUT.archives}`;
  const place = { fs: realFileSystem, directory, segmentsDirectory, archivesDirectory, store, filterBytes };
  return new BackgroundHere(place, sha256);
}

/** A background that has all of its work done by a thread. */
function threadIn(directory: string, store = 's', thread?: URL): BackgroundThread {
  const nothing = () => Promise.reject(new Error('this is for the thread'));
  const here = { writeRun: nothing, mergeRuns: nothing, fillGap: nothing, close: nothing };
  return new BackgroundThread({ directory, store, filterBytes }, here, thread);
}

function emptyStore(): string {
  const directory = temporaryDirectory();
  mkdirSync(`${directory}/${LAYOUT.runs}`);
  return directory;
}

/** Runs of which each third entry of the first removes a key of the second, and their merges. */
async function makeRuns(background: Background): Promise<void> {
  const run = (name: string, from: number, valueOf: (at: number) => string | null) => {
    const entries = Array.from({ length: KEYS }, (_, at) => {
      return { key: `ns\u0000c\u0000${String(from + at).padStart(6, '0')}`, value: valueOf(at) };
    });
    return background.writeRun({ name, keys: 2 * KEYS }, slicesOf(sourceOf(entries), 'keep'));
  };
  await Promise.all([
    run('0001.run', 0, (at) => `["first",${at},"\u00e9\u{1f600}"]`),
    run('0002.run', KEYS / 2, (at) => (at % 3 === 0 ? null : `["second",${at}]`)),
  ]);
  const inputs = ['0002.run', '0001.run'];
  await background.mergeRuns({ name: '0003.run', keys: 4 * KEYS }, inputs, 'keep');
  await background.mergeRuns({ name: '0004.run', keys: 4 * KEYS }, inputs, 'drop');
}

/** What this process has open, its threads included. */
function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return [];
    }
  });
}

function runsIn(directory: string): readonly (readonly [name: string, bytes: string])[] {
  const path = `${directory}/${LAYOUT.runs}`;
  return readdirSync(path).map((name) => [name, readFileSync(`${path}/${name}`, 'latin1')]);
}

test('a thread writes and merges runs as it is done here, byte for byte', async () => {
  const [here, there] = [emptyStore(), emptyStore()];
  await makeRuns(hereIn(here));
  const thread = threadIn(there);
  await makeRuns(thread);
  await thread.close();
  expect(runsIn(there).map(([name]) => name)).toEqual(['0001.run', '0002.run', '0003.run', '0004.run']);
  expect(runsIn(there)).toEqual(runsIn(here));
});

test('a thread makes filters as it is done here, bit for bit', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory);
  for (let k = 0; k < 120; k++) await journal.commit(turnOf('c', k, `the quick brown fox ${'jumps '.repeat(200)}`));
  await journal.close();
  const store = findManifest(realFileSystem, directory)?.manifest.store ?? '';
  const bytes = readFileSync(`${directory}/${LAYOUT.segments}/0001.jsonl`).length;
  const gap = { from: LOG_START, to: { segment: 1, byte: bytes, n: 120 }, isBounded: false };
  const thread = threadIn(directory, store);
  const made = await thread.fillGap(gap, 4);
  await thread.close();
  const expected = await hereIn(directory, store).fillGap(gap, 4);
  expect(expected).toHaveLength(4);
  expect(made.map(({ pages, ...rest }) => [rest, pages.map((page) => Buffer.from(page).toString('hex'))])).toEqual(
    expected.map(({ pages, ...rest }) => [rest, pages.map((page) => page.toString('hex'))]),
  );
});

test('what goes wrong in the thread is what would have gone wrong here', async () => {
  const directory = emptyStore();
  const thread = threadIn(directory);
  await makeRuns(thread);
  truncateSync(`${directory}/${LAYOUT.runs}/0002.run`, 5_000);
  const merge = thread.mergeRuns({ name: '0005.run', keys: 4 * KEYS }, ['0002.run', '0001.run'], 'keep');
  await expect(merge).rejects.toMatchObject({ name: 'IndexDamage', place: 'runs/0002.run' });
  const missing = thread.mergeRuns({ name: '0005.run', keys: 4 * KEYS }, ['0009.run', '0001.run'], 'keep');
  await expect(missing).rejects.toMatchObject({ name: 'IndexDamage', reason: 'it is missing' });
  await thread.close();
  const nowhere = threadIn(`${directory}/nowhere`);
  await expect(makeRuns(nowhere)).rejects.toMatchObject({ code: 'ENOENT' });
  await nowhere.close();
});

test('a thread puts no run in its place once the lock of its writer is gone', async () => {
  const directory = emptyStore();
  const lock = `${directory}/lock.mine`;
  writeFileSync(lock, '');
  const nothing = () => Promise.reject(new Error('this is for the thread'));
  const here = { writeRun: nothing, mergeRuns: nothing, fillGap: nothing, close: nothing };
  const thread = new BackgroundThread({ directory, store: 's', filterBytes, lock: 'lock.mine' }, here);
  const entry = { keys: ['a'], values: ['[]'] };
  function* untilItGoes() {
    yield entry;
    rmSync(lock);
    yield { ...entry, keys: ['b'] };
  }
  await thread.writeRun({ name: '0001.run', keys: 2 * KEYS }, [entry]);
  const late = thread.writeRun({ name: '0002.run', keys: 2 * KEYS }, untilItGoes());
  await expect(late).rejects.toMatchObject({ code: 'store_unavailable' });
  await thread.close();
  expect(runsIn(directory).map(([name]) => name)).not.toContain('0002.run');
  expect(runsIn(directory).map(([name]) => name)).toContain('0001.run');
});

test('a call whose rows cannot be had ends with that, and the thread works on', async () => {
  const directory = emptyStore();
  const thread = threadIn(directory);
  function* untilOneIsDamaged() {
    yield { keys: ['a'], values: ['[]'] };
    throw new IndexDamage('runs/0009.run', 'a block does not match its checksum');
  }
  const failing = thread.writeRun({ name: '0001.run', keys: 2 * KEYS }, untilOneIsDamaged());
  await expect(failing).rejects.toMatchObject({ name: 'IndexDamage', place: 'runs/0009.run' });
  await thread.writeRun({ name: '0002.run', keys: 2 * KEYS }, [{ keys: ['b'], values: ['[]'] }]);
  expect(openFiles().filter((path) => path.startsWith(directory))).toEqual([]);
  await thread.close();
  expect(runsIn(directory).map(([name]) => name)).toContain('0002.run');
  expect(runsIn(directory).map(([name]) => name)).not.toContain('0001.run');
});

test('a thread that dies fails what it was at, and the next work starts another', async () => {
  const directory = emptyStore();
  const dying = threadIn(directory, 's', new URL('./background-that-dies.testkit.js', import.meta.url));
  const reason = 'the background thread ended with code 3';
  for (const attempt of [makeRuns(dying), makeRuns(dying)])
    await expect(attempt).rejects.toMatchObject({ code: 'store_unavailable', details: { reason } });
  await dying.close();
});

test('a journal folds what is large in a thread, and finds all of it again', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory, { settings: { ...DEFAULT_SETTINGS, mergeRuns: 2 } });
  const words = 'many words '.repeat(100);
  const turns = Array.from({ length: 400 }, (_, at) => turnOf(`c${at % 4}`, Math.floor(at / 4), words));
  await Promise.all(turns.map((turn) => journal.commit(turn)));
  await journal.catchUp();
  await journal.close();
  expect(readdirSync(`${directory}/${LAYOUT.runs}`).length).toBeGreaterThan(0);
  const again = await opened(directory);
  expect(await again.verify()).toEqual([]);
  for (const { commit } of turns) {
    const found = await again.read('ns', (rows) => rows.get(commit.conversationId, `c${commit.commitId}`));
    expect(found).toBeDefined();
  }
});
