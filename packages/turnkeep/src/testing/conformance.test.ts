import { describe, expect, test } from 'vitest';
import { CLAUSES } from './case.ts';
import type { Clause } from './case.ts';
import type { ConformanceCase } from './case.ts';
import { CASES } from './cases.ts';
import { runConformance } from './run.ts';
import { MODES } from './store.ts';
import type { Mode } from './store.ts';
import { memory, sqlite } from './targets.ts';
import type { ConformanceTarget } from './target.ts';

const TIMEOUT_MS = 120_000;

const clauses = Object.keys(CLAUSES) as readonly Clause[];

/** The reasons of the cases that failed, and `none passed` where nothing ran. */
async function failuresOf(
  target: ConformanceTarget,
  clause: Clause,
  mode: Mode,
  isRun: (one: ConformanceCase, at: number) => boolean = () => true,
): Promise<readonly string[]> {
  const failed: string[] = [];
  let passed = 0;
  for await (const result of runConformance(target, {
    cases: CASES.filter((one) => one.clause === clause).filter(isRun),
    modes: [mode],
  })) {
    if (result.status === 'failed') failed.push(`${result.name}: ${result.reason}`);
    if (result.status === 'passed') passed += 1;
  }
  return passed + failed.length === 0 ? ['none passed'] : failed;
}

describe.each(['same_handle', 'second_handle'] as const)('the suite on memory, %s', (mode) => {
  test.each(clauses)('%s', async (clause) => expect(await failuresOf(memory, clause, mode)).toEqual([]), TIMEOUT_MS);
});

// `npm run conformance -- --backend sqlite` runs every case in every mode. Here each runs in one mode, in turns, one in
// twelve after a reopening, which starts threads; those of seconds are left to the command.
const SLOW = /^(branchDepth|busyTurns|recordBytes|commitBytes|two processes race)/;
const modeOf = (at: number): Mode => (at % 12 === 2 ? 'reopen' : at % 2 === 0 ? 'same_handle' : 'second_handle');
const inTurns = (mode: Mode) => (one: ConformanceCase, at: number) => !SLOW.test(one.name) && modeOf(at) === mode;

describe.each(MODES)('the suite on sqlite, %s', (mode) => {
  test.each(clauses)(
    '%s',
    async (clause) => expect(await failuresOf(sqlite, clause, mode, inTurns(mode))).toEqual([]),
    TIMEOUT_MS,
  );
});

test('no two cases have one name', () => {
  const names = CASES.map((one) => `${one.clause} ${one.name}`);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
