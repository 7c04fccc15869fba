import type { Statement } from '../driver/driver.ts';

export function begin(): Statement {
  return { name: 'tk_begin', text: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', values: [] };
}

export function beginSnapshot(): Statement {
  return { name: 'tk_begin_snapshot', text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', values: [] };
}

export function commit(): Statement {
  return { name: 'tk_commit', text: 'COMMIT', values: [] };
}

export function rollback(): Statement {
  return { name: 'tk_rollback', text: 'ROLLBACK', values: [] };
}

/**
 * What our statements run under. Each looks up a few keys, and a plan that was made while the tables were small must not scan them
 * once they are large. They are read as they were written, whatever a database or a role has set: a `NULL` of an array is none
 * of four letters, a backslash is one, and a function is Postgres's own, though somebody else made one of a name that fits better.
 *
 * A plan is made once for each connection, for whatever values come: to plan a statement takes two to three times as long as to run
 * it, and left to itself the server plans those of arrays anew each time, for it takes one key to be cheaper than an unknown number.
 */
const SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  search_path: 'pg_catalog',
};
const settings = Object.entries(SETTINGS).map(([name, value]) => setLocal(name, `'${value}'`));
const clock = `pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000000)::text`;
const ENTER = `SELECT ${[setLocal('turnkeep.clock', clock), setLocal('turnkeep.namespace', '$1'), ...settings].join(',\n    ')}`;

function setLocal(name: string, value: string): string {
  return `pg_catalog.set_config('${name}', ${value}, true)`;
}

/**
 * Says whose rows this transaction may see, for the policies of row-level security, and how its statements are planned and read.
 * Ranks of its commits begin at the server's clock of this moment, in microseconds: a commit that ended before this
 * transaction began has a lower one.
 */
export function enterNamespace(namespace: string): Statement {
  return { name: 'tk_enter', text: ENTER, values: [namespace] };
}

/**
 * The same, and how long this transaction waits for a lock, and how long it may stay open while nothing comes from us: a
 * process that vanished without a word must not hold its locks.
 */
export function enterBounded(namespace: string, lockMs: number, idleMs: number): Statement {
  const text = `${ENTER},
    ${setLocal('lock_timeout', '$2')}, ${setLocal('idle_in_transaction_session_timeout', '$3')}`;
  return { name: 'tk_enter_bounded', text, values: [namespace, milliseconds(lockMs), milliseconds(idleMs)] };
}

/** Keeps what a transaction of somebody else has set, before it enters a namespace. */
export function rememberSettings(): Statement {
  const kept = Object.keys(SETTINGS).map((name) =>
    setLocal(`turnkeep.before_${name}`, `pg_catalog.current_setting('${name}')`),
  );
  return { name: 'tk_remember_settings', text: `SELECT ${kept.join(',\n    ')}`, values: [] };
}

/** Sets it again. */
export function restoreSettings(): Statement {
  const before = Object.keys(SETTINGS).map((name) =>
    setLocal(name, `pg_catalog.current_setting('turnkeep.before_${name}')`),
  );
  return { name: 'tk_restore_settings', text: `SELECT ${before.join(',\n    ')}`, values: [] };
}

/** Has the rest of a transaction of ours call functions of Postgres alone. */
export function trustPostgres(): Statement {
  return { name: 'tk_trust', text: 'SET LOCAL search_path TO pg_catalog', values: [] };
}

/** Fails, with the SQLSTATE that `checkKept` fails with, unless a transaction is open that entered a namespace. */
export function assertEntered(): Statement {
  const text = `SELECT 1 / (CASE WHEN current_setting('turnkeep.clock', true) <> '' THEN 1 ELSE 0 END)`;
  return { name: 'tk_assert_entered', text, values: [] };
}

/**
 * Has what follows in the transaction planned for tables as large as they are now: what joins rows of a table that it changes,
 * and is too rare for its plan to be kept.
 */
export function planAnew(): Statement {
  return { name: 'tk_plan_anew', text: `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`, values: [] };
}

/** The rank of the commit that is the `step`-th of its transaction, whose commits all follow what has the rank `floor`. */
export function rankOf(floor: string, step: string): string {
  return `greatest(current_setting('turnkeep.clock')::bigint, ${floor}::bigint) + ${step}`;
}

function milliseconds(duration: number): string {
  return `${Math.max(1, Math.ceil(duration))}ms`;
}
