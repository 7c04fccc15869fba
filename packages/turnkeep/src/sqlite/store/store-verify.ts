import type { StoreFault } from '../../core/backend.ts';
import type { Database } from '../driver/driver.ts';
import { driverFault } from '../driver/driver-errors.ts';

/** Each rows that should not be there, with the kind of fault and what is wrong. */
const CHECKS: readonly { readonly kind: string; readonly reason: string; readonly sql: string }[] = [
  {
    kind: 'orphan_log',
    reason: 'a log row has no conversation',
    sql: `SELECT 'log position ' || pos FROM log WHERE c NOT IN (SELECT c FROM heads)`,
  },
  {
    kind: 'orphan_rows',
    reason: 'rows have no conversation',
    sql: `SELECT DISTINCT 'conversation number ' || c FROM rows WHERE c NOT IN (SELECT c FROM heads)`,
  },
  {
    kind: 'orphan_body',
    reason: 'a body has no log row',
    sql: `SELECT 'log position ' || id / 262144 FROM bodies WHERE id / 262144 NOT IN (SELECT pos FROM log)`,
  },
  {
    kind: 'missing_place',
    reason: 'versions are not where they are looked for',
    sql: `SELECT 'conversation ' || id FROM heads WHERE
            (SELECT count(*) FROM places WHERE c = heads.c AND version BETWEEN 1 AND folded) != folded
            OR (SELECT count(*) FROM places WHERE c = heads.c) != folded
            OR json_array_length(unfolded) != version - folded
            OR EXISTS (SELECT 1 FROM json_each(unfolded) AS at LEFT JOIN tail ON tail.pos = at.value
              WHERE tail.c IS NOT heads.c OR tail.version IS NOT folded + 1 + at.key)`,
  },
  {
    kind: 'wrong_place',
    reason: 'another commit stands at the place of a version',
    sql: `SELECT 'conversation number ' || places.c || ', version ' || places.version FROM places LEFT JOIN log USING (pos)
          WHERE log.c IS NOT places.c OR log.version IS NOT places.version
          UNION ALL SELECT 'conversation number ' || tail.c || ', version ' || tail.version FROM tail LEFT JOIN log USING (pos)
          WHERE log.c IS NOT tail.c OR log.version IS NOT tail.version`,
  },
  {
    kind: 'wrong_block',
    reason: 'a block holds other versions than those that lead to it',
    sql: `SELECT 'archive block ' || b FROM blocks LEFT JOIN (SELECT seals, count(*) AS commits, min(version) AS low,
            max(version) AS high, min(c) AS one, max(c) AS other FROM log WHERE typeof(seals) = 'integer' GROUP BY seals)
          ON seals = b WHERE low IS NOT first OR high IS NOT last OR commits IS NOT last - first + 1
            OR one IS NOT c OR other IS NOT c`,
  },
  {
    kind: 'store_id',
    reason: 'a store has one id',
    sql: `SELECT 'the store' WHERE (SELECT count(*) FROM store) != 1`,
  },
  {
    kind: 'surplus_log',
    reason: 'the log has more commits than the heads count',
    sql: `SELECT 'the log' WHERE (SELECT count(*) FROM log) != (SELECT total(version) FROM heads)`,
  },
  {
    kind: 'wrong_namespace',
    reason: 'what it belongs to is not where it is looked for',
    sql: `SELECT 'conversation ' || id FROM heads WHERE n NOT IN (SELECT n FROM namespaces)
          UNION ALL SELECT 'log position ' || pos FROM log JOIN heads USING (c) WHERE log.n IS NOT heads.n`,
  },
  {
    kind: 'orphan_part',
    reason: 'bytes have no attachment',
    sql: `SELECT 'part ' || id FROM parts WHERE id / 65536 NOT IN (SELECT b FROM blobs)`,
  },
  {
    kind: 'orphan_attachment',
    reason: 'the bytes of an attachment have no row',
    sql: `SELECT 'namespace ' || ns || ', attachment ' || blobs.name FROM blobs
          LEFT JOIN namespaces ON namespaces.name = ns
          LEFT JOIN heads ON heads.n = namespaces.n AND id = char(1) || 'attachments'
          LEFT JOIN rows ON rows.c = heads.c AND k = 'H' || blobs.name
          WHERE length(blobs.name) = 64 AND blobs.name NOT GLOB '[+-]*' AND k IS NULL`,
  },
  {
    kind: 'head_mismatch',
    reason: 'the columns of a head are not those of its text',
    sql: `SELECT 'conversation ' || id FROM heads WHERE json_extract(head, '$.version') IS NOT version
            OR json_extract(head, '$.conversationId') IS NOT id OR json_extract(head, '$.lastActivityAt') IS NOT activity
            OR json_extract(head, '$.createdAt') IS NOT created OR json_extract(head, '$.owner') IS NOT owner
            OR (json_extract(head, '$.erasedAt') IS NOT NULL AND NOT json_extract(head, '$.collected')) IS NOT uncollected`,
  },
];

/** What is to be checked of a store and of what is derived from it, in steps: each reads one snapshot and can be run again. */
export type Checks = readonly (() => readonly StoreFault[])[];

/** Checks of the file as SQLite sees it and as a store. */
export function checksOfStore(database: Database): Checks {
  const ofTables = CHECKS.map(
    ({ kind, reason, sql }) =>
      () =>
        check(database, kind, reason, sql),
  );
  return [() => checkIntegrity(database), ...ofTables];
}

function checkIntegrity(database: Database): readonly StoreFault[] {
  return database
    .prepare('PRAGMA integrity_check(100)')
    .all()
    .filter(([message]) => message !== 'ok')
    .map(([message]) => ({ kind: 'sqlite', place: 'the database file', reason: String(message) }));
}

/** What is so damaged that a check cannot be made of it is a fault as well. */
function check(database: Database, kind: string, reason: string, sql: string): readonly StoreFault[] {
  try {
    const places = database.prepare(`${sql} LIMIT 100`).all();
    return places.map(([place]) => ({ kind, place: String(place), reason }));
  } catch (error) {
    const fault = driverFault(error);
    if (fault.kind !== 'other' && fault.kind !== 'corrupt') throw error;
    return [{ kind, place: 'the database file', reason: `it cannot be told whether ${reason}: ${fault.message}` }];
  }
}
