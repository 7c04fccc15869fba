import { KEYS, TABLES } from '../../core/keys.ts';
import type { SoughtMessage } from '../../core/backend.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';
import { numberKeyOf } from './number-key.ts';
import { rowAt } from './rows-of.ts';
import { LOG_COLUMNS, logAt } from './log-at.ts';

const NUMBER = '([0-9]{1,15})';
/** The row of an id says where the message stands: branch, position, sequence. */
export const PLACE: string = `^\\[${NUMBER},${NUMBER},${NUMBER}\\]$`;
/** The row of a message begins with its id and its stamp; then comes its record's index, or where another record stands. */
export const STAMP: string = `^\\["(?:[^"\\\\]|\\\\.)*",${NUMBER},[0-9]+,(?:[0-9]+|\\[${NUMBER},[0-9]+\\])`;

/**
 * Follows a message from its id to its words. Answers at most one row: `id, c, rank, places, head, packs` of the conversation; the
 * value of the id's row; key and value of the message's row and of its turn's; `version, at, header, seals, words,
 * redactions, c, block` of the log record; `c, first, last, bytes` of the block that it has cooled into. What is not there is
 * `NULL`, and so is what cannot be followed: a value that is no JSON any more ends nothing.
 *
 * Each step is fenced off (`OFFSET 0`) and looks up one whole key: a plan that was made while a table was small must not
 * join by less of it.
 */
export function loadSought(schema: Schema, namespace: string, { conversationId, messageId }: SoughtMessage): Statement {
  const at = (key: string) => rowAt(schema, 'h.c', key);
  const text = `SELECT h.id, h.c, h.rank, h.places, h.head, h.packs, i.v, m.k, m.v, t.k, t.v,
      ${LOG_COLUMNS}
    FROM (SELECT * FROM ${headAt(schema, '$2')}) h
    LEFT JOIN LATERAL (${at('$3')}) i ON true
    LEFT JOIN LATERAL (SELECT regexp_match(i.v, '${PLACE}')::bigint[] AS at OFFSET 0) p ON true
    LEFT JOIN LATERAL (
      SELECT ${numberKeyOf('p.at[1]')} || ${numberKeyOf('p.at[2]')} AS turn, ${numberKeyOf('p.at[3]')} AS sequence
      WHERE p.at IS NOT NULL OFFSET 0
    ) n ON true
    LEFT JOIN LATERAL (
      SELECT u.k, (${at('u.k')}) AS v FROM (SELECT '${TABLES.messages}' || n.turn || n.sequence AS k) u OFFSET 0
    ) m ON true
    LEFT JOIN LATERAL (
      SELECT u.k, (${at('u.k')}) AS v FROM (SELECT '${TABLES.turns}' || n.turn AS k) u OFFSET 0
    ) t ON true
    LEFT JOIN LATERAL (SELECT regexp_match(m.v, '${STAMP}')::bigint[] AS at OFFSET 0) w ON true
    ${logAt(schema, 'h.c', 'coalesce(w.at[2], w.at[1])')} WHERE h.head <> ''`;
  return { name: 'tk_load_sought', text, values: [namespace, conversationId, KEYS.messageId(messageId)] };
}
