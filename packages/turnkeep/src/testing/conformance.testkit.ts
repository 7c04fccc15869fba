import { CASES } from './cases.ts';
import type { Clause } from './case.ts';
import { CLAUSES } from './case.ts';
import type { ConformanceCase } from './case.ts';
import { runConformance } from './run.ts';
import type { Mode } from './store.ts';
import type { ConformanceTarget } from './target.ts';

/** A case of seconds may wait for a machine that has more to do. */
export const CLAUSE_TIMEOUT_MS = 300_000;

export const clauses: readonly Clause[] = Object.keys(CLAUSES) as readonly Clause[];

/** The reasons of the cases of a clause that failed, and `none passed` where nothing ran. */
export async function failuresOf(
  target: ConformanceTarget,
  clause: Clause,
  mode: Mode,
  isRun: (one: ConformanceCase, at: number) => boolean = () => true,
): Promise<readonly string[]> {
  const failed: string[] = [];
  let passed = 0;
  const cases = CASES.filter((one) => one.clause === clause).filter(isRun);
  for await (const result of runConformance(target, { cases, modes: [mode] })) {
    if (result.status === 'failed') failed.push(`${result.name}: ${result.reason}`);
    if (result.status === 'passed') passed += 1;
  }
  return passed + failed.length === 0 ? ['none passed'] : failed;
}

/** Those of seconds are left to `npm run conformance`. */
const SLOW = /^(branchDepth|busyTurns|recordBytes|commitBytes|two processes race)/;

/**
 * Lets each case of a clause run in one mode, in turns, one in so many after a reopening; `npm run conformance` runs every
 * case in every mode.
 */
export function inTurns(mode: Mode, reopenOneIn: number): (one: ConformanceCase, at: number) => boolean {
  const modeOf = (at: number): Mode =>
    at % reopenOneIn === 2 ? 'reopen' : at % 2 === 0 ? 'same_handle' : 'second_handle';
  return (one, at) => !SLOW.test(one.name) && modeOf(at) === mode;
}
