import { TABLES } from '../../core/keys.ts';
import type { SqlValue, Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';
import { keyOfLine, linesOf, packsIn, rowAt, unpackedAt, valueOfLine } from './rows-of.ts';

/** A conversation, with its number where that is known. */
interface Of {
  readonly conversation: string;
  readonly c: string | null;
}

export interface KeyOf extends Of {
  readonly key: string;
  /** False where it is known not to be packed. */
  readonly mayBePacked: boolean;
}

export interface RangeOf extends Of {
  readonly from: string;
  readonly to: string;
  readonly limit: number;
}

export interface VersionOf extends Of {
  readonly version: number;
}

/** Answers `id, c, rank, places, head, packs` of conversations that exist. */
export function loadHeads(schema: Schema, namespace: string, ids: readonly string[]): Statement {
  const text = `SELECT h.id, h.c, h.rank, h.places, h.head, h.packs FROM unnest($2::text[]) AS u (id)
    CROSS JOIN LATERAL (SELECT * FROM ${headAt(schema, 'u.id')}) h WHERE h.head <> ''`;
  return { name: 'tk_load_heads', text, values: [namespace, ids] };
}

/** Answers `which, v`: the value of each key that has a row, by its place among those asked for, from 1. */
export function loadRows(schema: Schema, namespace: string, keys: readonly KeyOf[]): Statement {
  const mayBePacked = keys.some((one) => one.mayBePacked);
  const at = mayBePacked ? rowAt : unpackedAt;
  const text = `SELECT u.which, r.v
    FROM unnest($2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY AS u (id, c, k, which)
    CROSS JOIN LATERAL (${numberOf(schema)}) h
    CROSS JOIN LATERAL (${at(schema, 'h.c', 'u.k')}) r WHERE r.v IS NOT NULL`;
  return {
    name: mayBePacked ? 'tk_load_rows_packed' : 'tk_load_rows',
    text,
    values: [namespace, ...conversationsOf(keys), keys.map((one) => one.key)],
  };
}

/** Answers `which, k, v`: the rows of each range that are not packed, in the direction asked for, as many as its limit at most. */
export function loadRanges(schema: Schema, namespace: string, ranges: readonly RangeOf[], reverse: boolean): Statement {
  const text = `SELECT u.which, r.k, r.v
    FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) WITH ORDINALITY AS u (id, c, low, high, n, which)
    CROSS JOIN LATERAL (${numberOf(schema)}) h
    CROSS JOIN LATERAL (
      SELECT k, v FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = h.c AND r.k >= u.low AND r.k < u.high
      ORDER BY r.ns${direction(reverse)}, r.c${direction(reverse)}, r.k${direction(reverse)} LIMIT u.n
    ) r`;
  return {
    name: reverse ? 'tk_load_ranges_down' : 'tk_load_ranges_up',
    text,
    values: [namespace, ...boundsOf(ranges), ranges.map((one) => one.limit)],
  };
}

export interface PacksOf extends RangeOf {
  /** As many packs at most. */
  readonly packs: number;
  /** True where nobody writes to the conversation meanwhile. */
  readonly isStill: boolean;
}

/**
 * Answers `which, first, last, body` of the packs that may hold rows of each range, in the direction asked for. Downwards,
 * where nobody writes meanwhile, those are left out that stand below as many rows as are asked for that are not packed: who
 * reads the end of a path mostly gets none.
 */
export function loadPacks(schema: Schema, namespace: string, ranges: readonly PacksOf[], reverse: boolean): Statement {
  const down = direction(reverse);
  const lastWanted = `SELECT r.k FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = h.c AND r.k >= u.low AND r.k < u.high
    ORDER BY r.ns DESC, r.c DESC, r.k DESC OFFSET u.wanted - 1 LIMIT 1`;
  const low = reverse ? `CASE WHEN u.wanted IS NULL THEN u.low ELSE coalesce((${lastWanted}), u.low) END` : 'u.low';
  const text = `SELECT u.which, p.first, p.last, p.body
    FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
      WITH ORDINALITY AS u (id, c, low, high, n, wanted, which)
    CROSS JOIN LATERAL (${numberOf(schema)}) h
    CROSS JOIN LATERAL (SELECT ${low} AS low OFFSET 0) e
    CROSS JOIN LATERAL (
      SELECT first, last, body FROM ${packsIn(schema, { c: 'h.c', low: 'e.low', high: 'u.high' })}
      ORDER BY p.ns${down}, p.c${down}, p.first${down} LIMIT u.n
    ) p`;
  const wanted = ({ isStill, limit }: PacksOf) =>
    reverse && isStill && limit < Number.MAX_SAFE_INTEGER ? limit : null;
  return {
    name: reverse ? 'tk_load_packs_down' : 'tk_load_packs_up',
    text,
    values: [namespace, ...boundsOf(ranges), ranges.map((one) => one.packs), ranges.map(wanted)],
  };
}

function boundsOf(ranges: readonly RangeOf[]): readonly SqlValue[] {
  return [...conversationsOf(ranges), ranges.map((one) => one.from), ranges.map((one) => one.to)];
}

function direction(reverse: boolean): string {
  return reverse ? ' DESC' : '';
}

const LOG = 'version, at, header, seals, words, redactions, c, block';

/** The columns of a log record `l` and those of the block `b` that it has cooled into, whose bytes come once. */
const LOG_AND_BLOCK = `l.version, l.at, l.header, l.seals, l.words, l.redactions, l.c, l.block, b.c, b.first, b.last,
      CASE WHEN row_number() OVER (PARTITION BY l.c, l.block) = 1 THEN encode(b.bytes, 'base64') END`;

/** The block `b` of a log record `l`. */
function blockOf(schema: Schema): string {
  return `LEFT JOIN LATERAL (
      SELECT c, first, last, bytes FROM ${schema.sql}.blocks b WHERE b.ns = $1 AND b.c = l.c AND b.first = l.block OFFSET 0
    ) b ON true`;
}

/**
 * Answers `which, version, at, header, seals, words, redactions, c, block` of log records that are there; where some may have cooled,
 * and their blocks come along, `c, first, last, bytes` behind that.
 */
export function loadLogs(
  schema: Schema,
  namespace: string,
  versions: readonly VersionOf[],
  mayBeCool = false,
): Statement {
  const text = `SELECT u.which, ${mayBeCool ? LOG_AND_BLOCK : 'l.*'}
    FROM unnest($2::text[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS u (id, c, version, which)
    CROSS JOIN LATERAL (${numberOf(schema)}) h
    CROSS JOIN LATERAL (
      SELECT ${LOG} FROM ${schema.sql}.log l WHERE l.ns = $1 AND l.c = h.c AND l.version = u.version OFFSET 0
    ) l ${mayBeCool ? blockOf(schema) : ''}`;
  return {
    name: mayBeCool ? 'tk_load_logs_cool' : 'tk_load_logs',
    text,
    values: [namespace, ...conversationsOf(versions), versions.map((one) => one.version)],
  };
}

/** The last rows `k, v` of a range, as many as its limit; where some may be packed, those as well. */
function lastRows(schema: Schema, mayBeCool: boolean): string {
  const unpacked = `SELECT k, v FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = h.c AND r.k >= u.low AND r.k < u.high
        ORDER BY r.ns DESC, r.c DESC, r.k DESC LIMIT u.n`;
  if (!mayBeCool) return unpacked;
  // The last pack alone: it has the last ones.
  return `SELECT k, v FROM (
          (${unpacked})
          UNION ALL
          SELECT ${keyOfLine('i.line')}, ${valueOfLine('i.line')} FROM (
            SELECT p.body FROM ${packsIn(schema, { c: 'h.c', low: 'u.low', high: 'u.high' })}
            ORDER BY p.ns DESC, p.c DESC, p.first DESC LIMIT 1
          ) p CROSS JOIN LATERAL (SELECT line FROM ${linesOf('p.body')}) i
          WHERE ${keyOfLine('i.line')} >= u.low AND ${keyOfLine('i.line')} < u.high
        ) r ORDER BY k COLLATE "C" DESC LIMIT u.n`;
}

/**
 * Answers what {@link loadLogs} does: the log records that the last rows of each range, as many as its limit, refer to, where these
 * are of its own conversation. A reference is an array of version and index within a row's value; it is looked for as text, since what
 * does not answer is only a guess that failed, and a value that is no JSON any more ends nothing. `mayBeCool`: rows may be packed.
 */
export function loadWords(schema: Schema, namespace: string, ranges: readonly RangeOf[], mayBeCool = false): Statement {
  const text = `SELECT u.which, ${mayBeCool ? LOG_AND_BLOCK : 'l.*'}
    FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) WITH ORDINALITY AS u (id, c, low, high, n, which)
    CROSS JOIN LATERAL (${numberOf(schema)}) h
    CROSS JOIN LATERAL (
      SELECT DISTINCT m.found[1]::bigint AS version FROM (${lastRows(schema, mayBeCool)}) r
      CROSS JOIN LATERAL regexp_matches(r.v, '\\[([0-9]{1,15}),[0-9]+\\]', 'g') AS m (found)
    ) v
    CROSS JOIN LATERAL (
      SELECT ${LOG} FROM ${schema.sql}.log l WHERE l.ns = $1 AND l.c = h.c AND l.version = v.version OFFSET 0
    ) l ${mayBeCool ? blockOf(schema) : ''}`;
  return {
    name: mayBeCool ? 'tk_load_words_cool' : 'tk_load_words',
    text,
    values: [namespace, ...boundsOf(ranges), ranges.map((one) => one.limit)],
  };
}

const LENGTHS = `'123456789ab'`;

/** A number as keys have it, at the start of a text. */
function numberAt(text: string): string {
  return `substr(${text}, 1, 1 + strpos(${LENGTHS}, substr(${text}, 1, 1)))`;
}

/**
 * Answers `which, k, v`: of the last entries of each range, as many as its limit, the turn after the one that each stands in: what an
 * entry's turn hands on is bounded by the next one. `mayBeCool`: rows may be packed.
 */
export function loadNextTurns(
  schema: Schema,
  namespace: string,
  ranges: readonly RangeOf[],
  mayBeCool = false,
): Statement {
  const unpacked = `SELECT k, v FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = h.c AND r.k > e.place AND r.k < e.end
      ORDER BY r.ns, r.c, r.k LIMIT 1`;
  // The turn that an entry stands in may end a pack.
  const packed = `SELECT k, v FROM (
        (${unpacked})
        UNION ALL
        SELECT ${keyOfLine('i.line')}, ${valueOfLine('i.line')} FROM (
          SELECT p.body FROM ${packsIn(schema, { c: 'h.c', low: 'e.place', high: 'e.end' })}
          ORDER BY p.ns, p.c, p.first LIMIT 2
        ) p CROSS JOIN LATERAL (SELECT line FROM ${linesOf('p.body')}) i
        WHERE ${keyOfLine('i.line')} > e.place AND ${keyOfLine('i.line')} < e.end
      ) r ORDER BY k COLLATE "C" LIMIT 1`;
  const text = `SELECT u.which, t.k, t.v
    FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) WITH ORDINALITY AS u (id, c, low, high, n, which)
    CROSS JOIN LATERAL (${numberOf(schema)}) h
    CROSS JOIN LATERAL (
      SELECT DISTINCT (b.branch || ${numberAt('b.place')}) COLLATE "C" AS place, (b.branch || '~') COLLATE "C" AS end FROM (
        SELECT '${TABLES.turns}' || ${numberAt('substr(r.k, 2)')} AS branch, reverse(split_part(reverse(r.k), E'\\x01', 1)) AS place
        FROM (${lastRows(schema, mayBeCool)}) r
      ) b
    ) e
    CROSS JOIN LATERAL (${mayBeCool ? packed : unpacked}) t`;
  return {
    name: mayBeCool ? 'tk_load_next_turns_cool' : 'tk_load_next_turns',
    text,
    values: [namespace, ...boundsOf(ranges), ranges.map((one) => one.limit)],
  };
}

/** The number of a conversation: as it was given, else looked up. */
function numberOf(schema: Schema): string {
  return `SELECT coalesce(u.c, (SELECT c FROM ${headAt(schema, 'u.id')})) AS c OFFSET 0`;
}

function conversationsOf(asked: readonly Of[]): readonly [SqlValue, SqlValue] {
  return [asked.map(({ conversation }) => conversation), asked.map(({ c }) => c)];
}
