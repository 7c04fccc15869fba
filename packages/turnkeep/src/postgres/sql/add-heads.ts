import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt } from './head-at.ts';

/**
 * Makes room for conversations that do not exist: an empty head each, which only this transaction sees and locks. Answers
 * `id, c` of those that it made. One that exists, or that another transaction is about to make, is left out, and nobody
 * waits: whoever makes a conversation holds an advisory lock on its id until the end of its transaction. Outside of one it
 * makes none.
 */
export function addHeads(
  schema: Schema,
  namespace: string,
  ids: readonly string[],
  numbers: readonly string[],
): Statement {
  const text = `INSERT INTO ${schema.sql}.heads (ns, id, c, version, rank, created, owner, uncollected, places, head)
    SELECT $1, u.id, u.c, 0, 0, 0, NULL, false, '[]', '' FROM unnest($2::text[], $3::bigint[]) AS u (id, c)
    WHERE current_setting('turnkeep.clock', true) <> '' AND ${makesAlone(schema, 'u.id')}
    ON CONFLICT (ns, id) DO NOTHING RETURNING id, c`;
  return { name: 'tk_add_heads', text, values: [namespace, ids, numbers] };
}

/** Takes back the room of conversations whose first commit was refused: rows of this very transaction. */
export function dropHeads(schema: Schema, namespace: string, ids: readonly string[]): Statement {
  const text = `DELETE FROM ${schema.sql}.heads h USING (
      SELECT h.at FROM unnest($2::text[]) AS u (id) CROSS JOIN LATERAL (SELECT ctid AS at FROM ${headAt(schema, 'u.id')}) h
    ) f WHERE h.ctid = f.at AND h.ns = $1 AND h.head = ''`;
  return { name: 'tk_drop_heads', text, values: [namespace, ids] };
}

/**
 * True for a conversation, whose id is `id` in the statement, that does not exist and that nobody else makes: who makes one
 * holds a lock until the end of the transaction. Nobody waits.
 */
export function makesAlone(schema: Schema, id: string): string {
  return `CASE WHEN (SELECT h.id FROM ${headAt(schema, id)}) IS NULL
        THEN pg_try_advisory_xact_lock(${making(schema, id)}) ELSE false END`;
}

/**
 * Has nobody make a conversation until the end of the transaction, beside any number that look as well; answers whether that is so: it
 * is not where somebody makes it at this moment. Whether there is one is to be looked up afterwards.
 */
export function keepUnmade(schema: Schema, namespace: string, id: string): Statement {
  const text = `SELECT pg_try_advisory_xact_lock_shared(${making(schema, '$2')})`;
  return { name: 'tk_keep_unmade', text, values: [namespace, id] };
}

function making(schema: Schema, id: string): string {
  return `hashtextextended(${lockSpace(schema)} || $1 || ' ' || ${id}, 0)`;
}

/** Stores in two schemas do not meet in one lock; the name holds nothing that would need to be escaped. */
function lockSpace(schema: Schema): string {
  return `'turnkeep ${schema.name} '`;
}
