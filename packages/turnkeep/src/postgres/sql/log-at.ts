import type { Schema } from '../schema/schema-name.ts';

/** The columns that {@link logAt} answers: those of a log record, and those of the block that it has cooled into. */
export const LOG_COLUMNS = `l.version, l.at, l.header, l.seals, l.words, l.redactions, l.c, l.block,
      b.c, b.first, b.last, b.bytes`;

/** Joins the log record `l` of a conversation's number at a version, and its block `b`; `NULL` where there is none. */
export function logAt(schema: Schema, c: string, version: string): string {
  return `LEFT JOIN LATERAL (
      SELECT version, at, header, seals, words, redactions, c, block FROM ${schema.sql}.log l
      WHERE l.ns = $1 AND l.c = ${c} AND l.version = ${version} OFFSET 0
    ) l ON true
    LEFT JOIN LATERAL (
      SELECT c, first, last, encode(bytes, 'base64') AS bytes FROM ${schema.sql}.blocks b
      WHERE b.ns = $1 AND b.c = ${c} AND b.first = l.block OFFSET 0
    ) b ON true`;
}
