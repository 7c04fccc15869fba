import { afterAll, expect, test } from 'vitest';
import { Scratch } from '../measure/folder.ts';
import { makeTurn } from '../measure/turn.ts';
import { CONTENDERS } from './index.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

/** Those that need no server, with why they cannot run here. */
const inFiles = await Promise.all(
  CONTENDERS.filter(({ name }) => !name.endsWith('postgres')).map(async (contender) => ({
    contender,
    name: contender.name,
    why: await contender.missing(),
  })),
);

test.each(inFiles.filter(({ why }) => why === undefined))('$name keeps what it is given', async ({ contender }) => {
  const store = await contender.open(scratch.folder());
  await store.grow('talk', 3);
  await store.turn('talk', makeTurn(3));
  expect(await store.last('talk', 6)).toBe(6);
  expect(await store.last('talk', 100), 'four turns of two messages').toBe(8);
  const bytes = await store.close();
  expect(bytes > 8 * 1_024, 'it is on the disk').toBe(contender.survives !== 'nothing');
});

test('what cannot run here says why', () => {
  const reasons = inFiles.flatMap(({ why }) => why ?? []);
  expect(reasons.filter((why) => !/Node\.js|not installed/.test(why))).toEqual([]);
});

test('names are unique, and only what syncs is said to survive a power cut', () => {
  expect(new Set(CONTENDERS.map(({ name }) => name)).size).toBe(CONTENDERS.length);
  const shipped = CONTENDERS.filter(({ name }) => name.includes('as shipped'));
  expect(shipped.map(({ survives }) => survives)).toEqual(['process crash', 'process crash']);
});
