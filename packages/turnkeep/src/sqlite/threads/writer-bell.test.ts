import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { WriterBell } from './writer-bell.ts';

test('nobody waits for a bell that has rung since they looked', () => {
  const bell = new WriterBell();
  const { rung } = bell;
  bell.ring();
  // Without a limit: it would hang.
  bell.wait(rung);
  expect(bell.rung).not.toBe(rung);
});

test('a wait ends by itself where it has a limit', () => {
  const bell = new WriterBell();
  bell.wait(bell.rung, 1);
  expect(bell.rung).toBe(0);
});

test('a commit that is announced rings, and can be told from a message', () => {
  const bell = new WriterBell();
  bell.announce();
  expect([bell.rung, bell.expected]).toEqual([1, 1]);
  bell.ring();
  expect([bell.rung, bell.expected]).toEqual([2, 1]);
});

test('a thread that blocks is woken', async () => {
  const bell = new WriterBell();
  const module = JSON.stringify(new URL('./writer-bell.js', import.meta.url).href);
  const script = `const { parentPort, workerData } = require('node:worker_threads');
    import(${module}).then(({ WriterBell }) => {
      const bell = new WriterBell(workerData);
      parentPort.postMessage('waits');
      bell.wait(0);
      parentPort.postMessage('woken');
    });`;
  const thread = new Worker(script, { eval: true, workerData: bell.memory });
  const said: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    thread.on('message', (word) => {
      said.push(word);
      if (word === 'waits') bell.ring();
    });
    thread.on('error', reject);
    thread.on('exit', () => resolve());
  });
  expect(said).toEqual(['waits', 'woken']);
});
