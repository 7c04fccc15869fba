import type { Statement } from '../driver.ts';
import type { Schema } from '../schema-name.ts';

/**
 * Locks the heads of conversations in key order and answers `id, c, rank, places, head` of each that it got. It reads
 * nothing else: under READ COMMITTED, a row joined to the locked one could be older than it.
 *
 * Without `wait` a head that somebody else holds is left out, so that one busy conversation holds up no other.
 */
export function lockHeads(schema: Schema, namespace: string, ids: readonly string[], wait: boolean): Statement {
  const text = `SELECT id, c, rank, places, head FROM ${schema.sql}.heads
    WHERE ns = $1 AND id = ANY ($2::text[]) ORDER BY id FOR UPDATE${wait ? '' : ' SKIP LOCKED'}`;
  return { name: wait ? 'tk_lock_heads_wait' : 'tk_lock_heads', text, values: [namespace, ids] };
}
