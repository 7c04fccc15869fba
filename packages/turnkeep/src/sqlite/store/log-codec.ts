import type { LogRecord, Redaction, StoredRecord } from '../../core/log.ts';
import { parseStored } from '../../core/stored-json.ts';
import type { SqlRow, SqlValue } from '../driver/driver.ts';
import { lengthenHeader, shortenHeader } from './header-phrases.ts';

// A log row holds: the header in short form; the seals, which are the header's digest with the commit's nonce and then each
// record's digest and nonce; the words of each record, one on a line (a body is one line of JSON); redactions by record. A longer body stands
// in a row of its own, and has `+` on its line; where the words are gone the line is empty.

const DIGEST_BYTES = 32;
const NONCE_BYTES = 16;
const SEAL_BYTES = DIGEST_BYTES + NONCE_BYTES;
const ELSEWHERE = '+';
/** What 16 zero bytes are in base64url: where the salt is gone. */
const NO_NONCE = 'A'.repeat(22);

/**
 * Bodies from this length on stand apart: rows of about 1 KB fill pages to 90%, and a turn of 3 KB in one row would
 * leave a quarter of each page empty.
 */
const APART_LENGTH = 600;

// The last character of such a text has bits that no byte takes: only where they are zero does it come back the same.
const DIGEST = /^[\w-]{42}[AEIMQUYcgkosw048]$/;
const NONCE = /^[\w-]{21}[AQgw]$/;

/** The columns `header, seals, words, redactions` of a log record, and the bodies that stand apart, by record. */
export interface PackedLog {
  readonly columns: readonly [header: string | null, seals: SqlValue, words: string, redactions: string | null];
  readonly apart: readonly { readonly index: number; readonly body: string }[];
}

export function packLog(log: LogRecord): PackedLog {
  const header = log.header === null ? null : shortenHeader(log.header);
  const apart: { index: number; body: string }[] = [];
  const words = log.records.map(({ body }, index) => {
    if (body === null) return '';
    if (body.length < APART_LENGTH) return body;
    apart.push({ index, body });
    return ELSEWHERE;
  });
  return { columns: [header, packSeals(log), words.join('\n'), packRedactions(log.records)], apart };
}

/** `row` begins with the columns `version, at, header, seals, words, redactions`; `apart` answers a body by its record. */
export function unpackLog(row: SqlRow, apart: ReadonlyMap<number, string>): LogRecord {
  const [version, at, header, seals, words, redactions] = row as [
    number,
    number,
    string | null,
    SqlValue,
    string,
    string | null,
  ];
  const [commit, ...sealed] = unpackSeals(seals, version);
  const bodies = words.split('\n');
  const why =
    redactions === null
      ? {}
      : (parseStored(redactions, 'log', `version ${version}`) as { readonly [index: string]: Redaction });
  const records = sealed.map((seal, index) => unpackRecord(seal, bodies[index] ?? '', apart.get(index), why[index]));
  return {
    version,
    at,
    header: header === null ? null : lengthenHeader(header),
    headerDigest: commit?.digest ?? '',
    nonce: commit && commit.nonce !== '' && commit.nonce !== NO_NONCE ? commit.nonce : null,
    records,
  };
}

/** True where a body of this row stands apart. */
export function hasBodiesApart(words: string): boolean {
  return words.startsWith(ELSEWHERE) || words.includes(`\n${ELSEWHERE}`);
}

interface Seal {
  readonly digest: string;
  readonly nonce: string;
}

function unpackRecord(
  seal: Seal,
  line: string,
  apart: string | undefined,
  redaction: Redaction | undefined,
): StoredRecord {
  const body = line === ELSEWHERE ? (apart ?? null) : line === '' ? null : line;
  const record = { digest: seal.digest, nonce: body === null ? null : seal.nonce, body };
  return redaction === undefined ? record : { ...record, redaction };
}

function packRedactions(records: readonly StoredRecord[]): string | null {
  if (records.every(({ redaction }) => redaction === undefined)) return null;
  return JSON.stringify(
    Object.fromEntries(
      [...records.entries()].flatMap(([index, { redaction }]) => (redaction ? [[index, redaction]] : [])),
    ),
  );
}

/** Digests and nonces as bytes; as JSON where some are not what a hash and a source of chance make (in tests). */
function packSeals(log: LogRecord): SqlValue {
  const seals = [{ digest: log.headerDigest, nonce: log.nonce }, ...log.records];
  if (!seals.every(isCompact)) {
    return JSON.stringify(seals.map(({ digest, nonce }) => [digest, nonce ?? '']));
  }
  const bytes = Buffer.alloc(SEAL_BYTES * seals.length);
  seals.forEach(({ digest, nonce }, index) => {
    const at = SEAL_BYTES * index;
    bytes.write(digest, at, 'base64url');
    if (nonce !== null) bytes.write(nonce, at + DIGEST_BYTES, 'base64url');
  });
  return bytes;
}

function isCompact({ digest, nonce }: Pick<StoredRecord, 'digest' | 'nonce'>): boolean {
  return DIGEST.test(digest) && (nonce === null || NONCE.test(nonce));
}

/** The seal of the commit (its header's digest, the fingerprint's salt), and then the records'. */
function unpackSeals(seals: SqlValue, version: number): readonly Seal[] {
  if (typeof seals === 'string') {
    const pairs = parseStored(seals, 'log', `version ${version}`) as readonly (readonly string[])[];
    return pairs.map(([digest = '', nonce = '']) => ({ digest, nonce }));
  }
  const view = seals as Uint8Array; // the column holds text or a blob
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  const out: Seal[] = [];
  for (let at = 0; at < bytes.length; at += SEAL_BYTES) {
    const nonceAt = at + DIGEST_BYTES;
    out.push({
      digest: bytes.toString('base64url', at, nonceAt),
      nonce: bytes.toString('base64url', nonceAt, nonceAt + NONCE_BYTES),
    });
  }
  return out;
}
