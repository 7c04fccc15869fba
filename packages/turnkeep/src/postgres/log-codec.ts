import type { LogRecord, Redaction, StoredRecord, Tier } from '../core/log.ts';
import type { SqlRow } from './driver/driver.ts';

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

/** `row` is the columns `version, at, header, seals, words, redactions`; `undefined` where they are damaged. */
export function unpackLog(row: SqlRow): LogRecord | undefined {
  const [version, at, header, seals, words, redactions] = row as [
    string,
    string,
    string | null,
    string,
    string,
    string | null,
  ];
  const sealsOrNot = parsed(seals) as Seals | undefined;
  const why = parsed(redactions ?? '{}') as { readonly [index: string]: Redaction } | undefined;
  if (!Array.isArray(sealsOrNot) || !why) return undefined;
  const [headerDigest, nonce, tier, ...sealed] = sealsOrNot;
  const bodies = words.split('\n');
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

/** What we wrote as JSON; digests vouch for the rest. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function packRedactions(records: readonly StoredRecord[]): string | null {
  const redacted = [...records.entries()].filter(([, { redaction }]) => redaction !== undefined);
  if (redacted.length === 0) return null;
  return JSON.stringify(Object.fromEntries(redacted.map(([index, { redaction }]) => [index, redaction])));
}
