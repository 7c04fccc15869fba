import type { Statement } from '../driver.ts';

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

const ENTER = `SELECT set_config('turnkeep.clock', floor(extract(epoch FROM clock_timestamp()) * 1000000)::text, true),
    set_config('turnkeep.namespace', $1, true), set_config('enable_seqscan', 'off', true),
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
    set_config('array_nulls', 'on', true), set_config('standard_conforming_strings', 'on', true)`;

/**
 * Says whose rows this transaction may see, for the policies of row-level security, and how its statements are planned:
 * each looks up a few keys, and a plan that was made while the tables were small must not scan them once they are large.
 * And how they are read, whatever a database or a role has set: a `NULL` of an array is none of four letters, and a backslash one.
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
  const text = `${ENTER}, set_config('lock_timeout', $2, true),
    set_config('idle_in_transaction_session_timeout', $3, true)`;
  return { name: 'tk_enter_bounded', text, values: [namespace, milliseconds(lockMs), milliseconds(idleMs)] };
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
