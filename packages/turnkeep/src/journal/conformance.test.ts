import { expect, test } from 'vitest';
import { runConformance } from '../testing/run.ts';
import { MODES } from '../testing/store.ts';
import { journal } from '../testing/journal-target.ts';

test.each(MODES)('the journal keeps every clause, %s', { timeout: 300_000 }, async (mode) => {
  const failed: string[] = [];
  let passed = 0;
  for await (const result of runConformance(journal, { modes: [mode] })) {
    if (result.status === 'passed') passed += 1;
    if (result.status === 'failed') failed.push(`${result.clause} ${result.name}: ${result.reason}`);
  }
  expect(failed).toEqual([]);
  expect(passed).toBeGreaterThan(200);
});
