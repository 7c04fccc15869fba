import type { LogRecord, Redaction, StoredRecord, Tier } from '../core/log.ts';
import type { SqlRow } from './driver.ts';

// A log row holds: the header as it is; the seals, which are the header's digest, the commit's nonce and tier, and then each
// record's digest and nonce; the words of each record, one on a line (a body is one line of JSON), empty where they are
// gone; redactions by record.

/** The columns of a log record. */
export interface PackedLog {
  readonly version: number;
  readonly at: number;
  readonly header: string | null;
  readonly seals: string;
  readonly words: string;
  readonly redactions: string | null;
}

type Seals = [headerDigest: string, nonce: string | null, tier: Tier | null, ...sealed: (string | null)[]];

export function packLog(log: LogRecord): PackedLog {
  const { version, at, header, records } = log;
  const seals = records.flatMap(({ digest, nonce }) => [digest, nonce]);
  return {
    version,
    at,
    header,
    seals: JSON.stringify([log.headerDigest, log.nonce, log.tier ?? null, ...seals]),
    words: records.map(({ body }) => body ?? '').join('\n'),
    redactions: packRedactions(records),
  };
}

/** `row` is the columns `version, at, header, seals, words, redactions`. */
export function unpackLog(row: SqlRow): LogRecord {
  const [version, at, header, seals, words, redactions] = row as [
    string,
    string,
    string | null,
    string,
    string,
    string | null,
  ];
  const [headerDigest, nonce, tier, ...sealed] = JSON.parse(seals) as Seals;
  const bodies = words.split('\n');
  const why = redactions === null ? {} : (JSON.parse(redactions) as { readonly [index: string]: Redaction });
  const records = Array.from({ length: sealed.length / 2 }, (_, index) => {
    const record = {
      digest: sealed[index * 2] ?? '',
      nonce: sealed[index * 2 + 1] ?? null,
      body: bodies[index] || null,
    };
    const redaction = why[index];
    return redaction === undefined ? record : { ...record, redaction };
  });
  const log = { version: Number(version), at: Number(at), header, headerDigest, nonce, records };
  return tier === null ? log : { ...log, tier };
}

function packRedactions(records: readonly StoredRecord[]): string | null {
  const redacted = [...records.entries()].filter(([, { redaction }]) => redaction !== undefined);
  if (redacted.length === 0) return null;
  return JSON.stringify(Object.fromEntries(redacted.map(([index, { redaction }]) => [index, redaction])));
}
