import { expect, test } from 'vitest';
import { seeded } from '../harness.ts';
import { damageFaults, flips, originalStore, wounds } from './damage.ts';
import { faultRuns, operationsOfALife, runCollectionFault, runCoolingFault, runFault } from './faults.ts';
import { killFaults } from './kills.ts';

const SEED = 20_261_129;

/** A sample of `npm run crash -- --backend journal`. I1, I2, I4: see law.ts. */
test('no fault of a file system loses, halves or invents a commit', async () => {
  const operations = await operationsOfALife();
  let left = 60;
  for (const run of faultRuns(operations, SEED)) {
    if (left-- === 0) return;
    expect({ run, faults: await runFault(run) }).toEqual({ run, faults: [] });
  }
});

test('what is acknowledged after a collection that failed anywhere survives a power cut', async () => {
  for (let operation = 1; operation <= 45; operation++) {
    for (const kind of ['EIO', 'sync'] as const) {
      const faults = await runCollectionFault(operation, kind);
      expect({ operation, kind, faults }).toEqual({ operation, kind, faults: [] });
    }
  }
});

test('a segment stays until the name of its archive has reached the disk', async () => {
  for (let operation = 1; operation <= 80; operation++)
    expect({ operation, faults: await runCoolingFault(operation) }).toEqual({ operation, faults: [] });
});

test('damage touches what it touched, and is told', async () => {
  const original = await originalStore();
  const random = seeded(SEED);
  for (const damage of wounds(original)) {
    if (random(20) > 0) continue;
    expect({ what: damage.what, faults: await damageFaults(original, damage) }).toEqual({
      what: damage.what,
      faults: [],
    });
  }
  for (const damage of flips(original, SEED)) {
    if (random(400) > 0) continue;
    expect({ what: damage.what, faults: await damageFaults(original, damage) }).toEqual({
      what: damage.what,
      faults: [],
    });
  }
});

test('a process that is killed loses nothing that it acknowledged', async () => {
  expect(await killFaults(2, seeded(SEED))).toEqual([]);
});
