import type { Statement } from '../driver.ts';
import type { Schema } from '../schema-name.ts';
import { asPacked, keyOfLine, linesOf, packBefore } from './rows-of.ts';

interface RowToRemove {
  readonly c: string;
  readonly key: string;
}

export function removeRows(schema: Schema, namespace: string, rows: readonly RowToRemove[]): Statement {
  const text = `DELETE FROM ${schema.sql}.rows r USING unnest($2::bigint[], $3::text[]) AS u (c, k)
    WHERE r.ns = $1 AND r.c = u.c AND r.k = u.k`;
  return { name: 'tk_remove_rows', text, values: [namespace, ...columnsOf(rows)] };
}

/** Takes rows out of their packs, and packs away of which nothing is left. */
export function removePacked(schema: Schema, namespace: string, rows: readonly RowToRemove[]): Statement {
  const text = `WITH hit AS MATERIALIZED (
      SELECT u.c, p.first, array_agg(u.k) AS gone FROM unnest($2::bigint[], $3::text[]) AS u (c, k)
      CROSS JOIN LATERAL (${packBefore(schema, 'u.c', 'u.k', 'first, last')}) p
      WHERE p.last >= u.k GROUP BY u.c, p.first
    ), shrunk AS MATERIALIZED (
      SELECT h.c, h.first, (
        SELECT string_agg(${asPacked('l.line')}, '' ORDER BY l.at) FROM ${linesOf('p.body')}
        WHERE ${keyOfLine('l.line')} <> ALL (h.gone)
      ) AS body
      FROM hit h CROSS JOIN LATERAL (
        SELECT body FROM ${schema.sql}.packed p WHERE p.ns = $1 AND p.c = h.c AND p.first = h.first OFFSET 0
      ) p
    ), emptied AS (
      DELETE FROM ${schema.sql}.packed p USING shrunk s WHERE p.ns = $1 AND p.c = s.c AND p.first = s.first AND s.body IS NULL
    )
    UPDATE ${schema.sql}.packed p SET body = s.body FROM shrunk s
    WHERE p.ns = $1 AND p.c = s.c AND p.first = s.first AND s.body IS NOT NULL AND s.body <> p.body`;
  return { name: 'tk_remove_packed', text, values: [namespace, ...columnsOf(rows)] };
}

function columnsOf(rows: readonly RowToRemove[]): Statement['values'] {
  return [rows.map(({ c }) => c), rows.map(({ key }) => key)];
}
