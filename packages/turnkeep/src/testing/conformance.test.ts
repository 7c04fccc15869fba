import { describe, expect, test } from 'vitest';
import { CLAUSES } from './case.ts';
import type { Clause } from './case.ts';
import { CASES } from './cases.ts';
import { runConformance } from './run.ts';
import { MODES } from './store.ts';
import { TARGETS } from './targets.ts';

const clauses = Object.keys(CLAUSES) as readonly Clause[];

describe.each([...TARGETS.values()])('the suite on $name', (target) => {
  const modes = target.durable ? MODES : MODES.filter((mode) => mode !== 'reopen');

  describe.each(modes)('%s', (mode) => {
    test.each(clauses)('%s', async (clause) => {
      const cases = CASES.filter((one) => one.clause === clause);
      const failed: string[] = [];
      let passed = 0;
      for await (const result of runConformance(target, { cases, modes: [mode] })) {
        if (result.status === 'failed') failed.push(`${result.name}: ${result.reason}`);
        if (result.status === 'passed') passed += 1;
      }
      expect(failed).toEqual([]);
      expect(passed).toBeGreaterThan(0);
    });
  });
});

test('no two cases have one name', () => {
  const names = CASES.map((one) => `${one.clause} ${one.name}`);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
