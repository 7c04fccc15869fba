import type { Statement } from '../driver.ts';
import type { Schema } from '../schema-name.ts';
import type { Absent } from '../kept-rows.ts';

/** The SQLSTATE with which this statement fails: what a commit was decided on is not so. */
export const NOT_SO = '22012'; // division by zero

/**
 * Locks heads, and fails unless each is there, free, and the very text that is given, and none of the keys, and no key of
 * the ranges, has a row. Whoever wrote one since the statement began has changed a head as well.
 */
export function checkKept(
  schema: Schema,
  namespace: string,
  heads: readonly { readonly id: string; readonly head: string }[],
  { keys, ranges }: Absent,
): Statement {
  const rows = `${schema.sql}.rows r WHERE r.ns = $1 AND r.c = u.c`;
  const text = `WITH locked AS MATERIALIZED (
      SELECT id, head FROM ${schema.sql}.heads
      WHERE ns = $1 AND id = ANY ($2::text[]) ORDER BY id FOR UPDATE SKIP LOCKED
    )
    SELECT 1 / (CASE WHEN count(*) = cardinality($2::text[]) AND NOT EXISTS (
      SELECT FROM unnest($4::bigint[], $5::text[]) AS u (c, k)
      CROSS JOIN LATERAL (SELECT FROM ${rows} AND r.k = u.k LIMIT 1) r
    ) AND NOT EXISTS (
      SELECT FROM unnest($6::bigint[], $7::text[], $8::text[]) AS u (c, low, high)
      CROSS JOIN LATERAL (SELECT FROM ${rows} AND r.k >= u.low AND r.k < u.high LIMIT 1) r
    ) THEN 1 ELSE 0 END)
    FROM locked l JOIN unnest($2::text[], $3::text[]) AS u (id, head) ON l.id = u.id AND l.head = u.head`;
  return {
    name: 'tk_check_kept',
    text,
    values: [
      namespace,
      heads.map(({ id }) => id),
      heads.map(({ head }) => head),
      keys.map(({ c }) => c),
      keys.map(({ key }) => key),
      ranges.map(({ c }) => c),
      ranges.map(({ from }) => from),
      ranges.map(({ to }) => to),
    ],
  };
}
