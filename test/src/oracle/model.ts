import type {
  AttemptId,
  CheckpointId,
  CommitId,
  CommitmentId,
  ConversationId,
  InterruptId,
  InputId,
  Json,
  JsonObject,
  MemoryId,
  MessageId,
  OperationId,
  PromptId,
  Receipt,
  Role,
  RunId,
  RunStatus,
  StepRepeat,
  TaskId,
  TaskStatus,
  TurnId,
  TurnState,
  UsageId,
} from 'turnkeep/core';

/**
 * What the oracle knows. Everything here is a value that is never changed, a fork included, which holds a COPY of the
 * path that it was cut from: nothing that happens afterwards can reach it. The one exception are {@link Words}.
 */

/** When a change happened: the version of its commit and its index in it. */
export interface Stamp {
  readonly version: number;
  readonly index: number;
}

export function isBefore(left: Stamp, right: Stamp): boolean {
  return left.version === right.version ? left.index < right.index : left.version < right.version;
}

/**
 * What was said. A message that is copied into a fork, and a turn that repeats a prompt, hold these very words: when
 * they are taken away, they are gone for everyone.
 */
export interface Words {
  /** The conversation that said it first. */
  readonly conversationId: ConversationId;
  content: JsonObject | null;
  redaction: Redaction | null;
  /** True once they have cooled: then only a reader of tiers is told. */
  isCool?: boolean;
}

export interface Redaction {
  readonly reason: string;
  readonly at: string;
  /** What readers see instead. */
  readonly replacement: Words | null;
}

export interface Message {
  readonly messageId: MessageId;
  /** The conversation that it was appended to. */
  readonly conversationId: ConversationId;
  /** The turn that it stands in; `null`: the root. */
  readonly turnId: TurnId | null;
  readonly sequence: number;
  readonly stamp: Stamp;
  readonly committedAt: string;
  readonly role: Role;
  /** The tool calls that it makes, those of other messages that it answers, and those of its own that it answers itself. */
  readonly calls: readonly string[];
  readonly answers: readonly string[];
  readonly answered: readonly string[];
  readonly words: Words;
  /** A tool result that came after its turn had ended. */
  readonly late: boolean;
  readonly taskId: TaskId | null;
}

/** A note that holds for the paths through the turn that it was made in, until a later one of the same key. */
export interface Entry {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId | null;
  readonly stamp: Stamp;
  readonly note: Note;
}

export type Note = StateNote | TaskNote | CommitmentNote | SummaryNote;

export interface StateNote {
  readonly kind: 'state';
  readonly stateVersion: number;
  readonly words: Words;
}

export interface TaskNote {
  readonly kind: 'task';
  readonly taskId: TaskId;
  readonly status: TaskStatus;
  readonly words: Words;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** True for the note that created the task. */
  readonly first: boolean;
}

export interface CommitmentNote {
  readonly kind: 'commitment';
  readonly commitmentId: CommitmentId;
  readonly status: 'open' | 'fulfilled' | 'expired';
  readonly words: Words;
  readonly createdAt: number;
  readonly resolvedAt: number | null;
}

export interface SummaryNote {
  readonly kind: 'summary';
  readonly upTo: MessageId;
  /** The highest sequence on its path when it was made. */
  readonly seen: number;
  readonly words: Words;
}

export interface Move {
  readonly stamp: Stamp;
  readonly state: TurnState;
}

/** What a turn stands under: a turn (or the root, `null`), and the message in it where it stands under a message. */
export interface Under {
  readonly turnId: TurnId | null;
  readonly cut: MessageCut | null;
}

/** A cut at and with a message. What came after it in its turn, at the time of the cut or later, is left out. */
export interface MessageCut {
  readonly messageId: MessageId;
  readonly sequence: number;
  /** The stamp of the first message that was left out; `null` where the message was the last of its turn. */
  readonly firstLeftOut: Stamp | null;
}

export interface Turn {
  readonly turnId: TurnId;
  readonly conversationId: ConversationId;
  readonly under: Under;
  readonly ordinal: number;
  readonly why: 'start' | 'edit' | 'regenerate';
  /** Its states; the first was made with the turn. */
  readonly moves: readonly [Move, ...Move[]];
  /** The stamp at which it left `preparing` and `dispatching`; `null` before. */
  readonly base: Stamp | null;
  readonly prompt: Prompt | null;
  readonly attempt: { readonly attempt: AttemptId; readonly token: number } | null;
}

export interface Prompt {
  readonly promptId: PromptId;
  readonly words: Words;
}

/** A turn of a path (the root, or what a fork wrote before its first turn: `null`) with what the path sees of it. */
export interface Step {
  readonly turn: Turn | null;
  readonly messages: readonly Message[];
  readonly entries: readonly Entry[];
}

export interface Operation {
  readonly operationId: OperationId;
  readonly turnId: TurnId;
  readonly status: 'open' | 'succeeded' | 'failed';
  readonly failure: { readonly code: string; readonly message: string } | null;
  /** What the commit that opened it was answered. */
  readonly openedAt: number;
}

export interface Run {
  readonly status: RunStatus;
  readonly words: JsonObject;
  readonly reason: JsonObject | null;
  readonly baseTurnId: TurnId | null;
}

/** A step of a turn's work; {@link Step} is one of a path. */
export interface RecordedStep {
  readonly turnId: TurnId;
  readonly key: string;
  readonly status: 'started' | 'succeeded' | 'failed' | 'retry';
  /** Of the attempt that started it last. */
  readonly token: number;
  readonly repeat: StepRepeat;
  readonly starts: number;
  /** Of its first start. */
  readonly stamp: Stamp;
  readonly said: Words;
  readonly outcome: Words | null;
  readonly messageId: MessageId | null;
}

export interface Interrupt {
  readonly interruptId: InterruptId;
  readonly turnId: TurnId;
  readonly status: 'open' | 'answered' | 'expired' | 'withdrawn';
  readonly type: string;
  readonly callId: string | null;
  readonly stamp: Stamp;
  readonly asked: Words;
  /** Milliseconds. */
  readonly expiresAt: number | null;
  readonly answer: Words | null;
}

/** A memory of the namespace. */
export interface Memory {
  readonly memoryId: MemoryId;
  readonly revision: number;
  readonly forgotten: boolean;
  /** The words of each revision. */
  readonly said: readonly Words[];
  /** What it was made of: messages, and the conversations that it was made in (`null`). */
  readonly origins: readonly { readonly conversationId: ConversationId; readonly messageId: MessageId | null }[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a model call used, and when it was recorded. */
export interface Spent {
  readonly usageId: UsageId;
  readonly words: JsonObject;
  readonly at: number;
  /** The conversations that it counts for, each with the turn: its own, and those that it hangs under. */
  readonly counts: ReadonlyMap<ConversationId, TurnId | null>;
}

/** What a user said while a turn was at work. */
export interface Input {
  readonly inputId: InputId;
  readonly mode: 'queued' | 'steering';
  readonly status: 'waiting' | 'delivered' | 'withdrawn';
  readonly revision: number;
  /** The version that it came with. */
  readonly cameAt: number;
  readonly words: Words;
  readonly turnId: TurnId | null;
}

export interface Revision {
  readonly type: string;
  readonly schemaVersion: number | null;
  readonly scope: string | null;
  readonly words: JsonObject;
  /** Pending writes by their place. */
  readonly writes: ReadonlyMap<string, JsonObject>;
}

/** A commit of a conversation: what was asked, what was answered, and the active leaf afterwards. */
export interface Moment {
  readonly receipt: Receipt;
  readonly asked: string;
  readonly leaf: TurnId | null;
  /** The words that the commit said or repeated. */
  readonly words: readonly Words[];
}

export interface Conversation {
  readonly conversationId: ConversationId;
  readonly version: number;
  readonly graphRevision: number;
  readonly leaf: TurnId | null;
  /** The highest sequence, own or inherited. */
  readonly lastSequence: number;
  /** The conversation that it was forked from, and the path that it copied; empty in an original. */
  readonly source: ConversationId | null;
  readonly inherited: readonly Step[];
  readonly turns: readonly Turn[];
  readonly messages: readonly Message[];
  readonly entries: readonly Entry[];
  /** One for each version. */
  readonly moments: readonly Moment[];
  readonly versions: ReadonlyMap<CommitId, number>;
  readonly operations: ReadonlyMap<OperationId, Operation>;
  readonly openOperation: OperationId | null;
  /** Where a sub-agent's conversation hangs. */
  readonly parent: {
    readonly conversationId: ConversationId;
    readonly turnId: TurnId;
    readonly callId: string | null;
  } | null;
  readonly usages: ReadonlyMap<UsageId, Spent>;
  /** In the order in which they came. */
  readonly inputs: ReadonlyMap<InputId, Input>;
  readonly attempts: ReadonlyMap<AttemptId, TurnId>;
  readonly runs: ReadonlyMap<RunId, Run>;
  /** By turn and key. */
  readonly steps: ReadonlyMap<string, RecordedStep>;
  readonly interrupts: ReadonlyMap<InterruptId, Interrupt>;
  readonly prompts: ReadonlyMap<PromptId, Words>;
  readonly bindings: ReadonlyMap<string, { readonly capture: 'live' | 'replay'; readonly cursor: Json }>;
  readonly checkpoints: ReadonlyMap<CheckpointId, readonly Revision[]>;
  readonly fields: JsonObject;
  readonly readers: ReadonlyMap<string, number>;
  readonly createdAt: number;
  readonly lastActivityAt: number;
}

/** What is left of an erased conversation. */
export interface Tombstone {
  readonly conversationId: ConversationId;
  readonly version: number;
  readonly graphRevision: number;
  readonly erasedAt: number;
  readonly createdAt: number;
  readonly lastActivityAt: number;
}

export function newConversation(conversationId: ConversationId, now: number): Conversation {
  return {
    conversationId,
    version: 0,
    graphRevision: 0,
    leaf: null,
    lastSequence: 0,
    source: null,
    inherited: [],
    turns: [],
    messages: [],
    entries: [],
    moments: [],
    versions: new Map(),
    operations: new Map(),
    openOperation: null,
    inputs: new Map(),
    parent: null,
    usages: new Map(),
    attempts: new Map(),
    runs: new Map(),
    steps: new Map(),
    interrupts: new Map(),
    prompts: new Map(),
    bindings: new Map(),
    checkpoints: new Map(),
    fields: {},
    readers: new Map(),
    createdAt: now,
    lastActivityAt: now,
  };
}

/** The map with one more member. */
export function withMember<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value): ReadonlyMap<Key, Value> {
  return new Map([...map, [key, value]]);
}
