import type { Statement } from '../driver.ts';
import type { Schema } from '../schema-name.ts';

export function removeRows(
  schema: Schema,
  namespace: string,
  rows: readonly { readonly c: string; readonly key: string }[],
): Statement {
  const text = `DELETE FROM ${schema.sql}.rows r USING unnest($2::bigint[], $3::text[]) AS u (c, k)
    WHERE r.ns = $1 AND r.c = u.c AND r.k = u.k`;
  return { name: 'tk_remove_rows', text, values: [namespace, rows.map(({ c }) => c), rows.map(({ key }) => key)] };
}
