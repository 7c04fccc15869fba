import { KEYS, prefixEnd, TABLES } from '../../core/keys.ts';
import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';
import { numberKeyOf } from './number-key.ts';
import { rowAt } from './rows-of.ts';

/** Branches that are followed, and own ones that come along: what is beyond is looked up as it is walked. */
const LENGTH = 64;
/** The row of a branch that continues another begins with whose and which that is. */
const PARENT = `^\\["([^"\\\\]+)",([0-9]{1,15}),`;
const FIRST = `'${KEYS.branch(0)}'`;
const OWN = `r.k > ${FIRST} AND r.k < '${prefixEnd(TABLES.branches)}'`;

/**
 * A query of the branches of a line, `id, c, k, v` of each: the first one of the conversation whose `id` and `c` are those of a
 * table of the statement around it, and what it goes on from.
 */
export function lineOf(schema: Schema, own: string): string {
  return `WITH RECURSIVE line (id, c, k, v, depth) AS (
        SELECT ${own}.id, ${own}.c, ${FIRST} COLLATE "C", (${rowAt(schema, `${own}.c`, FIRST)}) COLLATE "C", 1
        UNION ALL
        SELECT h.id, h.c, n.k COLLATE "C", (${rowAt(schema, 'h.c', 'n.k')}) COLLATE "C", n.depth
        FROM (
          SELECT p.at[1] AS owner, '${TABLES.branches}' || ${numberKeyOf('p.at[2]::bigint')} AS k, p.depth + 1 AS depth
          FROM (SELECT regexp_match(v, '${PARENT}') AS at, depth FROM line) p
          WHERE p.at IS NOT NULL AND p.depth < ${LENGTH}
        ) n
        CROSS JOIN LATERAL (SELECT id, c FROM ${headAt(schema, 'n.owner')}) h
      )
      SELECT id, c, k, v FROM line WHERE v IS NOT NULL`;
}

/**
 * Follows conversations through what they inherit. Answers `which, id, k, v`, by the place of each conversation among those asked
 * for, from 1: the rows of its first branches; the row of the branch which its first one continues, of another conversation, and
 * so on. Most have one row. A value that is no JSON any more, or an id with a backslash, leads no further.
 */
export function loadLines(schema: Schema, namespace: string, ids: readonly string[]): Statement {
  const text = `SELECT u.which, l.id, l.k, l.v FROM unnest($2::text[]) WITH ORDINALITY AS u (id, which)
    CROSS JOIN LATERAL (SELECT id, c FROM ${headAt(schema, 'u.id')}) own
    CROSS JOIN LATERAL (
      (${lineOf(schema, 'own')})
      UNION ALL (
        SELECT own.id, own.c, r.k, r.v FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = own.c AND ${OWN}
        ORDER BY r.ns, r.c, r.k LIMIT ${LENGTH}
      )
    ) l`;
  return { name: 'tk_load_lines', text, values: [namespace, ids] };
}
