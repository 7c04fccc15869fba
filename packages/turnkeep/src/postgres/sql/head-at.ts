import type { Schema } from '../schema/schema-name.ts';

// The head `h` of an id, or of a conversation's number, in the namespace `$1`: what stands between `FROM` and a lock in a query
// of its own, of at most one row. Asked for as a range of one key in the order of its index: no other index has that order. As
// an equality, or as one of an array, Postgres may as well look for the id in all that an index of the namespace holds, if it
// takes that for a few entries: always in a table that was never analyzed, and in a plan that is kept from when it was.

/** `id` is an expression of the statement around it. */
export function headAt(schema: Schema, id: string): string {
  return head(schema, 'id', id);
}

/** `c` is an expression of the statement around it. */
export function headNumbered(schema: Schema, c: string): string {
  return head(schema, 'c', c);
}

function head(schema: Schema, column: string, value: string): string {
  return `${schema.sql}.heads h WHERE h.ns = $1 AND h.${column} >= ${value} AND h.${column} <= ${value}
      ORDER BY h.ns, h.${column} LIMIT 1`;
}
