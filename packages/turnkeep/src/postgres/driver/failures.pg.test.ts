import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isTurnkeepError } from '../../core/errors.ts';
import { TestSchema, turn } from '../postgres.testkit.ts';

const MANUAL = readFileSync(new URL('../../../../../docs/backends/postgres.md', import.meta.url), 'utf8');
const [, FAILURES = ''] = /## Failures\n([^#]+)/.exec(MANUAL) ?? [];

/** Each SQLSTATE of the manual's table, a class with one of its states that nobody else names, and the code of its error. */
const told = [...FAILURES.matchAll(/^\| [^|]+ \| ([^|]+) \| `(\w+)`(.*outcome_unknown)?/gm)].flatMap(
  ([, states = '', code = '', isLost]) =>
    (states.match(/\b[0-9A-Z]{5}\b|\b[0-9A-Z]{2}\b/g) ?? []).map(
      (state) => [state.padEnd(5, '9'), isLost === undefined ? code : 'outcome_unknown'] as const,
    ),
);
/** States that the table does not name. */
const others = ['22003', '25001', '54001', '0B000', '2F005', 'HV000', '99999'].map(
  (state) => [state, 'store_unavailable'] as const,
);

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

it('what a server says in the middle of a commit is the error that the manual tells, and nothing was written', async () => {
  expect(told.length).toBeGreaterThan(30);
  const backend = await schema.open({ watch: 'poll', search: 'scan', commitTimeoutMs: 150 });
  await schema.rowsOf('CREATE TABLE $s.refusal (state text)');
  await schema.rowsOf(`CREATE FUNCTION $s.refuse() RETURNS trigger AS $$ DECLARE found text; BEGIN
    SELECT state INTO found FROM $s.refusal;
    IF found IS NOT NULL THEN RAISE EXCEPTION 'refused' USING ERRCODE = found; END IF;
    RETURN NEW;
  END $$ LANGUAGE plpgsql`);
  await schema.rowsOf('CREATE TRIGGER refuse BEFORE INSERT ON $s.log FOR EACH ROW EXECUTE FUNCTION $s.refuse()');
  for (const [state, code] of [...told, ...others]) {
    await schema.rowsOf('DELETE FROM $s.refusal');
    await schema.rowsOf(`INSERT INTO $s.refusal VALUES ('${state}')`);
    const error: unknown = await backend.commit(turn('c', state)).catch((thrown: unknown) => thrown);
    expect([state, isTurnkeepError(error) ? error.code : String(error)]).toEqual([state, code]);
    const { cause, details } = error as { readonly cause?: unknown; readonly details: { readonly reason?: string } };
    expect(cause).toMatchObject({ code: state });
    const { reason = state } = details;
    expect(reason).toContain(state);
  }
  await schema.rowsOf('DELETE FROM $s.refusal');
  expect(await backend.commit(turn('c', 'taken'))).toMatchObject({ version: 1 });
});
