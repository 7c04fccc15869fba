import type { TurnId } from './ids.ts';
import type { Role } from './message.ts';
import type { ChangeEvent } from './event.ts';

/** Where words lie: in the log itself, or in a compressed archive. */
export type Tier = 'hot' | 'cool';

/** A record as it is stored: its words, its nonce and the digest of both. */
export interface StoredRecord {
  readonly digest: string;
  /** 16 bytes in base64url; `null` once the words are gone. */
  readonly nonce: string | null;
  /** Core's encoding of the record; `null` once the words are gone. */
  readonly body: string | null;
  /** Why the words are gone, if they were redacted. */
  readonly redaction?: Redaction | undefined;
}

export interface Redaction {
  readonly reason: string;
  /** Milliseconds. */
  readonly at: number;
  /** Whose words they were. */
  readonly role: Role;
  /** The record of the replacement's parts. */
  readonly replacement?: { readonly owner: string; readonly version: number; readonly index: number } | undefined;
}

/** One commit of a conversation as its log keeps it. */
export interface LogRecord {
  readonly version: number;
  /** Milliseconds; the header says it too, and this stays when the header goes. */
  readonly at: number;
  /** The encoding of a {@link LogHeader}; `null` once the conversation was erased. */
  readonly header: string | null;
  readonly headerDigest: string;
  /**
   * The salt of the fingerprint, 16 bytes in base64url; `null` once words of the commit are gone: nobody can then guess them
   * from the fingerprint, and a replay is answered by the commit's id alone.
   */
  readonly nonce: string | null;
  readonly records: readonly StoredRecord[];
  /** Where the words lie; `hot` when absent. Readings are the same either way, except that they report it. */
  readonly tier?: Tier | undefined;
}

/** What a commit did, without words: ids, places and counters. */
export interface LogHeader {
  readonly version: number;
  readonly commitId: string;
  /** Milliseconds. */
  readonly at: number;
  /** Head after this commit. */
  readonly leaf: TurnId | null;
  readonly graphRevision: number;
  /** The checksum of the head after this commit, without its chain; absent if an earlier build wrote the header. */
  readonly headSum?: number | undefined;
  /** The fingerprint of the commit as it was sent, salted with the log record's nonce. */
  readonly fingerprint: string;
  readonly events: readonly ChangeEvent[];
}
