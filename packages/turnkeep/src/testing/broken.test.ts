import { describe, expect, test } from 'vitest';
import { BROKEN, FakeBackend, fakeTarget } from './broken.testkit.ts';
import { CASES } from './cases.ts';
import { runConformance } from './run.ts';
import type { ConformanceResult } from './run.ts';
import type { ConformanceTarget } from './target.ts';

// Cases of seconds show the same of a broken backend as of a good one.
const SLOW = /^(branchDepth|busyTurns|recordBytes|commitBytes)/;
const quick = CASES.filter((one) => !SLOW.test(one.name));

const lineOf = ({ clause, mode, name }: ConformanceResult): string => `${clause} [${mode}] ${name}`;

async function failuresOf(target: ConformanceTarget, cases = quick, timeoutMs = 1_000): Promise<readonly string[]> {
  const failed: string[] = [];
  for await (const result of runConformance(target, { cases, timeoutMs })) if (result.status === 'failed') failed.push(`${lineOf(result)}: ${result.reason}`);
  return failed;
}

test('a backend that keeps every clause passes, reopened too', async () => {
  expect(await failuresOf(fakeTarget('whole', FakeBackend), quick, 60_000)).toEqual([]);
}, 120_000);

describe('a backend that breaks a clause fails the case that is about it', () => {
  test.each(BROKEN)('$name', async ({ name, Kind, fails }) => {
    const clauses = new Set(fails.map((line) => line.slice(0, 2)));
    const failed = await failuresOf(fakeTarget(name, Kind), quick.filter((one) => clauses.has(one.clause)));
    for (const start of fails) expect(failed.filter((line) => line.startsWith(start))).not.toEqual([]);
  }, 60_000);
});
