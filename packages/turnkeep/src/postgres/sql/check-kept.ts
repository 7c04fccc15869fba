import type { Statement } from '../driver.ts';
import type { Schema } from '../schema-name.ts';
import type { Absent } from '../kept-rows.ts';
import { headAt } from './head-at.ts';
import { keyOfLine, linesOf, packedAt, packsIn } from './rows-of.ts';

/** The SQLSTATE with which this statement fails: what a commit was decided on is not so. */
export const NOT_SO = '22012'; // division by zero

/** A head as it is kept. */
export interface KeptHead {
  readonly id: string;
  readonly c: string;
  /** The tables of which rows are packed. */
  readonly packs: string;
  readonly head: string;
}

/**
 * Locks heads, and fails unless each is there, free, and the very text that is given, no other rows of its conversation are
 * packed than is known, and none of the keys, and no key of the ranges, has a row. Whoever wrote one since the statement began
 * has changed a head as well.
 */
export function checkKept(
  schema: Schema,
  namespace: string,
  heads: readonly KeptHead[],
  { keys, ranges }: Absent,
): Statement {
  const rows = `${schema.sql}.rows r WHERE r.ns = $1 AND r.c = u.c`;
  const packed = heads.flatMap(({ c, packs }) => (packs === '' ? [] : [c]));
  const text = `WITH locked AS MATERIALIZED (
      SELECT h.head = u.head AND h.packs = u.packs AS is_so
      FROM unnest($2::text[], $3::text[], $4::text[]) AS u (id, head, packs)
      CROSS JOIN LATERAL (SELECT head, packs FROM ${headAt(schema, 'u.id')} FOR UPDATE SKIP LOCKED) h
    )
    SELECT 1 / (CASE WHEN count(*) = cardinality($2::text[]) AND NOT EXISTS (
      SELECT FROM unnest($5::bigint[], $6::text[]) AS u (c, k)
      CROSS JOIN LATERAL (SELECT FROM ${rows} AND r.k = u.k LIMIT 1) r
    ) AND NOT EXISTS (
      SELECT FROM unnest($7::bigint[], $8::text[], $9::text[]) AS u (c, low, high)
      CROSS JOIN LATERAL (SELECT FROM ${rows} AND r.k >= u.low AND r.k < u.high LIMIT 1) r
    )${packed.length > 0 ? noneIsPacked(schema) : ''} THEN 1 ELSE 0 END)
    FROM locked WHERE is_so`;
  return {
    name: packed.length > 0 ? 'tk_check_kept_packed' : 'tk_check_kept',
    text,
    values: [
      namespace,
      heads.map(({ id }) => id),
      heads.map(({ head }) => head),
      heads.map(({ packs }) => packs),
      keys.map(({ c }) => c),
      keys.map(({ key }) => key),
      ranges.map(({ c }) => c),
      ranges.map(({ from }) => from),
      ranges.map(({ to }) => to),
      ...(packed.length > 0 ? [packed] : []),
    ],
  };
}

/** Of the conversations that have packed rows. */
function noneIsPacked(schema: Schema): string {
  return ` AND NOT EXISTS (
      SELECT FROM unnest($5::bigint[], $6::text[]) AS u (c, k)
      CROSS JOIN LATERAL (${packedAt(schema, 'u.c', 'u.k')}) p WHERE u.c = ANY ($10::bigint[]) AND p.v IS NOT NULL
    ) AND NOT EXISTS (
      SELECT FROM unnest($7::bigint[], $8::text[], $9::text[]) AS u (c, low, high)
      CROSS JOIN LATERAL (SELECT p.body FROM ${packsIn(schema, { c: 'u.c', low: 'u.low', high: 'u.high' })} OFFSET 0) p
      CROSS JOIN LATERAL (SELECT ${keyOfLine('l.line')} AS k FROM ${linesOf('p.body')}) l
      WHERE u.c = ANY ($10::bigint[]) AND l.k >= u.low AND l.k < u.high
    )`;
}
