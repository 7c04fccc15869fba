import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import { headAt, headNumbered } from './head-at.ts';
import { numberIn } from './head-text.ts';

/** Where an archive block stands: its conversation's number, and the version of its first commit. */
export interface BlockPlace {
  readonly c: string;
  readonly first: number;
}

/** Answers `c, first, last, bytes` of blocks that are there, the bytes in base64. */
export function loadBlocks(schema: Schema, namespace: string, places: readonly BlockPlace[]): Statement {
  const text = `SELECT b.c, b.first, b.last, encode(b.bytes, 'base64')
    FROM unnest($2::bigint[], $3::bigint[]) AS u (c, first) CROSS JOIN LATERAL (
      SELECT c, first, last, bytes FROM ${schema.sql}.blocks b WHERE b.ns = $1 AND b.c = u.c AND b.first = u.first OFFSET 0
    ) b`;
  return {
    name: 'tk_load_blocks',
    text,
    values: [namespace, places.map(({ c }) => c), places.map(({ first }) => first)],
  };
}

/** Answers the version up to which a conversation has cooled; `null` where it has not. */
export function lastCooled(schema: Schema, namespace: string, conversation: string): Statement {
  const text = `SELECT (SELECT last FROM ${schema.sql}.blocks b WHERE b.ns = $1 AND b.c = h.c
      ORDER BY b.ns DESC, b.c DESC, b.first DESC LIMIT 1)
    FROM ${headAt(schema, '$2')}`;
  return { name: 'tk_last_cooled', text, values: [namespace, conversation] };
}

/** Answers `id` of conversations with more messages than stay hot, by id, after one. */
export function longerThan(schema: Schema, namespace: string, after: string, messages: number): Statement {
  const text = `SELECT id FROM ${schema.sql}.heads WHERE ns = $1 AND id > $2
    AND ${numberIn('head', 'messages')} > $3 ORDER BY ns, id LIMIT 64`;
  return { name: 'tk_longer_than', text, values: [namespace, after, messages] };
}

export interface BlockToPut extends BlockPlace {
  readonly last: number;
  readonly bytes: Uint8Array;
}

export function addBlock(schema: Schema, namespace: string, block: BlockToPut): Statement {
  const text = `INSERT INTO ${schema.sql}.blocks (ns, c, first, last, bytes)
    VALUES ($1, $2, $3, $4, decode($5, 'base64'))`;
  const { c, first, last } = block;
  return { name: 'tk_add_block', text, values: [namespace, c, first, last, base64(block.bytes)] };
}

/** Leaves nothing of a block's commits in the log but their places. */
export function emptyLogs(schema: Schema, namespace: string, block: BlockToPut): Statement {
  const text = `UPDATE ${schema.sql}.log SET header = NULL, seals = '[]', words = '', redactions = NULL, block = $3
    WHERE ns = $1 AND c = $2 AND version BETWEEN $3 AND $4`;
  return { name: 'tk_empty_logs', text, values: [namespace, block.c, block.first, block.last] };
}

/** Notes which blocks hold commits whose words go; before the commits are edited. */
export function markBlocks(
  schema: Schema,
  namespace: string,
  commits: readonly { readonly c: string; readonly log: { readonly version: number } }[],
): Statement {
  const text = `UPDATE ${schema.sql}.blocks b SET dirty = true
    FROM unnest($2::bigint[], $3::bigint[]) AS u (c, version)
    JOIN ${schema.sql}.log l ON l.ns = $1 AND l.c = u.c AND l.version = u.version
    WHERE b.ns = $1 AND b.c = l.c AND b.first = l.block`;
  return {
    name: 'tk_mark_blocks',
    text,
    values: [namespace, commits.map(({ c }) => c), commits.map(({ log }) => log.version)],
  };
}

/** Answers `id, c, first` of the next block that holds words which went, by its place, after one. */
export function nextDirty(schema: Schema, namespace: string, after: BlockPlace): Statement {
  const text = `SELECT h.id, b.c, b.first FROM ${schema.sql}.blocks b
    CROSS JOIN LATERAL (SELECT id FROM ${headNumbered(schema, 'b.c')}) h
    WHERE b.ns = $1 AND (b.c, b.first) > ($2::bigint, $3::bigint) AND b.dirty ORDER BY b.c, b.first LIMIT 1`;
  return { name: 'tk_next_dirty', text, values: [namespace, after.c, after.first] };
}

/** Answers `c, first, last, bytes` of a block, if it holds words which went. */
export function dirtyBlock(schema: Schema, namespace: string, { c, first }: BlockPlace): Statement {
  const text = `SELECT c, first, last, encode(bytes, 'base64') FROM ${schema.sql}.blocks
    WHERE ns = $1 AND c = $2 AND first = $3 AND dirty`;
  return { name: 'tk_dirty_block', text, values: [namespace, c, first] };
}

/** Answers `version, at, header, seals, words, redactions` of a block's commits that were edited since. */
export function editedLogs(schema: Schema, namespace: string, c: string, first: number, last: number): Statement {
  const text = `SELECT version, at, header, seals, words, redactions FROM ${schema.sql}.log
    WHERE ns = $1 AND c = $2 AND version BETWEEN $3 AND $4 AND block IS NULL`;
  return { name: 'tk_edited_logs', text, values: [namespace, c, first, last] };
}

export function putBlock(schema: Schema, namespace: string, block: BlockToPut): Statement {
  const text = `UPDATE ${schema.sql}.blocks SET bytes = decode($4, 'base64'), dirty = false
    WHERE ns = $1 AND c = $2 AND first = $3`;
  return { name: 'tk_put_block', text, values: [namespace, block.c, block.first, base64(block.bytes)] };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
