import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';
import { rowAt } from './rows-of.ts';
import { LOG_COLUMNS, logAt } from './log-at.ts';

/** The row of a commit's id begins with its version, that of an operation or an input with one text or two, and then the version. */
const VERSION = `^\\[(?:"(?:[^"\\\\]|\\\\.)*",){0,2}([0-9]{1,15})[],]`;

/** The row of an id under which a commit may have been done before. */
export interface DoneAs {
  readonly conversation: string;
  readonly key: string;
}

/**
 * Follows the ids of commits, operations and inputs to the commits that had them. Answers, in the order of what is asked for, `v` of
 * each key; `version, at, header, seals, words, redactions, c, block` of the log record; `c, first, last, bytes` of the block that it
 * has cooled into. What is not there is `NULL`, and a value that is no JSON any more leads nowhere.
 */
export function loadDone(schema: Schema, namespace: string, keys: readonly DoneAs[]): Statement {
  const text = `SELECT i.v, ${LOG_COLUMNS}
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS u (id, k, which)
    LEFT JOIN LATERAL (SELECT c FROM ${headAt(schema, 'u.id')}) h ON true
    LEFT JOIN LATERAL (${rowAt(schema, 'h.c', 'u.k')}) i ON true
    LEFT JOIN LATERAL (SELECT (regexp_match(i.v, '${VERSION}'))[1]::bigint AS version OFFSET 0) d ON true
    ${logAt(schema, 'h.c', 'd.version')} ORDER BY u.which`;
  return {
    name: 'tk_load_done',
    text,
    values: [namespace, keys.map((one) => one.conversation), keys.map((one) => one.key)],
  };
}
