import type { HeadQuery } from '../../core/backend.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';

/** Answers `head, id` of a page of conversations, newest first. */
export function listHeads(schema: Schema, namespace: string, query: HeadQuery): Statement {
  return query.order === 'activity' ? byActivity(schema, namespace, query) : byCreation(schema, namespace, query);
}

function byActivity(schema: Schema, namespace: string, query: HeadQuery): Statement {
  const { owned, text, values } = page(query, 'r.activity', 'r.id', 'r.owner');
  return {
    name: `tk_list_activity${owned}`,
    text: `SELECT h.head, h.id FROM ${schema.sql}.recency r
      CROSS JOIN LATERAL (SELECT id, head FROM ${headAt(schema, 'r.id')}) h
      WHERE r.ns = $1 AND ${text}`,
    values: [namespace, ...values],
  };
}

function byCreation(schema: Schema, namespace: string, query: HeadQuery): Statement {
  const { owned, text, values } = page(query, 'created', 'id', 'owner');
  return {
    name: `tk_list_created${owned}`,
    text: `SELECT head, id FROM ${schema.sql}.heads WHERE ns = $1 AND head <> '' AND ${text}`,
    values: [namespace, ...values],
  };
}

const LATEST = Number.MAX_SAFE_INTEGER;

/** The page after a place: an index range down to it, of which equal times are sorted out by id. */
function page({ after, owner, limit }: HeadQuery, time: string, id: string, owned: string) {
  const isOwned = owner === undefined ? '' : ` AND ${owned} = $5`;
  const text = `${time} <= $2 AND (${time} < $2 OR ${id} > $3)${isOwned} ORDER BY ${time} DESC, ${id} LIMIT $4`;
  const values = [after?.at ?? LATEST, after?.conversationId ?? '', Math.min(limit, LATEST)];
  return {
    owned: owner === undefined ? '' : '_owned',
    text,
    values: owner === undefined ? values : [...values, owner],
  };
}
