import { TABLES } from '../../core/keys.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';
import { lineOf } from './load-lines.ts';
import { numberKeyOf } from './number-key.ts';
import { rowAt } from './rows-of.ts';

const NUMBER = '([0-9]{1,15})';
/** The row of an id says where its turn or message stands: branch, position and, of a message, sequence. */
const PLACE = `^\\[${NUMBER},${NUMBER}(?:,${NUMBER})?\\]$`;

/** An id's row, in a conversation and in those that it inherits from. */
export interface PlaceOf {
  readonly conversation: string;
  readonly key: string;
}

/**
 * Follows ids of turns and messages to their places. Answers `which, id, k, v`, by the place of each key among those asked for,
 * from 1: of the conversation, and of each one that it inherits from, the row of the key, and those of the branch, of the turn
 * and of the message that it names, as far as they are there. A value that is no JSON any more leads nowhere.
 *
 * Each step is fenced off (`OFFSET 0`) and looks up one whole key.
 */
export function loadPlaces(schema: Schema, namespace: string, keys: readonly PlaceOf[]): Statement {
  const text = `SELECT u.which, h.id, r.k, r.v
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS u (id, k, which)
    CROSS JOIN LATERAL (SELECT id, c FROM ${headAt(schema, 'u.id')}) own
    CROSS JOIN LATERAL (SELECT DISTINCT id, c FROM (${lineOf(schema, 'own')}) l OFFSET 0) h
    CROSS JOIN LATERAL (${rowAt(schema, 'h.c', 'u.k')}) i
    LEFT JOIN LATERAL (SELECT regexp_match(i.v, '${PLACE}')::bigint[] AS at OFFSET 0) p ON true
    LEFT JOIN LATERAL (
      SELECT ${numberKeyOf('p.at[1]')} AS branch, ${numberKeyOf('p.at[2]')} AS position, ${numberKeyOf('p.at[3]')} AS sequence
      WHERE p.at IS NOT NULL OFFSET 0
    ) n ON true
    CROSS JOIN LATERAL (
      SELECT u.k AS k, i.v AS v
      UNION ALL SELECT f.k, (${rowAt(schema, 'h.c', 'f.k')}) AS v
      FROM unnest(ARRAY['${TABLES.branches}' || n.branch, '${TABLES.turns}' || n.branch || n.position,
        CASE WHEN p.at[3] IS NOT NULL THEN '${TABLES.messages}' || n.branch || n.position || n.sequence END]) AS f (k)
      WHERE f.k IS NOT NULL
    ) r`;
  return {
    name: 'tk_load_places',
    text,
    values: [namespace, keys.map((one) => one.conversation), keys.map((one) => one.key)],
  };
}
