import type { AttachmentStore } from './attachments/store.ts';
import type { Commit } from './change.ts';
import type { Finding } from './finding.ts';
import type { ConversationId, MessageId, NamespaceId } from './ids.ts';
import type { Head } from './head.ts';
import type { Json } from './json.ts';
import type { LogRecord, StoredRecord } from './log.ts';
import type { Receipt } from './receipt.ts';

/** A row of a conversation: a text key and a small JSON array. `rows.ts` knows what they mean. */
export interface Row {
  readonly key: string;
  readonly value: RowValue;
}

export type RowValue = readonly Json[];

/** Keys from `from` (inclusive) to `to` (exclusive), in the order of {@link compareKeys}, or against it. */
export interface RowRange {
  readonly from: string;
  readonly to: string;
  readonly reverse?: boolean | undefined;
  readonly limit?: number | undefined;
}

/**
 * One snapshot of one namespace, read synchronously. All rules and all readings are written against this and nothing
 * else. A conversation that does not exist has no head, no rows and no log.
 */
export interface RowReader {
  head(conversation: ConversationId): Head | undefined;
  get(conversation: ConversationId, key: string): RowValue | undefined;
  scan(conversation: ConversationId, range: RowRange): readonly Row[];
  log(conversation: ConversationId, version: number): LogRecord | undefined;
  /** Heads in the order asked for, including those that lists leave out; see {@link HeadQuery}. */
  heads(query: HeadQuery): readonly Head[];
}

/** A page of heads: newest first, equal times by conversation id in UTF-8 order. */
export interface HeadQuery {
  readonly order: 'activity' | 'created';
  readonly owner?: string | undefined;
  /** The time and id of the last head of the page before. */
  readonly after?: { readonly at: number; readonly conversationId: ConversationId } | undefined;
  readonly limit: number;
}

/** A message that a reading looks up by its id. */
export interface SoughtMessage {
  readonly conversationId: ConversationId;
  readonly messageId: MessageId;
}

/** A change to the log record of an earlier version: its words go, its digests stay. */
export interface RecordEdit {
  readonly conversation: ConversationId;
  readonly version: number;
  readonly log: LogRecord;
}

/** Everything that a commit changes; it is applied whole or not at all. */
export interface WriteSet {
  readonly heads: readonly Head[];
  /** `null` removes the row. */
  readonly rows: readonly {
    readonly conversation: ConversationId;
    readonly key: string;
    readonly value: RowValue | null;
  }[];
  /** The new log record; absent if there is none (when erased conversations are collected). */
  readonly log?: { readonly conversation: ConversationId; readonly record: LogRecord } | undefined;
  readonly edits: readonly RecordEdit[];
}

/** What a backend is asked to commit: the commit, checked and complete, with its time and nonces. */
export interface Envelope {
  readonly commit: Commit;
  /** Digest of the changes as the caller sent them, without minted ids, independent of the order of keys. */
  readonly contentDigest: string;
  /** The approximate length of the commit in UTF-16 units; groups of commits are limited by it. */
  readonly length: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** 16 random bytes each, in base64url: one for the commit, and one for each record that it may make and that is not sealed yet. */
  readonly nonces: readonly string[];
  /** For each change its record, if the change alone determines the words; `null` if they depend on what is stored. */
  readonly sealed: readonly (StoredRecord | null)[];
}

/** An event of the feed: a commit that became durable. */
export interface FeedEntry {
  /** The opaque, rising position in the namespace's feed of this store. */
  readonly position: number;
  readonly conversationId: ConversationId;
  readonly version: number;
}

/** Read-only facts of an open store; each says what changes for the caller. */
export interface Traits {
  /** The backend's name: `memory`, `sqlite`, `journal`, `postgres`, or that of somebody else's. */
  readonly backend: string;
  /** What an acknowledged commit survives: nothing, a process crash, or a power cut as well. */
  readonly durability: 'none' | 'process_crash' | 'power_loss';
  /** How durability is reached, for a person: `WAL, synchronous=FULL`. */
  readonly sync: string;
  /** True if other processes may write to the same store at the same time. */
  readonly sharedWriters: boolean;
  /** `total`: the feed of a namespace has one order for all readers. */
  readonly feedOrder: 'total' | 'per_conversation';
  /** What no longer contains erased words after maintenance. */
  readonly erasureReach: string;
}

/** A literal substring to look for; see `search.ts`. */
export interface SearchQuery {
  readonly text: string;
  readonly conversationId?: ConversationId | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * A commit that may hold the text. `cursor` is a whole number as text: passed as `before` it continues the search after this
 * commit; the next whole number continues it with this commit.
 */
export interface SearchPlace {
  readonly conversationId: ConversationId;
  readonly version: number;
  readonly cursor: string;
}

/**
 * Commits that may hold the text, newest first; core checks each. Commits whose words cannot be read are included, since
 * nobody knows what they hold. `next` is absent at the end.
 */
export interface SearchCandidates {
  readonly places: readonly SearchPlace[];
  readonly next?: string | undefined;
}

/** Where a scratch value is kept. */
export interface ScratchPlace {
  readonly namespace: NamespaceId;
  readonly conversationId: ConversationId;
  /** The caller's own key, without NUL. */
  readonly key: string;
}

/**
 * A small place beside the log for what matters only while somebody works: beats and drafts. A value is replaced whole and
 * seen by every process that shares the store. It is part of no commit, is never synced and may be lost in a crash, so
 * readers must be correct without it. Values are well-formed text without NUL, some hundred KB at most.
 */
export interface Scratch {
  put(place: ScratchPlace, value: string): Promise<void>;
  get(place: ScratchPlace): Promise<string | undefined>;
  remove(place: ScratchPlace): Promise<void>;
  /** Every place of a namespace that holds a value. */
  list(namespace: NamespaceId): Promise<readonly ScratchPlace[]>;
}

/**
 * The storage seam. Consistency: commits of one conversation are strictly serializable; each `read` is one snapshot.
 *
 * - **S1 atomicity** A commit's write set is applied whole or not at all.
 * - **S2 order** Commits of one conversation are decided one after the other, each on the rows that the one before it
 *   left.
 * - **S3 durability** `commit` answers, and a read or a watcher sees the commit, only when it is as durable as
 *   `traits.durability` says.
 * - **S4 idempotency** What `decide` answers as a replay writes nothing.
 * - **S5 fencing** Nothing is written between `decide`'s reading and the write: what it checked still holds.
 * - **S6 isolation** A reader sees one namespace, and of it one moment.
 * - **S7 limits** What core allows, the backend stores: every id, every text, every size within `LIMITS`.
 * - **S8 errors** Failures are `TurnkeepError`s. One that leaves the outcome open is `outcome_unknown`.
 * - **S9 neighbours** A commit that is rejected, or whose write fails, harms no other of its group.
 */
export interface Backend {
  readonly traits: Traits;
  readonly scratch: Scratch;
  /** The bytes of attachments; their rows are ordinary rows. */
  readonly attachments: AttachmentStore;
  /** Hears that a commit is being checked, and will come unless it is refused: whoever can makes ready for it. Optional. */
  expectCommit?(): void;
  /** Decides and writes one commit. Waiting ones may share a sync. */
  commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt>;
  /**
   * Runs `reading` on one snapshot. It must be pure and quick: a backend may run it again from its start if a row that
   * it asks for was not loaded yet. `sought` is what it will look up first: if each look-up is a round trip, a backend may
   * follow it in a single one. No answer depends on it.
   */
  read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result, sought?: SoughtMessage): Promise<Result>;
  /** Feed entries after a position, oldest first. Position 0 is before all. */
  feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]>;
  /** Calls `listener` when the feed of the namespace may have grown, in whichever process; the returned function ends this. */
  onCommit(namespace: NamespaceId, listener: () => void): () => void;
  /** The candidates of a search: all messages of its snapshot that could match. */
  search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates>;
  /** Namespaces that hold something, in UTF-8 order. */
  namespaces(): Promise<readonly NamespaceId[]>;
  /** Removes what erased conversations hold and nobody shares (`collectErased`), in slices. Returns how many rows were removed. */
  collect(namespace: NamespaceId, signal?: AbortSignal): Promise<number>;
  /**
   * Moves the commits that may cool (`cool.ts`) into archives, in slices: each is swapped under the lock of its
   * conversation, and only if the same records are still there. Readings change only in the tier that they report; no version
   * moves, and watchers are not told. Returns how many commits moved.
   */
  cool(namespace: NamespaceId, options?: CoolOptions): Promise<number>;
  /** Checks what only the backend can check (its file format, its indexes) and reports each fault. */
  verify(signal?: AbortSignal): Promise<readonly StoreFault[]>;
  /** Brings everything derived (folds, indexes) up to date with the log, now instead of bit by bit behind commits. */
  catchUp(signal?: AbortSignal): Promise<void>;
  /** What the backend finds in its surroundings: its format, its files, who writes. */
  examine(): Promise<readonly Finding[]>;
  /** Drops and rebuilds what is derived. */
  rebuild(signal?: AbortSignal): Promise<void>;
  /** Finishes what was accepted and lets go of everything. Closing twice is once. */
  close(): Promise<void>;
}

/** How a store is cooled by hand. */
export interface CoolOptions {
  /** Newest messages of each conversation that stay hot; as many as the store keeps by itself when absent. */
  readonly hotMessages?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each slice with the number of commits moved so far. */
  readonly onProgress?: ((commits: number) => void) | undefined;
}

export interface StoreFault {
  readonly kind: string;
  readonly place: string;
  readonly reason: string;
}

/**
 * The order of row keys: by code point, which is the order of their UTF-8 bytes (JavaScript's `<` differs above U+D800).
 */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // A surrogate stands for a code point above all others of one unit.
    const aPair = a >= 0xd800 && a < 0xe000;
    const bPair = b >= 0xd800 && b < 0xe000;
    return aPair === bPair ? a - b : aPair ? 1 : -1;
  }
  return left.length - right.length;
}
