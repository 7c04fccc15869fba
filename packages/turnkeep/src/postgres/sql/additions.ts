import type { Head } from '../../core/head.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { makesAlone } from './add-heads.ts';
import { headAt } from './head-at.ts';

/** What one commit adds to one sum. */
export interface Addition {
  readonly key: string;
  /** The commit: its conversation's number, and its version. */
  readonly c: string;
  readonly version: number;
  readonly value: string;
}

/**
 * Adds to the sums of a shelf, and makes the shelf with the number `c` where nobody has made it or makes it now. Nobody waits
 * for it: each commit has rows of its own.
 */
export function addAdditions(
  schema: Schema,
  namespace: string,
  shelf: { readonly head: Head; readonly c: string },
  additions: readonly Addition[],
): Statement {
  const text = `WITH made AS (
      INSERT INTO ${schema.sql}.heads (ns, id, c, version, rank, created, owner, uncollected, places, head)
      SELECT $1, $6, $7::bigint, 0, 0, $8::bigint, NULL, false, '[]', $9
      WHERE ${makesAlone(schema, '$6')}
      ON CONFLICT (ns, id) DO NOTHING RETURNING id
    ), recency AS (
      INSERT INTO ${schema.sql}.recency (ns, id, activity, owner) SELECT $1, m.id, $8::bigint, NULL FROM made m
    )
    INSERT INTO ${schema.sql}.additions (ns, k, c, version, v)
    SELECT $1, u.k, u.c, u.version, u.v FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[]) AS u (k, c, version, v)`;
  return {
    name: 'tk_add_additions',
    text,
    values: [
      namespace,
      additions.map(({ key }) => key),
      additions.map(({ c }) => c),
      additions.map(({ version }) => version),
      additions.map(({ value }) => value),
      shelf.head.conversationId,
      shelf.c,
      shelf.head.createdAt,
      JSON.stringify(shelf.head),
    ],
  };
}

/**
 * Answers `which, k, v` of the rows of a shelf in each range, by its place from 1, and of what was added to them since: a
 * key may come several times, in any order.
 */
export function loadSums(
  schema: Schema,
  namespace: string,
  shelf: string,
  ranges: readonly { readonly from: string; readonly to: string }[],
): Statement {
  const text = `SELECT u.which, s.k, s.v
    FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS u (low, high, which)
    CROSS JOIN LATERAL (
      SELECT r.k, r.v FROM (SELECT c FROM ${headAt(schema, '$2')}) h CROSS JOIN LATERAL (
        SELECT k, v FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = h.c AND r.k >= u.low AND r.k < u.high OFFSET 0
      ) r
      UNION ALL SELECT a.k, a.v FROM ${schema.sql}.additions a WHERE a.ns = $1 AND a.k >= u.low AND a.k < u.high
    ) s`;
  return {
    name: 'tk_load_sums',
    text,
    values: [namespace, shelf, ranges.map(({ from }) => from), ranges.map(({ to }) => to)],
  };
}

/** Removes the additions of the first keys, as many as the limit at most, and answers `k, v` of each. */
export function takeAdditions(schema: Schema, namespace: string, limit: number): Statement {
  const text = `WITH last AS (
      SELECT k, c, version FROM (
        SELECT k, c, version FROM ${schema.sql}.additions WHERE ns = $1 ORDER BY ns, k, c, version LIMIT $2
      ) t ORDER BY k DESC, c DESC, version DESC LIMIT 1
    )
    DELETE FROM ${schema.sql}.additions a USING last l
    WHERE a.ns = $1 AND (a.k, a.c, a.version) <= (l.k, l.c, l.version) RETURNING a.k, a.v`;
  return { name: 'tk_take_additions', text, values: [namespace, limit] };
}
