import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headNumbered } from './head-at.ts';

/** Answers a row where commits wait for their place. */
export function feedWaits(schema: Schema, namespace: string): Statement {
  const text = `SELECT 1 FROM ${schema.sql}.outbox WHERE ns = $1 LIMIT 1`;
  return { name: 'tk_feed_waits', text, values: [namespace] };
}

/** Makes sure that the namespace has a last position. */
export function beginFeed(schema: Schema, namespace: string): Statement {
  const text = `INSERT INTO ${schema.sql}.feed_ends (ns, last, indexed) VALUES ($1, 0, 0) ON CONFLICT (ns) DO NOTHING`;
  return { name: 'tk_begin_feed', text, values: [namespace] };
}

/** Locks the namespace's last position: who holds it alone gives places. */
export function lockFeed(schema: Schema, namespace: string): Statement {
  const text = `SELECT last FROM ${schema.sql}.feed_ends WHERE ns = $1 FOR UPDATE`;
  return { name: 'tk_lock_feed', text, values: [namespace] };
}

/**
 * Gives the next places to commits that wait and can be seen, at most so many, in the order of their rank: a commit that
 * can be seen stands behind all that it follows, since those were committed before it began. Answers how many.
 */
export function placeInFeed(schema: Schema, namespace: string, limit: number): Statement {
  const text = `WITH taken AS (
      DELETE FROM ${schema.sql}.outbox o USING (
        SELECT rank, c, version FROM ${schema.sql}.outbox WHERE ns = $1 ORDER BY ns, rank, c, version LIMIT $2
      ) t WHERE o.ns = $1 AND o.rank = t.rank AND o.c = t.c AND o.version = t.version
      RETURNING o.c, o.version, o.rank
    ), placed AS (
      INSERT INTO ${schema.sql}.feed (ns, position, c, version)
      SELECT $1, e.last + row_number() OVER (ORDER BY t.rank, t.c, t.version), t.c, t.version
      FROM taken t, ${schema.sql}.feed_ends e WHERE e.ns = $1
      RETURNING position
    )
    UPDATE ${schema.sql}.feed_ends SET last = last + (SELECT count(*) FROM placed) WHERE ns = $1
    RETURNING (SELECT count(*) FROM placed)`;
  return { name: 'tk_place_feed', text, values: [namespace, limit] };
}

/** Answers `position, id, version` after a position. */
export function readFeed(schema: Schema, namespace: string, after: number, limit: number): Statement {
  const text = `SELECT f.position, h.id, f.version FROM ${schema.sql}.feed f
    CROSS JOIN LATERAL (SELECT id FROM ${headNumbered(schema, 'f.c')}) h
    WHERE f.ns = $1 AND f.position > $2 ORDER BY f.position LIMIT $3`;
  return { name: 'tk_read_feed', text, values: [namespace, after, limit] };
}
