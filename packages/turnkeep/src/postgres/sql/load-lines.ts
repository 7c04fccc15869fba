import { KEYS, prefixEnd, TABLES } from '../../core/keys.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';
import { numberKeyOf } from './number-key.ts';
import { rowAt } from './rows-of.ts';

/** Own branches that come along: what is beyond, and off the path to the leaf, is looked up as it is walked. */
const OWN_BRANCHES = 64;
/** The row of a branch that continues another begins with whose and which that is. */
const PARENT = `^\\["([^"\\\\]+)",([0-9]{1,15}),`;
/** The places of a head begin with the leaf's, if it has one: its id, its branch. */
const LEAF = `^\\[\\["(?:[^"\\\\]|\\\\.)*",\\[([0-9]{1,15}),`;
const FIRST = `'${KEYS.branch(0)}'`;
const OWN = `r.k > ${FIRST} AND r.k < '${prefixEnd(TABLES.branches)}'`;

/**
 * A query of the branches of a line, `id, c, k, v` of each: those of the conversation whose `id` and `c` are those of a table of the
 * statement around it, at the keys that `starts` is a query of, and what they go on from. None comes twice, so that it ends whatever
 * the rows say.
 */
export function lineOf(schema: Schema, own: string, starts = `SELECT ${FIRST}`): string {
  return `WITH RECURSIVE line (id, c, k, v) AS (
        SELECT ${own}.id, ${own}.c, s.k COLLATE "C", (${rowAt(schema, `${own}.c`, 's.k')}) COLLATE "C" FROM (${starts}) s (k)
        UNION
        SELECT h.id, h.c, n.k COLLATE "C", (${rowAt(schema, 'h.c', 'n.k')}) COLLATE "C"
        FROM (
          SELECT p.at[1] AS owner, '${TABLES.branches}' || ${numberKeyOf('p.at[2]::bigint')} AS k
          FROM (SELECT regexp_match(v, '${PARENT}') AS at FROM line) p
          WHERE p.at IS NOT NULL
        ) n
        CROSS JOIN LATERAL (SELECT id, c FROM ${headAt(schema, 'n.owner')}) h
      )
      SELECT id, c, k, v FROM line WHERE v IS NOT NULL`;
}

/** The first branch, and that of the leaf. */
const STARTS = `SELECT ${FIRST} UNION SELECT '${TABLES.branches}' || ${numberKeyOf('p.at[1]::bigint')}
      FROM (SELECT regexp_match(own.places, '${LEAF}') AS at) p WHERE p.at IS NOT NULL`;

/**
 * Follows conversations through what they inherit. Answers `which, id, k, v`, by the place of each conversation among those asked
 * for, from 1: the rows of its first branches, and those of the path to its leaf; the row of the branch which that continues, of
 * another conversation perhaps, and so on, as many as a path may have. Most have one row. A value that is no JSON any more, or an
 * id with a backslash, leads no further.
 */
export function loadLines(schema: Schema, namespace: string, ids: readonly string[]): Statement {
  const text = `SELECT u.which, l.id, l.k, l.v FROM unnest($2::text[]) WITH ORDINALITY AS u (id, which)
    CROSS JOIN LATERAL (SELECT id, c, places FROM ${headAt(schema, 'u.id')}) own
    CROSS JOIN LATERAL (
      (${lineOf(schema, 'own', STARTS)})
      UNION ALL (
        SELECT own.id, own.c, r.k, r.v FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = own.c AND ${OWN}
        ORDER BY r.ns, r.c, r.k LIMIT ${OWN_BRANCHES}
      )
    ) l`;
  return { name: 'tk_load_lines', text, values: [namespace, ids] };
}
