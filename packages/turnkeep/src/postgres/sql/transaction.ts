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
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`;

/**
 * Says whose rows this transaction may see, for the policies of row-level security, and how its statements are planned:
 * each looks up a few keys, and a plan that was made while the tables were small must not scan them once they are large.
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
