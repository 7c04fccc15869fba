import type { Statement } from '../driver/driver.ts';
import type { Schema } from '../schema/schema-name.ts';
import type { RowPack } from '../tiers/row-pack.ts';
import { headAt } from './head-at.ts';
import { packBefore } from './rows-of.ts';

/** Which rows are to be packed: by key after `after`, but for tables that stay as they are. */
export interface RowsToPack {
  readonly c: string;
  readonly after: string;
  readonly but: readonly string[];
  readonly limit: number;
}

/** Answers `k, v` of rows that commits left which have cooled, by key. */
export function rowsToPack(schema: Schema, namespace: string, { c, after, but, limit }: RowsToPack): Statement {
  const text = `SELECT k, v FROM ${schema.sql}.rows r
    WHERE r.ns = $1 AND r.c = $2 AND r.k > $3 AND left(r.k, 1) <> ALL ($4::text[]) AND r.version <= (
      SELECT last FROM ${schema.sql}.blocks b WHERE b.ns = $1 AND b.c = $2
      ORDER BY b.ns DESC, b.c DESC, b.first DESC LIMIT 1)
    ORDER BY r.ns, r.c, r.k LIMIT $5`;
  return { name: 'tk_rows_to_pack', text, values: [namespace, c, after, but, limit] };
}

/** Answers `first, last, body` of the packs before keys, by their place: if they belong into one, it is the one before them. */
export function packsOf(schema: Schema, namespace: string, c: string, keys: readonly string[]): Statement {
  const text = `SELECT p.first, p.last, p.body
    FROM (SELECT DISTINCT (${packBefore(schema, '$2::bigint', 'u.k', 'first')}) AS first FROM unnest($3::text[]) AS u (k)) f
    CROSS JOIN LATERAL (
      SELECT first, last, body FROM ${schema.sql}.packed p WHERE p.ns = $1 AND p.c = $2::bigint AND p.first = f.first OFFSET 0
    ) p ORDER BY p.first`;
  return { name: 'tk_packs_of', text, values: [namespace, c, keys] };
}

/** Puts packs into their places. */
export function putPacks(schema: Schema, namespace: string, c: string, packs: readonly RowPack[]): Statement {
  const text = `INSERT INTO ${schema.sql}.packed (ns, c, first, last, body)
    SELECT $1, $2::bigint, u.first, u.last, u.body FROM unnest($3::text[], $4::text[], $5::text[]) AS u (first, last, body)
    ON CONFLICT (ns, c, first) DO UPDATE SET last = excluded.last, body = excluded.body`;
  return {
    name: 'tk_put_packs',
    text,
    values: [
      namespace,
      c,
      packs.map(({ first }) => first),
      packs.map(({ last }) => last),
      packs.map(({ body }) => body),
    ],
  };
}

/** Notes of which tables rows of a conversation are packed, whose head this transaction holds. */
export function notePacks(schema: Schema, namespace: string, id: string, packs: string): Statement {
  const text = `UPDATE ${schema.sql}.heads h SET packs = $3 FROM (SELECT ctid AS at FROM ${headAt(schema, '$2')}) f
    WHERE h.ctid = f.at AND h.ns = $1 AND h.packs <> $3`;
  return { name: 'tk_note_packs', text, values: [namespace, id, packs] };
}
