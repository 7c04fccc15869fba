import { expect, test } from 'vitest';
import { killRuns } from './kills.ts';

test('I1, I2, I3: whatever is killed or cut, acknowledged commits are there, none twice, and histories are linear', async () => {
  const said: string[] = [];
  const report = await killRuns({ runs: 12, seed: 4, say: (line) => said.push(line) });
  expect(report.faults).toEqual([]);
  expect(report.passed).toBe(12);
}, 240_000);
