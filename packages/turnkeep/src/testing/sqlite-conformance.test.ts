import { describe, expect, test } from 'vitest';
import { clauses, CLAUSE_TIMEOUT_MS, failuresOf, inTurns } from './conformance.testkit.ts';
import { MODES } from './store.ts';
import { sqlite } from './targets.ts';

/** To open SQLite starts threads. */
const REOPEN_ONE_IN = 12;

describe.each(MODES)('the suite on sqlite, %s', (mode) => {
  test.each(clauses)(
    '%s',
    async (clause) => expect(await failuresOf(sqlite, clause, mode, inTurns(mode, REOPEN_ONE_IN))).toEqual([]),
    CLAUSE_TIMEOUT_MS,
  );
});
