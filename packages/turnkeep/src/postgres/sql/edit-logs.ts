import type { Statement } from '../driver/driver.ts';
import type { PackedLog } from '../log-codec.ts';
import type { Schema } from '../schema/schema-name.ts';

/** A log record with its conversation's number. */
export interface LogToEdit {
  readonly c: string;
  readonly log: PackedLog;
}

/** Replaces log records whose words went; one that has cooled stands in the log again, until its block was cleaned. */
export function editLogs(schema: Schema, namespace: string, logs: readonly LogToEdit[]): Statement {
  const text = `UPDATE ${schema.sql}.log l
    SET at = u.at, header = u.header, seals = u.seals, words = u.words, redactions = u.redactions,
      block = NULL
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[])
      AS u (c, version, at, header, seals, words, redactions)
    WHERE l.ns = $1 AND l.c = u.c AND l.version = u.version`;
  return { name: 'tk_edit_logs', text, values: [namespace, ...columnsOf(logs)] };
}

function columnsOf(logs: readonly LogToEdit[]): Statement['values'] {
  return [
    logs.map(({ c }) => c),
    logs.map(({ log }) => log.version),
    logs.map(({ log }) => log.at),
    logs.map(({ log }) => log.header),
    logs.map(({ log }) => log.seals),
    logs.map(({ log }) => log.words),
    logs.map(({ log }) => log.redactions),
  ];
}
