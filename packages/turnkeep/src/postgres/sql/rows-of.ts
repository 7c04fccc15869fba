import type { Schema } from '../schema/schema-name.ts';

// The rows of a conversation are those of the table `rows` and those of the table `packed`, where many stand in one text, in the
// order of their keys: before each one separator, between key and value another one. A row of `rows` stands for the packed one
// of the same key. The packs of a conversation do not overlap, so that a key is looked for in one alone. Each query here is for
// the namespace `$1`; `c` and `key` are expressions of the statement around it.

/** Stands before each packed row; neither of the two is in keys or in JSON. */
export const ROW_SEPARATOR = '\u001e';
/** Stands between the key and the value of a packed row. */
export const VALUE_SEPARATOR = '\u001f';

const ROW = `E'\\x1e'`;
const VALUE = `E'\\x1f'`;

/** A query of the value `v` at a key: at most one row, of `NULL` perhaps. */
export function rowAt(schema: Schema, c: string, key: string): string {
  return `SELECT coalesce((${unpackedAt(schema, c, key)}), (${packedAt(schema, c, key)})) AS v OFFSET 0`;
}

/** The same, of a conversation that has no packed row at the key. */
export function unpackedAt(schema: Schema, c: string, key: string): string {
  return `SELECT v FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = ${c} AND r.k = ${key} OFFSET 0`;
}

/** A query of the packed value at a key: no row, or `NULL`, where there is none. */
export function packedAt(schema: Schema, c: string, key: string): string {
  return `SELECT nullif(split_part(split_part(p.body, ${ROW} || ${key} || ${VALUE}, 2), ${ROW}, 1), '') AS v
    FROM (${packBefore(schema, c, key, 'last, body')}) p WHERE p.last >= ${key}`;
}

/** A query of columns of the only pack that can hold a key: the last one that starts before it. */
export function packBefore(schema: Schema, c: string, key: string, columns: string): string {
  return `SELECT ${columns} FROM ${schema.sql}.packed p WHERE p.ns = $1 AND p.c = ${c} AND p.first <= ${key}
    ORDER BY p.ns DESC, p.c DESC, p.first DESC LIMIT 1`;
}

/** Keys from `low` to `high` (exclusive), as expressions. */
export interface KeysIn {
  readonly c: string;
  readonly low: string;
  readonly high: string;
}

/** The packs `p` that may hold keys of a range: what stands between `FROM` and `ORDER BY`. */
export function packsIn(schema: Schema, { c, low, high }: KeysIn): string {
  return `${schema.sql}.packed p WHERE p.ns = $1 AND p.c = ${c}
    AND p.first >= coalesce((${packBefore(schema, c, low, 'first')}), ${low}) AND p.first < ${high} AND p.last >= ${low}`;
}

/** A table `l` of a pack's rows as `line`, with their places `at` from 1. */
export function linesOf(body: string): string {
  return `unnest(string_to_array(substr(${body}, 2), ${ROW})) WITH ORDINALITY AS l (line, at)`;
}

/** The text of a row as it stands in a pack, from a `line`. */
export function asPacked(line: string): string {
  return `${ROW} || ${line}`;
}

/** The key of a `line`. */
export function keyOfLine(line: string): string {
  return `split_part(${line}, ${VALUE}, 1)`;
}

/** The value of a `line`. */
export function valueOfLine(line: string): string {
  return `split_part(${line}, ${VALUE}, 2)`;
}
