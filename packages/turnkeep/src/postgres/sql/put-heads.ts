import type { Head } from '../../core/head.ts';
import type { Statement } from '../driver.ts';
import type { Schema } from '../schema-name.ts';

export interface HeadToPut {
  readonly head: Head;
  readonly rank: number;
  readonly places: string;
}

/** Writes heads that this transaction has locked. */
export function putHeads(schema: Schema, namespace: string, heads: readonly HeadToPut[]): Statement {
  const text = `UPDATE ${schema.sql}.heads h SET version = u.version, rank = u.rank, created = u.created, owner = u.owner,
      uncollected = u.uncollected, places = u.places, head = u.head
    FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::boolean[], $8::text[], $9::text[])
      AS u (id, version, rank, created, owner, uncollected, places, head)
    WHERE h.ns = $1 AND h.id = u.id`;
  return {
    name: 'tk_put_heads',
    text,
    values: [
      namespace,
      heads.map(({ head }) => head.conversationId),
      heads.map(({ head }) => head.version),
      heads.map(({ rank }) => rank),
      heads.map(({ head }) => head.createdAt),
      heads.map(({ head }) => head.owner),
      heads.map(({ head }) => head.erasedAt !== null && !head.collected),
      heads.map(({ places }) => places),
      heads.map(({ head }) => JSON.stringify(head)),
    ],
  };
}

/** Writes what listings by activity are sorted by. */
export function putRecency(schema: Schema, namespace: string, heads: readonly Head[]): Statement {
  const text = `INSERT INTO ${schema.sql}.recency AS r (ns, id, activity, owner)
    SELECT $1, u.id, u.activity, u.owner FROM unnest($2::text[], $3::bigint[], $4::text[]) AS u (id, activity, owner)
    ON CONFLICT (ns, id) DO UPDATE SET activity = excluded.activity, owner = excluded.owner
    WHERE r.activity <> excluded.activity OR r.owner IS DISTINCT FROM excluded.owner`;
  return {
    name: 'tk_put_recency',
    text,
    values: [
      namespace,
      heads.map((head) => head.conversationId),
      heads.map((head) => head.lastActivityAt),
      heads.map((head) => head.owner),
    ],
  };
}
