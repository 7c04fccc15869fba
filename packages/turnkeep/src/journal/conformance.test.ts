import { describe, expect, test } from 'vitest';
import { clauses, CLAUSE_TIMEOUT_MS, failuresOf, inTurns } from '../testing/conformance.testkit.ts';
import { journal } from '../testing/journal-target.ts';
import { MODES } from '../testing/store.ts';

const REOPEN_ONE_IN = 3;

describe.each(MODES)('the suite on the journal, %s', (mode) => {
  test.each(clauses)(
    '%s',
    async (clause) => expect(await failuresOf(journal, clause, mode, inTurns(mode, REOPEN_ONE_IN))).toEqual([]),
    CLAUSE_TIMEOUT_MS,
  );
});
