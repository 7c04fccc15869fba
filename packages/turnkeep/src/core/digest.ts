import { encode } from './encoding.ts';
import type { LogRecord, StoredRecord } from './log.ts';

/** SHA-256 of the text's UTF-8, in base64url without padding. Injected: core has no hash function of its own. */
export type Sha256 = (text: string) => string;

/** The digest of a record: over its nonce and its encoding. */
export function recordDigest(sha256: Sha256, nonce: string, body: string): string {
  return sha256(`${nonce}\n${body}`);
}

/** A record with its own nonce, so that nobody can guess its words from the digest. */
export function sealRecord(sha256: Sha256, nonce: string, value: unknown): StoredRecord {
  const body = encode(value);
  return { digest: recordDigest(sha256, nonce, body), nonce, body };
}

/** True if the words are there and match the digest. */
export function recordHolds(sha256: Sha256, record: StoredRecord): boolean {
  if (record.body === null || record.nonce === null) return false;
  return recordDigest(sha256, record.nonce, record.body) === record.digest;
}

/** The chain after a commit: over the chain before it and the digests of its header and records. */
export function chainAfter(sha256: Sha256, chain: string, log: LogRecord): string {
  const digests = log.records.map((record) => record.digest);
  return sha256([chain, log.headerDigest, ...digests].join('\n'));
}

/** The chain of a conversation without commits. */
export function chainStart(sha256: Sha256, conversationId: string): string {
  return sha256(`turnkeep conversation\n${conversationId}`);
}

/** The address of immutable content within its conversation. */
export function contentAddress(sha256: Sha256, text: string): string {
  return sha256(`turnkeep content\n${text}`);
}
