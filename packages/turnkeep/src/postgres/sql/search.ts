import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headNumbered } from './head-at.ts';

/** A commit, and what the index is to hold of it. */
export interface IndexedCommit {
  readonly c: string;
  readonly version: number;
  readonly words: string | null;
}

/** Takes words that went out of the search index. `words` is what is left of a commit's; `null` where nothing is. */
export function refoldWords(schema: Schema, namespace: string, commits: readonly IndexedCommit[]): Statement {
  const edits = `unnest($2::bigint[], $3::bigint[], $4::text[]) AS u (c, version, words)
    WHERE f.ns = $1 AND f.c = u.c AND f.version = u.version`;
  const text = `WITH gone AS (DELETE FROM ${schema.sql}.folded f USING ${edits} AND u.words IS NULL)
    UPDATE ${schema.sql}.folded f SET words = u.words FROM ${edits} AND u.words IS NOT NULL`;
  return {
    name: 'tk_refold',
    text,
    values: [
      namespace,
      commits.map(({ c }) => c),
      commits.map(({ version }) => version),
      commits.map(({ words }) => words),
    ],
  };
}

/** Answers `last, indexed`: the last position of the feed, and the one up to which words are in the search index. */
export function readEnds(schema: Schema, namespace: string): Statement {
  const text = `SELECT last, indexed FROM ${schema.sql}.feed_ends WHERE ns = $1`;
  return { name: 'tk_read_ends', text, values: [namespace] };
}

/** The same, locked: who holds it alone adds to the index. */
export function lockEnds(schema: Schema, namespace: string): Statement {
  const text = `SELECT last, indexed FROM ${schema.sql}.feed_ends WHERE ns = $1 FOR UPDATE`;
  return { name: 'tk_lock_ends', text, values: [namespace] };
}

/**
 * Answers `position, c, version, at, header, seals, words, redactions, c, block` of the commits after a position, for the index:
 * nothing but the first two where there is no log record. Those that are there are locked: words that go meanwhile wait, and
 * then go from the index too.
 */
export function readToFold(schema: Schema, namespace: string, after: number, limit: number): Statement {
  const text = `SELECT f.position, f.c, l.version, l.at, l.header, l.seals, l.words, l.redactions, l.c, l.block
    FROM (SELECT position, c, version FROM ${schema.sql}.feed WHERE ns = $1 AND position > $2 ORDER BY position LIMIT $3) f
    LEFT JOIN LATERAL (
      SELECT * FROM ${schema.sql}.log l WHERE l.ns = $1 AND l.c = f.c AND l.version = f.version FOR SHARE
    ) l ON true ORDER BY f.position`;
  return { name: 'tk_read_to_fold', text, values: [namespace, after, limit] };
}

export interface FoldedCommit {
  readonly position: number;
  readonly c: string;
  readonly version: number;
  readonly words: string;
}

export function addFolded(schema: Schema, namespace: string, commits: readonly FoldedCommit[]): Statement {
  const text = `INSERT INTO ${schema.sql}.folded (ns, position, c, version, words)
    SELECT $1, u.position, u.c, u.version, u.words
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) AS u (position, c, version, words)
    ON CONFLICT (ns, position) DO UPDATE SET words = excluded.words`;
  return {
    name: 'tk_add_folded',
    text,
    values: [
      namespace,
      commits.map(({ position }) => position),
      commits.map(({ c }) => c),
      commits.map(({ version }) => version),
      commits.map(({ words }) => words),
    ],
  };
}

export function setIndexed(schema: Schema, namespace: string, position: number): Statement {
  const text = `UPDATE ${schema.sql}.feed_ends SET indexed = $2 WHERE ns = $1`;
  return { name: 'tk_set_indexed', text, values: [namespace, position] };
}

/** Empties the index of a namespace. */
export function dropFolded(schema: Schema, namespace: string): Statement {
  return { name: 'tk_drop_folded', text: `DELETE FROM ${schema.sql}.folded WHERE ns = $1`, values: [namespace] };
}

/** Positions from `above` to `below`, both exclusive; `only` these conversations, by number, where it is not `null`. */
export interface Stretch {
  readonly above: number;
  readonly below: number;
  readonly only: readonly string[] | null;
  readonly limit: number;
}

/**
 * Answers `position, id, version` of indexed commits whose folded words contain the pattern's or cannot be read, newest
 * first.
 */
export function findFolded(schema: Schema, namespace: string, pattern: string, stretch: Stretch): Statement {
  const { owned, values } = stretchValues(stretch, 'f.c');
  const found = (matches: string): string => `(SELECT position, c, version FROM ${schema.sql}.folded f
      WHERE f.ns = $1 AND f.position > $2 AND f.position < $3${owned} AND ${matches}
      ORDER BY f.position DESC LIMIT $4)`;
  const text = `SELECT f.position, h.id, f.version FROM (
      ${found(`f.words LIKE $${values.length + 2}`)} UNION ALL ${found(`f.words = ''`)}
      ORDER BY position DESC LIMIT $4
    ) f CROSS JOIN LATERAL (SELECT id FROM ${headNumbered(schema, 'f.c')}) h ORDER BY f.position DESC`;
  return { name: `tk_find_folded${owned === '' ? '' : '_owned'}`, text, values: [namespace, ...values, pattern] };
}

/** Answers `position, id, version, at, header, seals, words, redactions, c, block` of commits, newest first: to look for words. */
export function readToScan(schema: Schema, namespace: string, stretch: Stretch): Statement {
  const { owned, values } = stretchValues(stretch, 'f.c');
  const text = `SELECT f.position, h.id, l.version, l.at, l.header, l.seals, l.words, l.redactions, l.c, l.block
    FROM ${schema.sql}.feed f
    CROSS JOIN LATERAL (SELECT id FROM ${headNumbered(schema, 'f.c')}) h
    CROSS JOIN LATERAL (
      SELECT * FROM ${schema.sql}.log l WHERE l.ns = $1 AND l.c = f.c AND l.version = f.version OFFSET 0
    ) l
    WHERE f.ns = $1 AND f.position > $2 AND f.position < $3${owned} ORDER BY f.position DESC LIMIT $4`;
  return { name: `tk_read_to_scan${owned === '' ? '' : '_owned'}`, text, values: [namespace, ...values] };
}

function stretchValues({ above, below, only, limit }: Stretch, column: string) {
  const owned = only === null ? '' : ` AND ${column} = ANY ($5::bigint[])`;
  return { owned, values: only === null ? [above, below, limit] : [above, below, limit, only] };
}
