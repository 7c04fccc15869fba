import { compareKeys } from '../../core/backend.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { asPacked, keyOfLine, linesOf, packBefore } from './rows-of.ts';

/** Removes rows of the conversation with the number `c`. */
export function removeRows(schema: Schema, namespace: string, c: string, keys: readonly string[]): Statement {
  const sorted = keys.toSorted(compareKeys);
  // Servers before 17 may not look up the keys of an array one by one: at least they look no further.
  const text = `DELETE FROM ${schema.sql}.rows
    WHERE ns = $1 AND c = $2 AND k = ANY ($3::text[]) AND k >= $4 AND k <= $5`;
  return { name: 'tk_remove_rows', text, values: [namespace, c, sorted, sorted[0] ?? '', sorted.at(-1) ?? ''] };
}

/** Takes rows of a conversation out of their packs, and packs away of which nothing is left. */
export function removePacked(schema: Schema, namespace: string, c: string, keys: readonly string[]): Statement {
  const those = (which: string) => `p.ns = $1 AND p.c = $2::bigint AND p.first = s.first
      AND p.first >= (SELECT min(first) FROM shrunk) AND p.first <= (SELECT max(first) FROM shrunk) AND s.body IS ${which}`;
  const text = `WITH hit AS MATERIALIZED (
      SELECT p.first, array_agg(u.k) AS gone FROM unnest($3::text[]) AS u (k)
      CROSS JOIN LATERAL (${packBefore(schema, '$2::bigint', 'u.k', 'first, last')}) p
      WHERE p.last >= u.k GROUP BY p.first
    ), shrunk AS MATERIALIZED (
      SELECT h.first, (
        SELECT string_agg(${asPacked('l.line')}, '' ORDER BY l.at) FROM ${linesOf('p.body')}
        WHERE ${keyOfLine('l.line')} <> ALL (h.gone)
      ) AS body
      FROM hit h CROSS JOIN LATERAL (
        SELECT body FROM ${schema.sql}.packed p WHERE p.ns = $1 AND p.c = $2::bigint AND p.first = h.first OFFSET 0
      ) p
    ), emptied AS (DELETE FROM ${schema.sql}.packed p USING shrunk s WHERE ${those('NULL')})
    UPDATE ${schema.sql}.packed p SET body = s.body FROM shrunk s WHERE ${those('NOT NULL')} AND s.body <> p.body`;
  return { name: 'tk_remove_packed', text, values: [namespace, c, keys] };
}
