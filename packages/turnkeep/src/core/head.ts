import type { ConversationId, InterruptId, OperationId, TurnId } from './ids.ts';
import type { Role } from './message.ts';

/** Where a record stands: the conversation whose log holds it, the version and the index in that commit. */
export interface RecordRef {
  readonly owner: ConversationId;
  readonly version: number;
  readonly index: number;
}

/**
 * The head of a conversation: all that a commit needs first, in one small row, however long the conversation is.
 * It holds counters, ids and codes; words stand in records, so that none outlives its record.
 */
export interface Head {
  readonly conversationId: ConversationId;
  /** Commits so far. */
  readonly version: number;
  readonly graphRevision: number;
  readonly leaf: TurnId | null;
  /** The highest own or inherited sequence. */
  readonly lastSequence: number;
  /** Own branches; branch 0 is the root's. */
  readonly branches: number;
  /** Own turns. */
  readonly turns: number;
  /** Entries that a fork made before its first turn. */
  readonly rootEntries: number;
  /** Own turns that are preparing, dispatching or running. */
  readonly busy: readonly TurnId[];
  /** True if a turn at work keeps only its own path busy; absent otherwise. */
  readonly busyByPath?: boolean | undefined;
  readonly openOperation: OperationId | null;
  /** Interrupts of own turns that nobody has answered. */
  readonly openInterrupts: readonly InterruptId[];
  /** The turn that a fork was cut at; `null` in an original and in a fork without turns. */
  readonly cutTurn: TurnId | null;
  /** The conversation that this one was forked from. */
  readonly source: ConversationId | null;
  /** The turn and the call that a sub-agent's conversation hangs under; absent in any other. */
  readonly parent?:
    | { readonly conversationId: ConversationId; readonly turnId: TurnId; readonly callId: string | null }
    | undefined;
  /** What its rows add up to; see `row-sum.ts`. Absent in a shelf, and if an earlier build began the conversation. */
  readonly rowSum?: number | undefined;
  /** Digest over all commits so far, in base64url. */
  readonly chain: string;
  readonly createdAt: number;
  /** Never goes back. */
  readonly lastActivityAt: number;
  /** Own messages. */
  readonly messages: number;
  readonly lastMessage: { readonly role: Role; readonly sequence: number; readonly ref: RecordRef } | null;
  /** The record of the list fields, if any was set. */
  readonly fields: RecordRef | null;
  readonly owner: string | null;
  readonly archived: boolean;
  readonly pinned: boolean;
  /** Milliseconds; a head with this is a tombstone. */
  readonly erasedAt: number | null;
  /** On a tombstone: true when nothing is left to remove. */
  readonly collected: boolean;
}

/** A head that may be changed while a commit is decided. */
export type DraftHead = { -readonly [Field in keyof Head]: Head[Field] };

export function newHead(conversationId: ConversationId, now: number, genesis: string): Head {
  return {
    conversationId,
    version: 0,
    graphRevision: 0,
    leaf: null,
    lastSequence: 0,
    branches: 1,
    turns: 0,
    rootEntries: 0,
    busy: [],
    openOperation: null,
    openInterrupts: [],
    cutTurn: null,
    source: null,
    chain: genesis,
    createdAt: now,
    lastActivityAt: now,
    messages: 0,
    lastMessage: null,
    fields: null,
    owner: null,
    archived: false,
    pinned: false,
    erasedAt: null,
    collected: false,
    rowSum: 0,
  };
}
