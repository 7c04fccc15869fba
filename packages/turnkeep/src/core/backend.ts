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
  /** Heads in the order asked for, those that are not listed included; see {@link HeadQuery}. */
  heads(query: HeadQuery): readonly Head[];
}

/** A page of heads: newest first, ties by conversation id in UTF-8 order. */
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

/** What changes in a log record of another version than the commit's own: its words go, its digests stay. */
export interface RecordEdit {
  readonly conversation: ConversationId;
  readonly version: number;
  readonly log: LogRecord;
}

/** All that a commit changes, decided; applied as one or not at all. */
export interface WriteSet {
  readonly heads: readonly Head[];
  /** `null` removes the row. */
  readonly rows: readonly {
    readonly conversation: ConversationId;
    readonly key: string;
    readonly value: RowValue | null;
  }[];
  /** The new log record, absent where the commit leaves none (the collection of what was erased). */
  readonly log?: { readonly conversation: ConversationId; readonly record: LogRecord } | undefined;
  readonly edits: readonly RecordEdit[];
}

/** What a backend is asked to commit: the commit, checked and complete, and what was settled once for it. */
export interface Envelope {
  readonly commit: Commit;
  /** Digest of the changes as the caller sent them, without ids that were minted, whatever the order of keys. */
  readonly contentDigest: string;
  /** About how long the commit is, in UTF-16 units: what a group of them is measured by. */
  readonly length: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** 16 random bytes each, in base64url; one for the commit and one for each record that it can make and that is not sealed. */
  readonly nonces: readonly string[];
  /** By change: its record, where the change alone says the words; `null` where what is stored has a say. */
  readonly sealed: readonly (StoredRecord | null)[];
}

/** An event of the feed: a commit that became durable. */
export interface FeedEntry {
  /** Opaque, rising place in the namespace's feed of this store. */
  readonly position: number;
  readonly conversationId: ConversationId;
  readonly version: number;
}

/** Read-only facts of an open store; each says what changes for the caller. */
export interface Traits {
  /** Which backend, by its name: `memory`, `sqlite`, `journal`, `postgres`, or one of somebody else's. */
  readonly backend: string;
  /** What an acknowledged commit survives: nothing, a process crash, or a power cut as well. */
  readonly durability: 'none' | 'process_crash' | 'power_loss';
  /** How durability is reached, for a person: `WAL, synchronous=FULL`. */
  readonly sync: string;
  /** True where other processes may write to the same store at the same time. */
  readonly sharedWriters: boolean;
  /** `total`: the feed of a namespace has one order for all readers. */
  readonly feedOrder: 'total' | 'per_conversation';
  /** What is free of erased words after maintenance. */
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
 * A commit that may hold the text; `cursor`, a whole number as text, asks as `before` for those after it in the order of
 * the search, and the next whole number for those and the commit itself.
 */
export interface SearchPlace {
  readonly conversationId: ConversationId;
  readonly version: number;
  readonly cursor: string;
}

/**
 * Commits that may hold the text, newest first; core checks each. One whose words cannot be read is among them: nobody
 * knows what it holds. `next` is absent at the end.
 */
export interface SearchCandidates {
  readonly places: readonly SearchPlace[];
  readonly next?: string | undefined;
}

/** Where a scratch value is kept. */
export interface ScratchPlace {
  readonly namespace: NamespaceId;
  readonly conversationId: ConversationId;
  /** Of the caller's, without NUL. */
  readonly key: string;
}

/**
 * A small place beside the log for what matters only while somebody works: beats and drafts. A value is replaced whole and
 * seen by every process that shares the store. It is part of no commit, is never synced and may be lost in a crash: who
 * reads it must be right without it. Values are well-formed text without NUL, some hundred KB at most.
 */
export interface Scratch {
  put(place: ScratchPlace, value: string): Promise<void>;
  get(place: ScratchPlace): Promise<string | undefined>;
  remove(place: ScratchPlace): Promise<void>;
  /** All that a namespace holds. */
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
  /** The bytes of attachments; their rows are rows like all others. */
  readonly attachments: AttachmentStore;
  /** Hears that a commit is being checked, and will come unless it is refused: whoever can makes ready for it. Optional. */
  expectCommit?(): void;
  /** Decides and writes one commit. Waiting ones may share a sync. */
  commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt>;
  /**
   * Runs `reading` on one snapshot. It must be pure and quick: a backend may run it again from its start when a row that
   * it asks for was not at hand. `sought` is what it will ask for before all else: where each look-up is a round trip, a
   * backend may follow it in one. No answer depends on it.
   */
  read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result, sought?: SoughtMessage): Promise<Result>;
  /** Feed entries after a position, oldest first. Position 0 is before all. */
  feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]>;
  /** Calls `listener` when the feed of the namespace may have grown, by any process; returns what ends it. */
  onCommit(namespace: NamespaceId, listener: () => void): () => void;
  /** Candidates of a search, all of its snapshot's messages that could match. */
  search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates>;
  /** Namespaces that hold something, in UTF-8 order. */
  namespaces(): Promise<readonly NamespaceId[]>;
  /** Removes what erased conversations hold and nobody shares (`collectErased`), in slices. Answers how many rows went. */
  collect(namespace: NamespaceId, signal?: AbortSignal): Promise<number>;
  /**
   * Moves the commits that may cool (`cool.ts`) into archives, in slices: each is swapped under the lock of its
   * conversation, and only if the same records are still there. Nothing that is read changes but the tier, no version
   * moves, and nobody who watches is told. Answers how many commits moved.
   */
  cool(namespace: NamespaceId, options?: CoolOptions): Promise<number>;
  /** Checks what only the backend can check (its file format, its indexes) and reports each fault. */
  verify(signal?: AbortSignal): Promise<readonly StoreFault[]>;
  /** Brings what is derived up to the log, now instead of bit by bit behind commits: folds, indexes. */
  catchUp(signal?: AbortSignal): Promise<void>;
  /** What the backend sees of its surroundings: its format, its files, who writes. */
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
  /** Hears after each slice how many commits have moved so far. */
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
