import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { numberIn } from './head-text.ts';
import { keyOfLine, linesOf, valueOfLine } from './rows-of.ts';

export interface Check {
  readonly kind: string;
  readonly reason: string;
  readonly statement: Statement;
}

const LIMIT = 100;

/** Each statement answers the places of rows that should not be as they are. */
export function checksOf(schema: Schema, namespace: string): readonly Check[] {
  const s = schema.sql;
  const check = (kind: string, reason: string, text: string): Check => ({
    kind,
    reason,
    statement: { name: `tk_check_${kind}`, text: `${text} LIMIT ${LIMIT}`, values: [namespace] },
  });
  return [
    check(
      'log_count',
      'the log lacks versions or has too many',
      `SELECT 'conversation ' || h.id FROM ${s}.heads h WHERE h.ns = $1 AND h.version <> (
        SELECT count(*) FROM ${s}.log l WHERE l.ns = $1 AND l.c = h.c AND l.version BETWEEN 1 AND h.version)`,
    ),
    check(
      'orphan_log',
      'a log row has no conversation',
      `SELECT 'conversation number ' || c || ', version ' || version FROM ${s}.log l WHERE l.ns = $1
      AND NOT EXISTS (SELECT FROM ${s}.heads h WHERE h.ns = $1 AND h.c = l.c AND h.version >= l.version)`,
    ),
    check(
      'orphan_rows',
      'rows have no conversation',
      `SELECT DISTINCT 'conversation number ' || c FROM (
        SELECT c FROM ${s}.rows r WHERE r.ns = $1 UNION ALL SELECT c FROM ${s}.packed p WHERE p.ns = $1) r
      WHERE NOT EXISTS (SELECT FROM ${s}.heads h WHERE h.ns = $1 AND h.c = r.c)`,
    ),
    check(
      'packed_rows',
      'packed rows are not in the order of their keys, or not where they are looked for',
      `SELECT 'conversation number ' || p.c || ', packed from ' || p.first FROM ${s}.packed p WHERE p.ns = $1 AND (
        p.last >= (SELECT min(q.first) FROM ${s}.packed q WHERE q.ns = $1 AND q.c = p.c AND q.first > p.first)
        OR left(p.body, 1) <> E'\x1e' OR (
          SELECT bool_or(e.v = '' OR e.k < p.first OR e.k > p.last OR e.k <= e.before) FROM (
            SELECT ${keyOfLine('l.line')} AS k, ${valueOfLine('l.line')} AS v,
              lag(${keyOfLine('l.line')}) OVER (ORDER BY l.at) AS before FROM ${linesOf('p.body')}) e)
        OR NOT EXISTS (SELECT FROM ${s}.heads h WHERE h.ns = $1 AND h.c = p.c AND strpos(h.packs, left(p.first, 1)) > 0))`,
    ),
    check(
      'orphan_addition',
      'something was added to a sum by no commit',
      `SELECT 'conversation number ' || c || ', version ' || version FROM ${s}.additions a WHERE a.ns = $1
      AND NOT EXISTS (SELECT FROM ${s}.heads h WHERE h.ns = $1 AND h.c = a.c AND h.version >= a.version)`,
    ),
    check(
      'orphan_part',
      'bytes have no attachment',
      `SELECT 'part ' || i || ' of blob ' || b FROM ${s}.parts p WHERE p.ns = $1
      AND NOT EXISTS (SELECT FROM ${s}.blobs u WHERE u.ns = $1 AND u.b = p.b)`,
    ),
    check(
      'orphan_attachment',
      'the bytes of an attachment have no row',
      `SELECT 'attachment ' || name FROM ${s}.blobs u WHERE u.ns = $1 AND left(name, 1) NOT IN ('+', '-')
      AND NOT EXISTS (SELECT FROM ${s}.heads h JOIN ${s}.rows r ON r.ns = $1 AND r.c = h.c AND r.k = 'H' || u.name
        WHERE h.ns = $1 AND h.id = chr(1) || 'attachments')`,
    ),
    check(
      'feed_place',
      'a commit has no place in the feed, or more than one',
      `SELECT 'conversation number ' || l.c || ', version ' || l.version FROM ${s}.log l WHERE l.ns = $1 AND 1 <> (
        SELECT count(*) FROM (
          SELECT FROM ${s}.feed f WHERE f.ns = $1 AND f.c = l.c AND f.version = l.version
          UNION ALL SELECT FROM ${s}.outbox o WHERE o.ns = $1 AND o.c = l.c AND o.version = l.version) p)`,
    ),
    check(
      'feed_gap',
      'the feed has a gap, or its end is not where it says',
      `SELECT 'the feed' FROM ${s}.feed_ends e WHERE e.ns = $1 AND (e.last <> (
        SELECT count(*) FROM ${s}.feed f WHERE f.ns = $1 AND f.position BETWEEN 1 AND e.last)
        OR EXISTS (SELECT FROM ${s}.feed f WHERE f.ns = $1 AND f.position > e.last) OR e.indexed > e.last)`,
    ),
    check(
      'missing_block',
      'a commit has cooled, and there is no archive block of it',
      `SELECT 'conversation number ' || l.c || ', version ' || l.version FROM ${s}.log l WHERE l.ns = $1
      AND l.block IS NOT NULL AND NOT EXISTS (SELECT FROM ${s}.blocks b WHERE b.ns = $1 AND b.c = l.c AND b.first = l.block
        AND l.version BETWEEN b.first AND b.last)`,
    ),
    check(
      'folded_words',
      'the search index holds a commit that is not at its place',
      `SELECT 'position ' || w.position FROM ${s}.folded w WHERE w.ns = $1 AND NOT EXISTS (
        SELECT FROM ${s}.feed f WHERE f.ns = $1 AND f.position = w.position AND f.c = w.c AND f.version = w.version)`,
    ),
  ];
}

/**
 * Answers `id, version, created, owner, activity, owner, places, head` of heads by id, after one: what the listing by activity
 * has of each stands in the fifth and the sixth.
 */
export function readHeads(schema: Schema, namespace: string, after: string, limit: number): Statement {
  const text = `SELECT h.id, h.version, h.created, h.owner, r.activity, r.owner, h.places, h.head
    FROM ${schema.sql}.heads h LEFT JOIN ${schema.sql}.recency r ON r.ns = $1 AND r.id = h.id
    WHERE h.ns = $1 AND h.id > $2 ORDER BY h.id LIMIT $3`;
  return { name: 'tk_check_heads', text, values: [namespace, after, limit] };
}

/** Writes the listing by activity anew, from the heads that can be read. */
export function rebuildRecency(schema: Schema, namespace: string): Statement {
  const activity = numberIn('head', 'lastActivityAt');
  const text = `INSERT INTO ${schema.sql}.recency AS r (ns, id, activity, owner)
    SELECT $1, id, ${activity}, owner FROM ${schema.sql}.heads WHERE ns = $1 AND ${activity} IS NOT NULL
    ON CONFLICT (ns, id) DO UPDATE SET activity = greatest(r.activity, excluded.activity), owner = excluded.owner`;
  return { name: 'tk_rebuild_recency', text, values: [namespace] };
}
