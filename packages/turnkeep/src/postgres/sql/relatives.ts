import { prefixEnd, TABLES } from '../../core/keys.ts';
import { SHELVES } from '../../core/shelf.ts';
import type { SqlValue, Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';
import { textIn } from './head-text.ts';
import { lineOf } from './load-lines.ts';
import { STRENGTHS } from './lock-heads.ts';
import { numberKeyOf } from './number-key.ts';
import { keyOfLine, linesOf, packsIn, rowAt } from './rows-of.ts';
import { PLACE } from './sought.ts';
import { LOG_COLUMNS, logAt } from './log-at.ts';

/** What commits of a group take words from, wherever these stand. */
export interface TakenWords {
  /** Conversations that are erased. */
  readonly erased: readonly string[];
  readonly redacted: readonly { readonly conversation: string; readonly messageId: string }[];
  /** Memories that are forgotten. */
  readonly forgotten: readonly string[];
}

const END = `E'\\x01'`;
const AFTER_END = `E'\\x02'`;
/** Whose record a message's row refers to, where that is another conversation's; whose a memory's revision does. */
const OTHERS_WORDS = `^\\["(?:[^"\\\\]|\\\\.)*",[0-9]+,[0-9]+,\\[[0-9]+,[0-9]+,"([^"\\\\]+)"\\]`;
const MADE_IN = `^\\[\\[[0-9]+,[0-9]+,"([^"\\\\]+)"\\]`;

function afterEnd(key: string): string {
  return `reverse(split_part(reverse(${key}), ${END}, 1))`;
}

/** The parameters of {@link taken}, from the second one on. */
function valuesOf({ erased, redacted, forgotten }: TakenWords): readonly SqlValue[] {
  const named = [redacted.map(({ conversation }) => conversation), redacted.map(({ messageId }) => messageId)];
  return [erased, ...named, forgotten];
}

/**
 * Tables of a statement, of which the parameters from the second one on are {@link valuesOf}: `family`, conversations that are erased
 * with their sub-agents; `said`, where the messages stand that are redacted: in the conversation or in what it inherits, and whose
 * words they show; `memories`, those that are forgotten, or were made of any of that. Values that are no JSON any more lead nowhere.
 */
function taken(schema: Schema): string {
  const s = schema.sql;
  const spawned = `'${TABLES.spawned}'`;
  const spawnedEnd = `'${prefixEnd(TABLES.spawned)}'`;
  return `WITH RECURSIVE family (id) AS (
      SELECT u.id COLLATE "C" FROM unnest($2::text[]) AS u (id)
      UNION
      SELECT ${afterEnd('r.k')} COLLATE "C" FROM family f
      CROSS JOIN LATERAL (SELECT c FROM ${headAt(schema, 'f.id')}) h
      CROSS JOIN LATERAL (
        SELECT k FROM ${s}.rows r WHERE r.ns = $1 AND r.c = h.c AND r.k >= ${spawned} AND r.k < ${spawnedEnd}
        UNION ALL
        SELECT ${keyOfLine('l.line')} FROM (
          SELECT p.body FROM ${packsIn(schema, { c: 'h.c', low: spawned, high: spawnedEnd })} OFFSET 0
        ) p CROSS JOIN LATERAL ${linesOf('p.body')}
        WHERE ${keyOfLine('l.line')} >= ${spawned} AND ${keyOfLine('l.line')} < ${spawnedEnd}
      ) r
    ), said (id, message, words) AS (
      SELECT o.id, u.message, (regexp_match(m.v, '${OTHERS_WORDS}'))[1]
      FROM unnest($3::text[], $4::text[]) AS u (id, message)
      CROSS JOIN LATERAL (SELECT id, c FROM ${headAt(schema, 'u.id')}) own
      CROSS JOIN LATERAL (SELECT DISTINCT id, c FROM (${lineOf(schema, 'own')}) l OFFSET 0) o
      CROSS JOIN LATERAL (${rowAt(schema, 'o.c', `'${TABLES.messageIds}' || u.message`)}) i
      LEFT JOIN LATERAL (SELECT regexp_match(i.v, '${PLACE}')::bigint[] AS at OFFSET 0) p ON true
      LEFT JOIN LATERAL (
        SELECT '${TABLES.messages}' || ${numberKeyOf('p.at[1]')} || ${numberKeyOf('p.at[2]')} || ${numberKeyOf('p.at[3]')} AS k
        WHERE p.at IS NOT NULL OFFSET 0
      ) n ON true
      LEFT JOIN LATERAL (${rowAt(schema, 'o.c', 'n.k')}) m ON true
      WHERE i.v IS NOT NULL
    ), shelf (c) AS MATERIALIZED (
      SELECT c FROM ${headAt(schema, `'${SHELVES.memories}'`)}
    ), memories (id) AS (
      SELECT ${afterEnd('r.k')} COLLATE "C" FROM shelf CROSS JOIN (
        SELECT f.id || ${END} FROM family f UNION ALL SELECT s.id || ${END} || s.message FROM said s
      ) o (origin) CROSS JOIN LATERAL (${keysUnder(schema, TABLES.memoryOrigins, 'o.origin')}) r
      UNION SELECT u.id COLLATE "C" FROM unnest($5::text[]) AS u (id)
    )`;
}

/** The revisions `r` of the memories, of which there is a table. */
function revisions(schema: Schema): string {
  return `memories m CROSS JOIN shelf CROSS JOIN LATERAL (${keysUnder(schema, TABLES.memoryRevisions, 'm.id')}) r`;
}

/** The rows `k, v` of the shelf whose keys are of a table and begin with `name`, an expression, and its end. */
function keysUnder(schema: Schema, table: string, name: string): string {
  const bound = (end: string) => `('${table}' || ${name} || ${end}) COLLATE "C"`;
  return `SELECT k, v FROM ${schema.sql}.rows r WHERE r.ns = $1 AND r.c = shelf.c AND r.k >= ${bound(END)} AND r.k < ${bound(AFTER_END)}
      OFFSET 0`;
}

function lock(schema: Schema, id: string, wait: boolean): string {
  return `SELECT * FROM ${headAt(schema, id)} FOR ${STRENGTHS.alone}${wait ? '' : ' SKIP LOCKED'}`;
}

const HEAD = 'h.id, h.c, h.rank, h.places, h.head, h.packs';

/**
 * Locks the shelf of memories, alone, if some memory goes with what is taken; answers `id, c, rank, places, head, packs` if it got it.
 */
export function lockMemories(schema: Schema, namespace: string, words: TakenWords, wait: boolean): Statement {
  const text = `${taken(schema)} SELECT ${HEAD} FROM (SELECT WHERE EXISTS (SELECT FROM memories)) u
    CROSS JOIN LATERAL (${lock(schema, `'${SHELVES.memories}'`, wait)}) h`;
  return { name: wait ? 'tk_lock_memories_wait' : 'tk_lock_memories', text, values: [namespace, ...valuesOf(words)] };
}

/**
 * Locks conversations as `lockHeads` does, and with them those that their commits come upon: sub-agents that go with an erased one,
 * tombstones that it goes on from; those that hold the words of what is redacted, and of memories. Whom they are is seen before the
 * locks are held: what has become of it meanwhile is found when the commits are decided.
 */
export function lockRelatives(
  schema: Schema,
  namespace: string,
  ids: readonly string[],
  words: TakenWords,
  wait: boolean,
): Statement {
  const text = `${taken(schema)}, sources (id) AS (
      SELECT u.id COLLATE "C" FROM unnest($2::text[]) AS u (id)
      UNION
      SELECT ${textIn('h.head', 'source')} COLLATE "C" FROM sources s
      CROSS JOIN LATERAL (SELECT head FROM ${headAt(schema, 's.id')}) h WHERE s.id IS NOT NULL
    )
    SELECT ${HEAD} FROM (
      SELECT id COLLATE "C" AS id FROM (
        SELECT unnest($6::text[]) UNION SELECT id FROM family UNION SELECT id FROM said UNION SELECT words FROM said
        UNION SELECT (regexp_match(r.v, '${MADE_IN}'))[1] FROM ${revisions(schema)}
        UNION SELECT id FROM sources
      ) u (id) WHERE id IS NOT NULL ORDER BY 1
    ) u CROSS JOIN LATERAL (${lock(schema, 'u.id', wait)}) h`;
  return {
    name: wait ? 'tk_lock_relatives_wait' : 'tk_lock_relatives',
    text,
    values: [namespace, ...valuesOf(words), ids],
  };
}

/**
 * Answers of each revision of a memory that goes with what is taken, and of each such memory once more without one: `id` of the memory,
 * `v` of its row; `k, v` of the revision; `id` of the conversation that holds its words; `version, at, header, seals, words,
 * redactions, c, block` of the log record; `c, first, last, bytes` of the block that it has cooled into.
 */
export function loadMade(schema: Schema, namespace: string, words: TakenWords): Statement {
  const s = schema.sql;
  const text = `${taken(schema)} SELECT m.id, a.v, r.k, r.v, o.owner, ${LOG_COLUMNS}
    FROM memories m CROSS JOIN shelf
    LEFT JOIN LATERAL (
      SELECT v FROM ${s}.rows r WHERE r.ns = $1 AND r.c = shelf.c AND r.k = ('${TABLES.memories}' || m.id) COLLATE "C" OFFSET 0
    ) a ON true
    LEFT JOIN LATERAL (${keysUnder(schema, TABLES.memoryRevisions, 'm.id')}) r ON true
    LEFT JOIN LATERAL (
      SELECT (regexp_match(r.v, '${MADE_IN}'))[1] AS owner, (regexp_match(r.v, '^\\[\\[([0-9]{1,15}),'))[1]::bigint AS version OFFSET 0
    ) o ON true
    LEFT JOIN LATERAL (SELECT c FROM ${headAt(schema, 'o.owner')}) h ON true
    ${logAt(schema, 'h.c', 'o.version')} ORDER BY m.id COLLATE "C", r.k`;
  return { name: 'tk_load_made', text, values: [namespace, ...valuesOf(words)] };
}
