import type { Statement } from '../driver.ts';
import type { Schema } from '../schema-name.ts';

/** Writes rows, new ones and others: by conversation number, key and value, none twice. */
export function putRows(
  schema: Schema,
  namespace: string,
  rows: readonly { readonly c: string; readonly key: string; readonly value: string }[],
): Statement {
  const text = `INSERT INTO ${schema.sql}.rows (ns, c, k, v)
    SELECT $1, u.c, u.k, u.v FROM unnest($2::bigint[], $3::text[], $4::text[]) AS u (c, k, v)
    ON CONFLICT (ns, c, k) DO UPDATE SET v = excluded.v`;
  return {
    name: 'tk_put_rows',
    text,
    values: [namespace, rows.map(({ c }) => c), rows.map(({ key }) => key), rows.map(({ value }) => value)],
  };
}

export function removeRows(
  schema: Schema,
  namespace: string,
  rows: readonly { readonly c: string; readonly key: string }[],
): Statement {
  const text = `DELETE FROM ${schema.sql}.rows r USING unnest($2::bigint[], $3::text[]) AS u (c, k)
    WHERE r.ns = $1 AND r.c = u.c AND r.k = u.k`;
  return { name: 'tk_remove_rows', text, values: [namespace, rows.map(({ c }) => c), rows.map(({ key }) => key)] };
}
