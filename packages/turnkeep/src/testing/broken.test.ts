import { describe, expect, test } from 'vitest';
import { BROKEN, FakeBackend, fakeTarget } from './broken.testkit.ts';
import type { ConformanceCase } from './case.ts';
import { CASES } from './cases.ts';
import { runConformance } from './run.ts';
import type { ConformanceResult } from './run.ts';
import { MODES } from './store.ts';
import type { Mode } from './store.ts';
import type { ConformanceTarget } from './target.ts';

// Cases of seconds show the same of a broken backend as of a good one.
const SLOW = /^(branchDepth|busyTurns|recordBytes|commitBytes)/;
const quick = CASES.filter((one) => !SLOW.test(one.name));

const lineOf = ({ clause, mode, name }: ConformanceResult): string => `${clause} [${mode}] ${name}`;

interface Chosen {
  readonly cases?: readonly ConformanceCase[] | undefined;
  readonly modes?: readonly Mode[] | undefined;
  readonly timeoutMs?: number | undefined;
}

async function failuresOf(target: ConformanceTarget, chosen: Chosen): Promise<readonly string[]> {
  const failed: string[] = [];
  for await (const result of runConformance(target, { cases: quick, timeoutMs: 60_000, ...chosen }))
    if (result.status === 'failed') failed.push(`${lineOf(result)}: ${result.reason}`);
  return failed;
}

test('a backend that keeps every clause passes, reopened too', async () => {
  const target = fakeTarget('whole', FakeBackend);
  expect(await failuresOf(target, { modes: ['same_handle', 'reopen'] })).toEqual([]);
});

describe('a backend that breaks a clause fails the case that is about it', () => {
  test.each(BROKEN)('$name', async ({ name, Kind, fails, hangs }) => {
    const cases = quick.filter((one) => fails.some((line) => line.startsWith(`${one.clause} `)));
    const modes = MODES.filter((mode) => fails.some((line) => line.includes(`[${mode}]`)));
    const failed = await failuresOf(fakeTarget(name, Kind), { cases, modes, timeoutMs: hangs ? 2_000 : 20_000 });
    // A case that was only slow has shown nothing.
    const shown = failed.filter((line) => hangs || !line.includes('it did not end within'));
    for (const start of fails) expect(shown.filter((line) => line.startsWith(start))).not.toEqual([]);
  });
});
