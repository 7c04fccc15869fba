import type { Head } from '../../core/head.ts';
import type { Statement } from '../driver/driver.ts';
import type { PackedLog } from '../log-codec.ts';
import type { Schema } from '../schema/schema-name.ts';
import { joined, numbers, spaced, texts } from './joined.ts';
import { rankOf } from './transaction.ts';

export interface HeadToPut {
  readonly c: string;
  readonly head: Head;
  /** The head as it is stored. */
  readonly text: string;
  /** Which commit of the transaction is the last of this conversation, from 1; 0 where none is: its rank stays. */
  readonly step: number;
  readonly places: string;
}

export interface RowToPut {
  readonly c: string;
  readonly key: string;
  readonly value: string;
  /** Of the last commit of the row's own conversation that is written with it; 0 where there is none. */
  readonly version: number;
}

/** The log record of a commit with its conversation's number, and which commit of the transaction it is, from 1. */
export interface LogToPut {
  readonly c: string;
  readonly step: number;
  readonly log: PackedLog;
}

/** What the commits of one transaction write, no head, row or log record twice. */
export interface CommitsToWrite {
  readonly heads: readonly HeadToPut[];
  /** Rows of keys that have none: half the work of those that may replace one. */
  readonly added: readonly RowToPut[];
  readonly put: readonly RowToPut[];
  readonly logs: readonly LogToPut[];
  /** The highest rank of what the commits follow. */
  readonly floor: number;
}

/**
 * Writes commits whose heads this transaction has locked, as one statement, since each costs about as much as ten rows:
 * heads and what listings by activity are sorted by, rows, log records, and that these have no place in the feed yet.
 * Answers `id, rank` of each head.
 *
 * Each head is there. It is put over itself, since that goes by its key whatever the plan: one for an update that was made
 * while the namespace had few heads compares each of them with each that is written, and is kept.
 */
export function writeCommits(
  schema: Schema,
  namespace: string,
  { heads, added, put, logs, floor }: CommitsToWrite,
): Statement {
  const text = `WITH head AS (
      SELECT * FROM unnest(${texts(3)}, ${numbers(4)}, ${numbers(5)}, ${numbers(6)}, ${numbers(7)}, $8::text[], $9::boolean[],
        ${texts(10)}, ${texts(11)}, ${numbers(24)})
        AS u (id, version, step, created, activity, owner, uncollected, places, head, c)
    ), recency AS (
      INSERT INTO ${schema.sql}.recency AS r (ns, id, activity, owner) SELECT $1, u.id, u.activity, u.owner FROM head u
      ON CONFLICT (ns, id) DO UPDATE SET activity = excluded.activity, owner = excluded.owner
      WHERE r.activity <> excluded.activity OR r.owner IS DISTINCT FROM excluded.owner
    ), rows AS (
      INSERT INTO ${schema.sql}.rows (ns, c, k, v, version)
      SELECT $1, u.c, u.k, u.v, u.version
      FROM unnest(${numbers(12)}, ${texts(13)}, ${texts(14)}, ${numbers(15)}) AS u (c, k, v, version)
      ON CONFLICT (ns, c, k) DO UPDATE SET v = excluded.v, version = excluded.version
    ), added AS (
      INSERT INTO ${schema.sql}.rows (ns, c, k, v, version)
      SELECT $1, u.c, u.k, u.v, u.version
      FROM unnest(${numbers(25)}, ${texts(26)}, ${texts(27)}, ${numbers(28)}) AS u (c, k, v, version)
    ), log AS (
      INSERT INTO ${schema.sql}.log (ns, c, version, at, header, seals, words, redactions)
      SELECT $1, u.c, u.version, u.at, u.header, u.seals, coalesce(u.words, ''), u.redactions
      FROM unnest(${numbers(16)}, ${numbers(17)}, ${numbers(19)}, ${texts(20)}, ${texts(21)}, ${texts(22)}, ${texts(23)})
        AS u (c, version, at, header, seals, words, redactions)
    ), outbox AS (
      INSERT INTO ${schema.sql}.outbox (ns, c, version, rank) SELECT $1, u.c, u.version, ${rankOf('$2', 'u.step')}
      FROM unnest(${numbers(16)}, ${numbers(17)}, ${numbers(18)}) AS u (c, version, step)
    )
    INSERT INTO ${schema.sql}.heads AS h (ns, id, c, version, rank, created, owner, uncollected, places, head)
    SELECT $1, u.id, u.c, u.version, CASE u.step WHEN 0 THEN 0 ELSE ${rankOf('$2', 'u.step')} END, u.created, u.owner, u.uncollected, u.places, u.head
    FROM head u
    ON CONFLICT (ns, id) DO UPDATE SET version = excluded.version, created = excluded.created, owner = excluded.owner,
      rank = CASE excluded.rank WHEN 0 THEN h.rank ELSE excluded.rank END,
      uncollected = excluded.uncollected, places = excluded.places, head = excluded.head
    RETURNING h.id, h.rank`;
  return {
    name: 'tk_write_commits',
    text,
    values: [
      namespace,
      floor,
      ...headColumns(heads),
      ...rowColumns(put),
      ...logColumns(logs),
      spaced(heads.map(({ c }) => c)),
      ...rowColumns(added),
    ],
  };
}

function headColumns(heads: readonly HeadToPut[]): Statement['values'] {
  return [
    joined(heads.map(({ head }) => head.conversationId)),
    spaced(heads.map(({ head }) => head.version)),
    spaced(heads.map(({ step }) => step)),
    spaced(heads.map(({ head }) => head.createdAt)),
    spaced(heads.map(({ head }) => head.lastActivityAt)),
    heads.map(({ head }) => head.owner),
    heads.map(({ head }) => head.erasedAt !== null && !head.collected),
    joined(heads.map(({ places }) => places)),
    joined(heads.map(({ text }) => text)),
  ];
}

function rowColumns(rows: readonly RowToPut[]): Statement['values'] {
  return [
    spaced(rows.map(({ c }) => c)),
    joined(rows.map(({ key }) => key)),
    joined(rows.map(({ value }) => value)),
    spaced(rows.map(({ version }) => version)),
  ];
}

function logColumns(logs: readonly LogToPut[]): Statement['values'] {
  return [
    spaced(logs.map(({ c }) => c)),
    spaced(logs.map(({ log }) => log.version)),
    spaced(logs.map(({ step }) => step)),
    spaced(logs.map(({ log }) => log.at)),
    joined(logs.map(({ log }) => log.header)),
    joined(logs.map(({ log }) => log.seals)),
    joined(logs.map(({ log }) => log.words)),
    joined(logs.map(({ log }) => log.redactions)),
  ];
}
