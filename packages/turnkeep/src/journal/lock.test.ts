import { closeSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { realProcesses } from '../platform/processes.ts';
import { seal, unseal } from './files/sealed.ts';
import { opened, temporaryDirectory, turnOf } from './journal.testkit.ts';
import { openJournal } from './open.ts';

/** Who has a lock, beyond what a process is. */

function lockIn(directory: string): string {
  return readdirSync(directory).find((name) => name.startsWith('lock.')) ?? '';
}

test('a thread that is ended does not keep its lock until its process ends', async () => {
  const directory = temporaryDirectory();
  const thread = new Worker(new URL('./writing-thread.testkit.js', import.meta.url), { workerData: directory });
  await once(thread, 'message');
  await expect(openJournal(directory)).rejects.toMatchObject({ code: 'store_locked' });
  await thread.terminate();
  const journal = await opened(directory);
  expect(await journal.commit(turnOf('c', 1))).toMatchObject({ version: 2 });
  expect(await journal.verify()).toEqual([]);
});

test('a lock is held by the file that is open, and by no other one of its number', async () => {
  const directory = temporaryDirectory();
  const journal = await opened(directory);
  const name = lockIn(directory);
  const owner = unseal(readFileSync(`${directory}/${name}`)) as { readonly descriptor: number };
  const { descriptor } = owner;
  const self = realProcesses.self();
  expect(realProcesses.mayLive(self, { name, descriptor })).toBe(true);
  expect(realProcesses.mayLive(self, { name: 'lock.another', descriptor })).toBe(false);
  await journal.close();
  expect(realProcesses.mayLive(self, { name, descriptor })).toBe(false);
  const other = openSync(`${directory}/manifest.json`, 'r');
  expect(realProcesses.mayLive(self, { name, descriptor: other })).toBe(false);
  closeSync(other);
});

test('a lock that names no descriptor is its process’s, as earlier builds made it', async () => {
  const directory = temporaryDirectory();
  writeFileSync(`${directory}/lock.early`, seal(realProcesses.self()));
  await expect(openJournal(directory)).rejects.toMatchObject({ code: 'store_locked' });
});
