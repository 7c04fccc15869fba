import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import type { Absent } from '../commit/kept-rows.ts';
import { headAt } from './head-at.ts';
import { STRENGTHS } from './lock-heads.ts';
import { joined, numbers, spaced, texts } from './joined.ts';
import { keyOfLine, linesOf, packedAt, packsIn } from './rows-of.ts';

/** The SQLSTATE with which this statement fails: what a commit was decided on is not so. */
export const NOT_SO = '22012'; // division by zero

/** A head as it is kept. */
interface KeptHead {
  readonly id: string;
  readonly c: string;
  /** The tables of which rows are packed. */
  readonly packs: string;
  /** The head as it is stored. */
  readonly text: string;
}

/** Conversations as they are kept, and what was taken for absent of them. */
export interface KeptConversations extends Absent {
  readonly heads: readonly KeptHead[];
}

const KEYS = `unnest(${numbers(6)}, ${texts(7)}) AS u (c, k)`;
/** None is from the empty key: all rows of a conversation are never taken for absent. */
const RANGES = `unnest(${numbers(8)}, ${texts(9)}, ${texts(10)}) AS u (c, low, high)`;

/**
 * Locks heads, and fails unless each is there, free, and the very text that is given, no other rows of its conversation are
 * packed than is known, and none of the keys, and no key of the ranges, has a row. Whoever wrote one since the statement began
 * has changed a head as well. `shares`: others may hold them so at the same time, who only read them, too.
 */
export function checkKept(
  schema: Schema,
  namespace: string,
  { heads, keys, ranges }: KeptConversations,
  lock: 'alone' | 'shares' = 'alone',
): Statement {
  const rows = `${schema.sql}.rows r WHERE r.ns = $1 AND r.c = u.c`;
  const packed = heads.flatMap(({ c, packs }) => (packs === '' ? [] : [c]));
  const text = `WITH locked AS MATERIALIZED (
      SELECT h.head = u.head AND h.packs = coalesce(u.packs, '') AS is_so
      FROM unnest(${texts(2)}, ${texts(3)}, ${texts(4)}) AS u (id, head, packs)
      CROSS JOIN LATERAL (SELECT head, packs FROM ${headAt(schema, 'u.id')} FOR ${STRENGTHS[lock]} SKIP LOCKED) h
    )
    SELECT 1 / (CASE WHEN count(*) = $5 AND NOT EXISTS (
      SELECT FROM ${KEYS}
      CROSS JOIN LATERAL (SELECT FROM ${rows} AND r.k = u.k LIMIT 1) r
    ) AND NOT EXISTS (
      SELECT FROM ${RANGES}
      CROSS JOIN LATERAL (SELECT FROM ${rows} AND r.k >= u.low AND r.k < u.high LIMIT 1) r
    )${packed.length > 0 ? noneIsPacked(schema) : ''} THEN 1 ELSE 0 END)
    FROM locked WHERE is_so`;
  const name = lock === 'alone' ? 'tk_check_kept' : `tk_check_kept_${lock}`;
  return {
    name: packed.length > 0 ? `${name}_packed` : name,
    text,
    values: [
      namespace,
      joined(heads.map(({ id }) => id)),
      joined(heads.map(({ text }) => text)),
      joined(heads.map(({ packs }) => packs)),
      heads.length,
      spaced(keys.map(({ c }) => c)),
      joined(keys.map(({ key }) => key)),
      spaced(ranges.map(({ c }) => c)),
      joined(ranges.map(({ from }) => from)),
      joined(ranges.map(({ to }) => to)),
      ...(packed.length > 0 ? [packed] : []),
    ],
  };
}

/** Of the conversations that have packed rows. */
function noneIsPacked(schema: Schema): string {
  return ` AND NOT EXISTS (
      SELECT FROM ${KEYS}
      CROSS JOIN LATERAL (${packedAt(schema, 'u.c', 'u.k')}) p WHERE u.c = ANY ($11::bigint[]) AND p.v IS NOT NULL
    ) AND NOT EXISTS (
      SELECT FROM ${RANGES}
      CROSS JOIN LATERAL (SELECT p.body FROM ${packsIn(schema, { c: 'u.c', low: 'u.low', high: 'u.high' })} OFFSET 0) p
      CROSS JOIN LATERAL (SELECT ${keyOfLine('l.line')} AS k FROM ${linesOf('p.body')}) l
      WHERE u.c = ANY ($11::bigint[]) AND l.k >= u.low AND l.k < u.high
    )`;
}
