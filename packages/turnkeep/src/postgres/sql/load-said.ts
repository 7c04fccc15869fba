import { TABLES } from '../../core/keys.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { numberKeyOf } from './number-key.ts';
import { rowAt } from './rows-of.ts';
import { PLACE, STAMP } from './sought.ts';
import { LOG_COLUMNS, logAt } from './log-at.ts';

/** The row of a message's id, of a conversation whose number is known. */
export interface SaidAs {
  readonly c: string;
  readonly key: string;
}

/**
 * Follows ids of a conversation's own messages to their words. Answers, in the order of what is asked for, `v` of each key; `k, v` of
 * the message; `version, at, header, seals, words, redactions, c, block` of its log record; `c, first, last, bytes` of the block that
 * it has cooled into. What is not there is `NULL`, and a value that is no JSON any more leads nowhere.
 */
export function loadSaid(schema: Schema, namespace: string, keys: readonly SaidAs[]): Statement {
  const text = `SELECT i.v, m.k, m.v, ${LOG_COLUMNS}
    FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS u (c, k, which)
    CROSS JOIN LATERAL (${rowAt(schema, 'u.c', 'u.k')}) i
    LEFT JOIN LATERAL (SELECT regexp_match(i.v, '${PLACE}')::bigint[] AS at WHERE i.v IS NOT NULL OFFSET 0) p ON true
    LEFT JOIN LATERAL (
      SELECT '${TABLES.messages}' || ${numberKeyOf('p.at[1]')} || ${numberKeyOf('p.at[2]')} || ${numberKeyOf('p.at[3]')} AS k
      WHERE p.at IS NOT NULL OFFSET 0
    ) n ON true
    LEFT JOIN LATERAL (SELECT n.k, (${rowAt(schema, 'u.c', 'n.k')}) AS v WHERE n.k IS NOT NULL OFFSET 0) m ON true
    LEFT JOIN LATERAL (SELECT regexp_match(m.v, '${STAMP}')::bigint[] AS at OFFSET 0) w ON true
    ${logAt(schema, 'u.c', 'coalesce(w.at[2], w.at[1])')} ORDER BY u.which`;
  return { name: 'tk_load_said', text, values: [namespace, keys.map(({ c }) => c), keys.map(({ key }) => key)] };
}
