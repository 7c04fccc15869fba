import { unrefer } from './attachments/mentions.ts';
import { minus, plus } from './checksum.ts';
import { Overlay } from './overlay.ts';
import type { Envelope, RowRange, RowReader, Row, RowValue, WriteSet, RecordEdit } from './backend.ts';
import { chainAfter, recordHolds, sealRecord } from './digest.ts';
import type { Sha256 } from './digest.ts';
import { decode, encode } from './encoding.ts';
import { TurnkeepError, assert } from './errors.ts';
import type { DraftHead, Head, RecordRef } from './head.ts';
import { utf8Length } from './ids.ts';
import type { ConversationId, TurnId } from './ids.ts';
import type { JsonObject } from './json.ts';
import { LIMITS } from './limits.ts';
import type { LogHeader, LogRecord, Redaction, StoredRecord } from './log.ts';
import type { ChangeEvent } from './event.ts';
import { headChecksum, isAddedUp, rowChecksum } from './row-sum.ts';
import type { Stamp } from './rows.ts';
import { SeenRows } from './seen-rows.ts';
import { newShelf } from './shelf.ts';
import type { Tree } from './tree/path.ts';

/**
 * A commit while it is decided: the rows that it read, with what its changes have written so far on top. It is thrown
 * away when a rule refuses, and becomes a write set when none does.
 */
export class Draft {
  readonly envelope: Envelope;
  readonly sha256: Sha256;
  readonly head: DraftHead;
  readonly rows: Overlay;
  readonly #stored: SeenRows;
  readonly #records: StoredRecord[] = [];
  readonly #edits = new Map<string, RecordEdit>();
  readonly #otherHeads: Head[] = [];
  readonly #salts: string[] = [];
  #bytes = 0;
  #nonceGone = false;
  #index = 0;
  /** Besides the commit's own. */
  #noncesUsed = 0;
  /** The turn that this commit records: complete, and open to what follows it in the commit. */
  recording: TurnId | null = null;

  constructor(rows: RowReader, envelope: Envelope, head: Head, sha256: Sha256) {
    this.envelope = envelope;
    this.sha256 = sha256;
    this.head = { ...head };
    this.#stored = new SeenRows(rows, head.conversationId);
    this.rows = new Overlay(this.#stored);
  }

  get conversationId(): ConversationId {
    return this.head.conversationId;
  }

  /** The version that this commit makes. */
  get version(): number {
    return this.head.version + 1;
  }

  /** The stamp of the change at work. */
  get stamp(): Stamp {
    return { version: this.version, index: this.#index };
  }

  get tree(): Tree {
    return { rows: this.rows, head: this.head };
  }

  /** Moves on to the next change of the commit. */
  beginChange(index: number): void {
    this.#index = index;
  }

  get(key: string): RowValue | undefined {
    return this.rows.get(this.conversationId, key);
  }

  scan(range: RowRange): readonly Row[] {
    return this.rows.scan(this.conversationId, range);
  }

  /** Writes a row: a new one, or one that replaces a row that the commit has read. */
  put(key: string, value: RowValue): void {
    this.rows.put(this.conversationId, key, value);
  }

  remove(key: string): void {
    this.rows.put(this.conversationId, key, null);
  }

  putElsewhere(conversation: ConversationId, key: string, value: RowValue): void {
    this.rows.put(conversation, key, value);
  }

  /** Changes the head of another conversation of the namespace, without a commit of its own. */
  putOtherHead(head: Head): void {
    this.rows.putHead(head);
    this.#otherHeads.push(head);
  }

  /** Creates a shelf if the namespace does not have it yet. */
  openShelf(shelf: ConversationId): void {
    if (!this.rows.head(shelf)) this.putOtherHead(newShelf(shelf, this.envelope.now, this.sha256));
  }

  /** Adds a record to the commit and returns its index. `path` names that part of the change if it is too large. */
  addRecord(body: JsonObject, path: string): number {
    const nonce = this.envelope.nonces[++this.#noncesUsed];
    assert(nonce !== undefined, 'an envelope has a nonce for each record');
    return this.#add(sealRecord(this.sha256, nonce, body), path);
  }

  /** Adds the sealed record of the current change. */
  addSealed(path: string): number {
    const record = this.envelope.sealed[this.#index];
    assert(record, 'the words of the change are sealed');
    return this.#add(record, path);
  }

  #add(record: StoredRecord, path: string): number {
    this.#weigh(record.body ?? '', path);
    return this.#records.push(record) - 1;
  }

  #weigh(body: string, path: string): void {
    const bytes = utf8Length(body);
    if (bytes > LIMITS.recordBytes) throw tooLarge('recordBytes', bytes, path);
    this.#bytes += bytes;
    if (this.#bytes > LIMITS.commitBytes) throw tooLarge('commitBytes', this.#bytes, path);
  }

  /** A reference to a record of this commit. */
  refTo(index: number): RecordRef {
    return { owner: this.conversationId, version: this.version, index };
  }

  /** The record, its digest checked; of this commit or an earlier one, of this conversation or one that it sees. */
  record(ref: RecordRef): StoredRecord {
    if (ref.owner === this.conversationId && ref.version === this.version) {
      const pending = this.#records[ref.index];
      assert(pending, 'a record of this commit exists');
      return pending;
    }
    return recordOf(this.rows.log(ref.owner, ref.version), ref);
  }

  /** The parsed body of a record, or `undefined` where its words are gone. */
  body(ref: RecordRef): JsonObject | undefined {
    return parseBody(this.sha256, this.record(ref), ref);
  }

  /** Takes the words of a record away: its digest stays. */
  redact(ref: RecordRef, redaction: Redaction): void {
    unrefer(this, ref);
    if (ref.owner === this.conversationId && ref.version === this.version) {
      const pending = this.#records[ref.index];
      assert(pending, 'a record of this commit exists');
      this.#records[ref.index] = withoutWords(pending, redaction);
      this.#nonceGone = true;
      return;
    }
    const log = this.rows.log(ref.owner, ref.version);
    assert(log, 'a referenced log record exists');
    const records = log.records.map((record, at) => (at === ref.index ? withoutWords(record, redaction) : record));
    const edited = { ...log, nonce: null, records };
    this.rows.putLog(ref.owner, edited);
    this.#edits.set(`${ref.owner}\n${ref.version}`, { conversation: ref.owner, version: ref.version, log: edited });
  }

  /** Salts the commit's fingerprint with a record of the same words: once they are gone, nobody can guess them from it. */
  saltWith(ref: RecordRef): void {
    this.#salts.push(this.record(ref).nonce ?? '');
  }

  /** The sum of the conversation's rows, with the written ones in place of those that were read. */
  #rowSum(rows: WriteSet['rows']): number | undefined {
    let sum = this.head.rowSum;
    if (sum === undefined) return undefined;
    for (const { conversation, key, value } of rows) {
      if (conversation !== this.conversationId || !isAddedUp(key)) continue;
      const before = this.#stored.seen(key) ?? (value === null ? this.#stored.get(conversation, key) : undefined);
      if (before) sum = minus(sum, rowChecksum(key, before));
      if (value) sum = plus(sum, rowChecksum(key, value));
    }
    return sum;
  }

  /** The write set of this commit, its header sealed and its head moved on. */
  finish(events: readonly ChangeEvent[]): { readonly writes: WriteSet; readonly header: LogHeader } {
    const { envelope, head } = this;
    const rows = [...this.rows.changedRows()];
    head.rowSum = this.#rowSum(rows);
    const header: LogHeader = {
      version: this.version,
      commitId: envelope.commit.commitId,
      at: envelope.now,
      leaf: head.leaf,
      graphRevision: head.graphRevision,
      headSum: headChecksum(envelope.commit.namespace, { ...head, version: this.version }),
      fingerprint: fingerprint(envelope, [envelope.nonces[0] ?? '', ...this.#salts], this.sha256),
      events,
    };
    const text = encode(header);
    const record: LogRecord = {
      version: header.version,
      at: header.at,
      header: text,
      headerDigest: this.sha256(text),
      nonce: this.#nonceGone ? null : (envelope.nonces[0] ?? null),
      records: this.#records,
    };
    head.chain = chainAfter(this.sha256, head.chain, record);
    head.version = header.version;
    const conversation = this.conversationId;
    return {
      header,
      writes: {
        heads: [head, ...this.#otherHeads],
        rows,
        log: { conversation, record },
        edits: [...this.#edits.values()],
      },
    };
  }
}

/**
 * A fingerprint tells commits apart without telling anyone what they say: it is salted with the commit's nonce, and with
 * those of records that said the same before.
 */
export function fingerprint(envelope: Envelope, salts: readonly string[], sha256: Sha256): string {
  return sha256(`${salts.join(' ')}\n${envelope.contentDigest}`);
}

function withoutWords(record: StoredRecord, redaction: Redaction): StoredRecord {
  return { digest: record.digest, nonce: null, body: null, redaction };
}

/** A record of a commit; `corrupt` where it is missing. */
export function recordOf(log: LogRecord | undefined, ref: RecordRef): StoredRecord {
  const record = log?.records[ref.index];
  if (!record) throw new TurnkeepError('corrupt', { place: placeOf(ref), reason: 'the record is missing' });
  return record;
}

/** The parsed body; `undefined` where the words are gone; `corrupt` where they are not those of the digest. */
export function parseBody(sha256: Sha256, record: StoredRecord, ref: RecordRef): JsonObject | undefined {
  if (record.body === null) return undefined;
  if (!recordHolds(sha256, record)) {
    throw new TurnkeepError('corrupt', { place: placeOf(ref), reason: 'the record does not match its digest' });
  }
  return decode(record.body) as JsonObject;
}

/** A record's place, for a person. */
export function placeOf(ref: RecordRef): string {
  return `conversation ${ref.owner}, version ${ref.version}, record ${ref.index}`;
}

function tooLarge(limit: 'recordBytes' | 'commitBytes', actual: number, path: string): TurnkeepError<'limit_exceeded'> {
  return new TurnkeepError('limit_exceeded', { limit, max: LIMITS[limit], actual, path });
}
