import { expect, test } from 'vitest';
import { operationsOfPuts, runPutFault } from './attachment-faults.ts';
import { CUT_MODES } from './disk.ts';
import type { FaultKind } from './disk.ts';

const SEED = 20_261_129;
const KINDS: readonly FaultKind[] = ['death', 'EIO', 'sync', 'short'];
const CUTS = [...CUT_MODES, 'none' as const];

/**
 * I11: whatever fails, and whatever a power cut leaves, nothing that was acknowledged is lost, and nothing half is seen. Each
 * operation fails once; all of them in each way, with each cut, take seven minutes.
 */
test('no fault of a file system loses an attachment, or leaves half of one', async () => {
  const operations = await operationsOfPuts();
  expect(operations).toBeGreaterThan(200);
  for (let operation = 1; operation <= operations; operation++) {
    const kind = KINDS[operation % KINDS.length] ?? 'death';
    const cut = CUTS[operation % CUTS.length] ?? 'none';
    const plan = { operation, scope: 'all' as const, kind, share: 0.5 };
    const faults = await runPutFault(plan, cut, SEED + operation);
    expect({ operation, kind, cut, faults }).toEqual({ operation, kind, cut, faults: [] });
  }
});
