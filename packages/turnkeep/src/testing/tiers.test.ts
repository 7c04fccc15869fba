import { expect, test } from 'vitest';
import { tiers } from './clauses/r10-tiers.testkit.ts';
import { runConformance } from './run.ts';
import { memory, sqlite } from './targets.ts';

test.each([memory, sqlite])(
  '$name keeps what is promised of tiers',
  async (target) => {
    const failed: string[] = [];
    for await (const result of runConformance(target, { cases: tiers }))
      if (result.status === 'failed') failed.push(`[${result.mode}] ${result.name}: ${result.reason}`);
    expect(failed).toEqual([]);
  },
  120_000,
);
