import { compareKeys } from '../../core/backend.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';

/**
 * How a head is locked:
 *
 * - `alone`: nobody else holds it in any way;
 * - `writes`: one at a time, beside any number that share it;
 * - `shares`: any number, and one that writes.
 */
export type HeadLock = 'alone' | 'writes' | 'shares';

/** As SQL has them. */
export const STRENGTHS: Readonly<Record<HeadLock, string>> = {
  alone: 'UPDATE',
  writes: 'NO KEY UPDATE',
  shares: 'KEY SHARE',
};

/**
 * Locks the heads of conversations in key order and answers `id, c, rank, places, head, packs` of each that it got. It reads
 * nothing else: under READ COMMITTED, a row joined to the locked one could be older than it.
 *
 * Without `wait` a head that somebody else holds is left out, so that one busy conversation holds up no other.
 */
export function lockHeads(
  schema: Schema,
  namespace: string,
  ids: readonly string[],
  wait: boolean,
  lock: HeadLock = 'alone',
): Statement {
  const text = `SELECT h.id, h.c, h.rank, h.places, h.head, h.packs FROM unnest($2::text[]) AS u (id)
    CROSS JOIN LATERAL (SELECT * FROM ${headAt(schema, 'u.id')} FOR ${STRENGTHS[lock]}${wait ? '' : ' SKIP LOCKED'}) h`;
  const name = lock === 'alone' ? 'tk_lock_heads' : `tk_lock_heads_${lock}`;
  return { name: wait ? `${name}_wait` : name, text, values: [namespace, ids.toSorted(compareKeys)] };
}
