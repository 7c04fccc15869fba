import type { RowValue } from './backend.ts';
import type { InputMode, RunStatus, SiblingReason, StepRepeat, TaskStatus, TurnState } from './change.ts';
import type { RecordRef } from './head.ts';
import type { AttemptId, ConversationId, MessageId, OperationId, PromptId, TaskId, TurnId } from './ids.ts';
import type { Json } from './json.ts';

/**
 * What the rows mean. Each table has a type and its two codecs side by side; a row is a short JSON array, and holds ids,
 * numbers and codes, never words.
 */

/** When a change happened: the version of its commit and its index in it; a total order within a conversation. */
export interface Stamp {
  readonly version: number;
  readonly index: number;
}

export function isBefore(left: Stamp, right: Stamp): boolean {
  return left.version < right.version || (left.version === right.version && left.index < right.index);
}

export const WHOLE: number = Number.MAX_SAFE_INTEGER;

/** `null` in a row stands for "no bound". */
function packBound(value: number): Json {
  return value === WHOLE ? null : value;
}

function unpackBound(value: Json | undefined): number {
  return typeof value === 'number' ? value : WHOLE;
}

function packPlace(place: Stamp | LocalRef | null): Json {
  return place ? [place.version, place.index] : null;
}

function unpackPlace(value: Json | undefined): (Stamp & LocalRef) | null {
  if (!Array.isArray(value)) return null;
  const [version, index] = value as readonly number[];
  return { version: version ?? 0, index: index ?? 0 };
}

/**
 * An owned range of messages that continues another branch from a cut: the turn at `cutPosition` whole (later results of
 * that turn too) where `cutSequence` is WHOLE, or up to the message at `cutSequence`, which takes no later ones.
 */
export interface BranchRow {
  /** `null` in a conversation's first branch, unless it is a fork's. */
  readonly parent: { readonly owner: ConversationId; readonly branch: number } | null;
  readonly cutPosition: number;
  readonly cutSequence: number;
  /** Versions of the parent's owner beyond this one are not seen; WHOLE within one conversation. */
  readonly asOf: number;
  /** Entries of the cut turn with this stamp or a later one are not seen; `null`: the child's first turn bounds them. */
  readonly bound: Stamp | null;
  /** True for the root branch of a fork. */
  readonly forkRoot: boolean;
  /** Branches above this one, those of other conversations included. */
  readonly depth: number;
}

export function packBranch(row: BranchRow): RowValue {
  if (!row.parent) return [];
  return [
    row.parent.owner,
    row.parent.branch,
    row.cutPosition,
    packBound(row.cutSequence),
    packBound(row.asOf),
    packPlace(row.bound),
    row.forkRoot,
    row.depth,
  ];
}

export function unpackBranch(value: RowValue): BranchRow {
  const [owner, branch, cutPosition, cutSequence, asOf, bound, forkRoot, depth] = value;
  return {
    parent: typeof owner === 'string' ? { owner, branch: branch as number } : null,
    cutPosition: (cutPosition as number | undefined) ?? 0,
    cutSequence: unpackBound(cutSequence),
    asOf: unpackBound(asOf),
    bound: unpackPlace(bound),
    forkRoot: forkRoot === true,
    depth: (depth as number | undefined) ?? 0,
  };
}

export interface TurnRow {
  readonly turnId: TurnId;
  readonly parentTurnId: TurnId | null;
  /** Where the turn stands under a message within its parent turn. */
  readonly parentMessageId: MessageId | null;
  readonly ordinal: number;
  readonly why: SiblingReason;
  readonly state: TurnState;
  readonly firstState: TurnState;
  readonly created: Stamp;
  /** The stamp at which it left `preparing` and `dispatching`. */
  readonly base: Stamp | null;
  readonly operationId: OperationId | null;
  readonly promptId: PromptId | null;
  readonly attempt: { readonly attempt: AttemptId; readonly token: number } | null;
}

export function packTurn(row: TurnRow): RowValue {
  const { attempt } = row;
  return [
    row.turnId,
    row.parentTurnId,
    row.parentMessageId,
    row.ordinal,
    row.why,
    row.state,
    row.firstState,
    packPlace(row.created),
    packPlace(row.base),
    row.operationId,
    row.promptId,
    ...(attempt ? [attempt.attempt, attempt.token] : []),
  ];
}

export function unpackTurn(value: RowValue): TurnRow {
  const attempt = value[11] as AttemptId | undefined;
  return {
    turnId: value[0] as TurnId,
    parentTurnId: value[1] as TurnId | null,
    parentMessageId: value[2] as MessageId | null,
    ordinal: value[3] as number,
    why: value[4] as SiblingReason,
    state: value[5] as TurnState,
    firstState: value[6] as TurnState,
    created: unpackPlace(value[7]) ?? { version: 0, index: 0 },
    base: unpackPlace(value[8]),
    operationId: value[9] as OperationId | null,
    promptId: value[10] as PromptId | null,
    attempt: attempt === undefined ? null : { attempt, token: value[12] as number },
  };
}

export interface MessageRow {
  readonly messageId: MessageId;
  /** The stamp of the change that appended it. */
  readonly stamp: Stamp;
  /** The record that holds its words: this commit's, or the prompt's that it shares. */
  readonly ref: RecordRef;
  readonly calls: readonly string[];
  readonly answers: readonly string[];
}

/** A record reference, without its owner if that is the row's own conversation. */
export function packRef(ref: RecordRef, own: ConversationId): readonly Json[] {
  return ref.owner === own ? [ref.version, ref.index] : [ref.version, ref.index, ref.owner];
}

export function unpackRef(value: Json | undefined, own: ConversationId): RecordRef {
  const [version, index, owner] = value as readonly Json[];
  return { owner: (owner as ConversationId | undefined) ?? own, version: version as number, index: index as number };
}

export function packMessage(row: MessageRow, own: ConversationId): RowValue {
  const { stamp, ref } = row;
  const shared = ref.owner !== own || ref.version !== stamp.version;
  const head: Json[] = [row.messageId, stamp.version, stamp.index, shared ? packRef(ref, own) : ref.index];
  return row.calls.length + row.answers.length > 0 ? [...head, row.calls, row.answers] : head;
}

export function unpackMessage(value: RowValue, own: ConversationId): MessageRow {
  const stamp = { version: value[1] as number, index: value[2] as number };
  const ref = value[3];
  return {
    messageId: value[0] as MessageId,
    stamp,
    ref: typeof ref === 'number' ? { owner: own, version: stamp.version, index: ref } : unpackRef(ref, own),
    calls: (value[4] as readonly string[] | undefined) ?? [],
    answers: (value[5] as readonly string[] | undefined) ?? [],
  };
}

export interface OperationRow {
  readonly turnId: TurnId;
  readonly openedAt: number;
  readonly status: 'open' | 'succeeded' | 'failed';
  /** The version of the commit that resolved it. */
  readonly resolvedAt: number | null;
  /** The record of its failure's code and message. */
  readonly failure: number | null;
}

export function packOperation(row: OperationRow): RowValue {
  return [row.turnId, row.openedAt, row.status, row.resolvedAt, row.failure];
}

export function unpackOperation(value: RowValue): OperationRow {
  return {
    turnId: value[0] as TurnId,
    openedAt: value[1] as number,
    status: value[2] as OperationRow['status'],
    resolvedAt: value[3] as number | null,
    failure: value[4] as number | null,
  };
}

/** A record of the row's own conversation. */
export interface LocalRef {
  readonly version: number;
  readonly index: number;
}

export interface RunRow {
  readonly status: RunStatus;
  /** The record of its agent and metadata. */
  readonly start: LocalRef;
  /** The record of why it ended. */
  readonly end: LocalRef | null;
  readonly baseTurnId: TurnId | null;
}

export function packRun(row: RunRow): RowValue {
  return [row.status, packPlace(row.start), packPlace(row.end), row.baseTurnId];
}

export function unpackRun(value: RowValue): RunRow {
  return {
    status: value[0] as RunStatus,
    start: unpackPlace(value[1]) as LocalRef,
    end: unpackPlace(value[2]),
    baseTurnId: value[3] as TurnId | null,
  };
}

/** `retry`: somebody said that it may be started again. */
export type StepStatus = 'started' | 'succeeded' | 'failed' | 'retry';

export interface StepRow {
  readonly status: StepStatus;
  /** The token of the attempt that started it last; 0 if no attempt held the turn. */
  readonly token: number;
  readonly repeat: StepRepeat;
  readonly starts: number;
  /** The version of its last start. */
  readonly startedAt: number;
  /** The record of its name and input. */
  readonly start: LocalRef;
  /** The record of its outcome. */
  readonly end: LocalRef | null;
  /** The message that is its result. */
  readonly messageId: MessageId | null;
}

export function packStep(row: StepRow): RowValue {
  const { status, token, repeat, starts, startedAt, start, end, messageId } = row;
  return [status, token, repeat, starts, startedAt, packPlace(start), packPlace(end), messageId];
}

export function unpackStep(value: RowValue): StepRow {
  return {
    status: value[0] as StepStatus,
    token: value[1] as number,
    repeat: value[2] as StepRepeat,
    starts: value[3] as number,
    startedAt: value[4] as number,
    start: unpackPlace(value[5]) as LocalRef,
    end: unpackPlace(value[6]),
    messageId: value[7] as MessageId | null,
  };
}

/** `withdrawn`: its turn ended first. */
export type InterruptStatus = 'open' | 'answered' | 'expired' | 'withdrawn';

export interface InterruptRow {
  readonly turnId: TurnId;
  readonly status: InterruptStatus;
  readonly type: string;
  readonly callId: string | null;
  /** The record of its payload. */
  readonly request: LocalRef;
  /** Milliseconds. */
  readonly expiresAt: number | null;
  /** The version of the commit that ended it. */
  readonly closedAt: number | null;
  /** The record of who answered what. */
  readonly answer: LocalRef | null;
}

export function packInterrupt(row: InterruptRow): RowValue {
  const { status, type, callId, request, expiresAt, closedAt, answer } = row;
  return [status, type, callId, packPlace(request), expiresAt, closedAt, packPlace(answer)];
}

/** The turn is in the row's key. */
export function unpackInterrupt(turnId: TurnId, value: RowValue): InterruptRow {
  return {
    turnId,
    status: value[0] as InterruptStatus,
    type: value[1] as string,
    callId: value[2] as string | null,
    request: unpackPlace(value[3]) as LocalRef,
    expiresAt: value[4] as number | null,
    closedAt: value[5] as number | null,
    answer: unpackPlace(value[6]),
  };
}

export interface InputRow {
  readonly status: 'waiting' | 'delivered' | 'withdrawn';
  readonly mode: InputMode;
  /** When it came: its place in the queue. */
  readonly stamp: Stamp;
  readonly revision: number;
  /** The record of its words, in this conversation; they are gone once it no longer waits. */
  readonly words: LocalRef;
  /** The turn that it was delivered to. */
  readonly turnId: TurnId | null;
}

export function packInput(row: InputRow): RowValue {
  const { status, mode, stamp, revision, words, turnId } = row;
  return [status, mode, stamp.version, stamp.index, revision, words.version, words.index, turnId];
}

export function unpackInput(value: RowValue): InputRow {
  return {
    status: value[0] as InputRow['status'],
    mode: value[1] as InputMode,
    stamp: { version: value[2] as number, index: value[3] as number },
    revision: value[4] as number,
    words: { version: value[5] as number, index: value[6] as number },
    turnId: value[7] as TurnId | null,
  };
}

/** A memory as its shelf keeps it. */
export interface MemoryRow {
  readonly status: 'held' | 'forgotten';
  readonly revision: number;
  /** Its number among the memories of its namespace, from 1: their order, whatever the clock said. */
  readonly ordinal: number;
  /** The record of its newest words, in the conversation that it was made in. */
  readonly ref: RecordRef;
  /** Milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function packMemory({ status, revision, ordinal, ref, createdAt, updatedAt }: MemoryRow): RowValue {
  return [status, revision, [ref.version, ref.index, ref.owner], createdAt, updatedAt, ordinal];
}

export function unpackMemory(value: RowValue): MemoryRow {
  const [version, index, owner] = value[2] as unknown as readonly [number, number, ConversationId];
  return {
    status: value[0] as MemoryRow['status'],
    revision: value[1] as number,
    ref: { owner, version, index },
    createdAt: value[3] as number,
    updatedAt: value[4] as number,
    ordinal: value[5] as number,
  };
}

/** A task as an entry keeps it. */
export interface TaskEntry {
  readonly status: TaskStatus;
  /** The record of its title, assignee, metadata, parent and outcome. */
  readonly ref: RecordRef;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function packTask(entry: TaskEntry, own: ConversationId): RowValue {
  return [entry.status, packRef(entry.ref, own), entry.createdAt, entry.updatedAt];
}

export function unpackTask(value: RowValue, own: ConversationId): TaskEntry {
  return {
    status: value[0] as TaskStatus,
    ref: unpackRef(value[1], own),
    createdAt: value[2] as number,
    updatedAt: value[3] as number,
  };
}

/** Which task is active on a path and which was created last. */
export interface TaskPointer {
  readonly active: TaskId | null;
  readonly latest: TaskId | null;
}

export type CommitmentStatus = 'open' | 'fulfilled' | 'expired';

export interface CommitmentEntry {
  readonly status: CommitmentStatus;
  readonly ref: RecordRef;
  readonly createdAt: number;
  readonly resolvedAt: number | null;
}

export function packCommitment(entry: CommitmentEntry, own: ConversationId): RowValue {
  return [entry.status, packRef(entry.ref, own), entry.createdAt, entry.resolvedAt];
}

export function unpackCommitment(value: RowValue, own: ConversationId): CommitmentEntry {
  return {
    status: value[0] as CommitmentStatus,
    ref: unpackRef(value[1], own),
    createdAt: value[2] as number,
    resolvedAt: value[3] as number | null,
  };
}

export interface SummaryEntry {
  readonly upTo: MessageId;
  /** The highest sequence that it saw. */
  readonly seen: number;
  readonly ref: RecordRef;
}

export function packSummary(entry: SummaryEntry, own: ConversationId): RowValue {
  return [entry.upTo, entry.seen, packRef(entry.ref, own)];
}

export function unpackSummary(value: RowValue, own: ConversationId): SummaryEntry {
  return { upTo: value[0] as MessageId, seen: value[1] as number, ref: unpackRef(value[2], own) };
}

/** The names of entries on a path. */
export const ENTRIES = {
  state: 'state',
  summary: 'summary',
  /** The {@link TaskPointer}. */
  tasks: 'tasks',
  task: (taskId: string) => `task:${taskId}`,
  commitment: (commitmentId: string) => `commitment:${commitmentId}`,
} as const;
