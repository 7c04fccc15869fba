import { describe, expect, test } from 'vitest';
import { CASES } from './cases.ts';
import { clauses, CLAUSE_TIMEOUT_MS, failuresOf } from './conformance.testkit.ts';
import { memory } from './targets.ts';

describe.each(['same_handle', 'second_handle'] as const)('the suite on memory, %s', (mode) => {
  test.each(clauses)(
    '%s',
    async (clause) => expect(await failuresOf(memory, clause, mode)).toEqual([]),
    CLAUSE_TIMEOUT_MS,
  );
});

test('no two cases have one name', () => {
  const names = CASES.map((one) => `${one.clause} ${one.name}`);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
