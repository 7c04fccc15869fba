import type {
  AttemptId,
  CheckpointId,
  CommitId,
  CommitmentId,
  ConversationId,
  InterruptId,
  InputId,
  MemoryId,
  MessageId,
  NamespaceId,
  OperationId,
  PromptId,
  RunId,
  SummaryId,
  TaskId,
  TurnId,
  UsageId,
} from './ids.ts';
import type { Json } from './json.ts';
import type { Author, Fence, NewMessage, Part } from './message.ts';

export const TURN_STATES = [
  'preparing',
  'dispatching',
  'running',
  'waiting',
  'completed',
  'failed',
  'cancelled',
] as const;
/** Where a turn is. It moves forward only, may skip states, and ends in one of the last three; `waiting` may run again. */
export type TurnState = (typeof TURN_STATES)[number];

/** Why a turn stands beside others: it is the first, asks other words, or asks the same again. */
export type SiblingReason = 'start' | 'edit' | 'regenerate';

export const TASK_STATUSES = [
  'created',
  'running',
  'awaiting_approval',
  'completed',
  'failed',
  'cancelled',
  'superseded',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** The list fields of a conversation. Absent keeps what is there, `null` clears it. */
export interface ConversationFields {
  readonly title?: string | null | undefined;
  /** Who chose the title; an automatic one never replaces a person's. `user` when absent. */
  readonly titleSource?: 'auto' | 'user' | undefined;
  readonly owner?: string | null | undefined;
  readonly participants?: readonly string[] | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly pinned?: boolean | undefined;
  readonly archived?: boolean | undefined;
  readonly metadata?: Json | undefined;
  /** What a turn at work keeps busy: the `conversation` (from the start), or only the `path` that ends in it. */
  readonly busyScope?: 'conversation' | 'path' | undefined;
}

/** Creates the conversation, as its first change; `conversation_exists` otherwise. */
export interface ConversationCreate extends ConversationFields {
  readonly kind: 'conversation.create';
  /** Where an imported conversation came from; a fork's origin is kept by `conversation.fork`. */
  readonly origin?: { readonly kind: 'import'; readonly tool: string; readonly source: string } | undefined;
}

/** Changes list fields, or how far a reader has read. */
export interface ConversationUpdate extends ConversationFields {
  readonly kind: 'conversation.update';
  /**
   * How far a reader has read; it never goes back. Writing a message does not mark it as read: to do so, put this after the
   * message in its commit, with the sequence that the message will get (`lastSequence + 1`, under `expect.version`).
   */
  readonly readThrough?: { readonly reader: string; readonly sequence: number } | undefined;
}

/**
 * Appends one message. `turnId` absent: to the active leaf; `null`: to the root, which takes messages only before the
 * first turn. A message that answers tool calls stands in the turn of its call, wherever the leaf is.
 */
export interface MessageAppend {
  readonly kind: 'message.append';
  readonly message: NewMessage;
  readonly turnId?: TurnId | null | undefined;
}

/** Removes a message's words everywhere it is shared; its place, its digest and the reason stay. */
export interface MessageRedact {
  readonly kind: 'message.redact';
  readonly messageId: MessageId;
  readonly reason: string;
  /** What readers see in its place. Only the conversation that owns the message may give one, not a fork that inherits it. */
  readonly replacement?: readonly Part[] | undefined;
}

/** A turn or a message to stand under; `null` is the root. Naming one requires `expect.graphRevision`. */
export type Parent = null | { readonly turnId: TurnId } | { readonly messageId: MessageId };

/**
 * A prompt, its turn (`preparing`) and its open operation. The prompt's words come with `prompt`, or are those of an
 * earlier turn's with `samePromptAs` (a regeneration).
 */
export interface TurnSubmit {
  readonly kind: 'turn.submit';
  readonly turnId?: TurnId | undefined;
  /** Minted from the commit's id when absent. A known one answers what its first commit was answered. */
  readonly operationId?: OperationId | undefined;
  readonly messageId?: MessageId | undefined;
  readonly promptId?: PromptId | undefined;
  /** Absent: the active leaf. */
  readonly parent?: Parent | undefined;
  readonly prompt?: readonly Part[] | undefined;
  readonly samePromptAs?: TurnId | undefined;
  /** How the turn was started: by a prompt, a command or a shell command. `prompt` when absent. */
  readonly input?: 'prompt' | 'command' | 'shell' | undefined;
  readonly author?: Author | undefined;
  readonly metadata?: Json | undefined;
  readonly occurredAt?: string | undefined;
  readonly taskId?: TaskId | undefined;
  /**
   * What becomes of it while the conversation, or the path that it goes on from, has a turn at work. `reject` when absent.
   * `enqueue` and `steer` leave an input under the operation's id, and while inputs wait they queue behind them; they go on
   * from the active leaf and bring a prompt of their own. `interrupt` cancels the turns at work first.
   */
  readonly whenBusy?: 'reject' | 'enqueue' | 'steer' | 'interrupt' | undefined;
}

/** What a user said while a turn was at work: `queued` for the next turn, `steering` for the one at work. */
export type InputMode = 'queued' | 'steering';

/**
 * Leaves an input that waits, or replaces the words of one that still waits: `from` is then the revision that was read,
 * and the input keeps its place. Replaced words are removed.
 */
export interface InputEnqueue {
  readonly kind: 'input.enqueue';
  readonly inputId?: InputId | undefined;
  /** Absent: a new input, of revision 0. */
  readonly from?: number | undefined;
  /** `queued` when absent; in an edit the input's own. */
  readonly mode?: InputMode | undefined;
  readonly prompt: readonly Part[];
  readonly input?: 'prompt' | 'command' | 'shell' | undefined;
  readonly author?: Author | undefined;
  readonly metadata?: Json | undefined;
  readonly occurredAt?: string | undefined;
}

/**
 * Delivers an input, once: as the next turn under the active leaf, whose operation has the input's id, or as a message in
 * a turn that has not ended (`into`). Its words move to that message.
 */
export interface InputDeliver {
  readonly kind: 'input.deliver';
  /** Absent: the input that has waited longest; with `into`, the steering one that has waited longest. */
  readonly inputId?: InputId | undefined;
  readonly into?: TurnId | undefined;
  /** The new turn's. */
  readonly turnId?: TurnId | undefined;
  readonly messageId?: MessageId | undefined;
  readonly promptId?: PromptId | undefined;
}

/** Takes back a waiting input and removes its words. */
export interface InputWithdraw {
  readonly kind: 'input.withdraw';
  readonly inputId: InputId;
}

/** Moves a turn forward; states may be skipped, a terminal one is reached once. */
export interface TurnAdvance {
  readonly kind: 'turn.advance';
  readonly turnId: TurnId;
  readonly to: TurnState;
}

/** A completed turn in one commit; the messages and entries that follow it in the commit may stand in it. */
export interface TurnRecord {
  readonly kind: 'turn.record';
  readonly turnId?: TurnId | undefined;
  readonly parent?: Parent | undefined;
  /** Where it came from: `background`, `import`, …; a code. */
  readonly origin: string;
}

/** Makes a turn the active leaf: one of its own, or the one that a fork was cut at. Requires `expect.graphRevision`. */
export interface LeafSelect {
  readonly kind: 'leaf.select';
  readonly turnId: TurnId;
}

/** Ends an open operation, once. `failed` also fails its turn, if that has not ended. */
export interface OperationResolve {
  readonly kind: 'operation.resolve';
  readonly operationId: OperationId;
  readonly outcome:
    | { readonly status: 'succeeded' }
    | { readonly status: 'failed'; readonly code: string; readonly message: string };
}

/** Saves where a turn lives in a provider's own history. A `live` capture is never overwritten (`binding_live`). */
export interface BindingSave {
  readonly kind: 'binding.save';
  readonly turnId: TurnId;
  readonly history: string;
  readonly cursor: Json;
  readonly capture: 'live' | 'replay';
}

/** One launch of an agent: a process, a session with a provider. */
export interface RunStart {
  readonly kind: 'run.start';
  readonly runId?: RunId | undefined;
  /** Which agent, for a person. */
  readonly agent: string;
  /** The turn that it starts from. */
  readonly baseTurnId?: TurnId | undefined;
  readonly metadata?: Json | undefined;
}

export const RUN_STATUSES = ['running', 'completed', 'waiting', 'failed', 'cancelled'] as const;
/** `waiting`: it ended because its turn waits; another run goes on. */
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Ends a run, once, and says why if it did not complete. */
export interface RunEnd {
  readonly kind: 'run.end';
  readonly runId: RunId;
  readonly status: Exclude<RunStatus, 'running'>;
  readonly reason?: { readonly code: string; readonly message: string } | undefined;
}

/** Starts the first attempt at a turn, which then holds it: from then on the turn's moves and output need its fence. */
export interface AttemptStart {
  readonly kind: 'attempt.start';
  readonly attempt?: AttemptId | undefined;
  readonly turnId: TurnId;
  /** The run that tries it; one that has not ended. */
  readonly runId?: RunId | undefined;
}

/** Takes a turn over from the attempt that holds `fromToken`; answers with the next token. */
export interface AttemptTakeover {
  readonly kind: 'attempt.takeover';
  readonly attempt?: AttemptId | undefined;
  readonly turnId: TurnId;
  readonly fromToken: number;
  readonly runId?: RunId | undefined;
}

/**
 * What may be done about a step that was started and whose end nobody recorded: never repeat it unasked, repeat it (`safe`),
 * or repeat it once somebody has looked up that it was not done (`reconcile`).
 */
export type StepRepeat = 'never' | 'safe' | 'reconcile';

/**
 * Records that a step is about to be done. A key stands for one step of its turn; without one, it is the tool call's id. A
 * restart has the same name and input.
 */
export interface StepStart {
  readonly kind: 'step.start';
  readonly turnId: TurnId;
  readonly key?: string | undefined;
  readonly callId?: string | undefined;
  /** `never` when absent. */
  readonly repeat?: StepRepeat | undefined;
  readonly name?: string | undefined;
  readonly input?: Json | undefined;
}

/** How a step ended. If its result is a message of the turn, `messageId` names it and the result is stored only there. */
export type StepOutcome =
  | { readonly status: 'succeeded'; readonly result?: Json | undefined; readonly messageId?: MessageId | undefined }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/** Records the outcome of a step that this attempt started. */
export interface StepFinish {
  readonly kind: 'step.finish';
  readonly turnId: TurnId;
  readonly key: string;
  readonly outcome: StepOutcome;
}

/** Says how a step without an outcome ended, or that it may be done again, on the word of whoever looked it up or decided. */
export interface StepSettle {
  readonly kind: 'step.settle';
  readonly turnId: TurnId;
  readonly key: string;
  readonly outcome: StepOutcome | { readonly status: 'retry' };
}

/** A question that the turn waits on. `advance` it to `waiting` when nothing else in it is at work. */
export interface InterruptRequest {
  readonly kind: 'interrupt.request';
  readonly interruptId?: InterruptId | undefined;
  readonly turnId: TurnId;
  /** What is asked for: `approval`, `input`, `client_tool`, …; a code. */
  readonly type: string;
  readonly callId?: string | undefined;
  readonly payload: Json;
  /** ISO 8601 with a time zone. From then on it may be expired. */
  readonly expiresAt?: string | undefined;
}

/** Answers an interrupt. The first answer stands; a later one is told. */
export interface InterruptAnswer {
  readonly kind: 'interrupt.answer';
  readonly interruptId: InterruptId;
  readonly by: string;
  readonly response: Json;
}

/** Ends an unanswered interrupt: once its time has passed, or at any time if it has none. */
export interface InterruptExpire {
  readonly kind: 'interrupt.expire';
  readonly interruptId: InterruptId;
}

/** Removes the words of an interrupt: what was asked, and who answered what. The fact that it was asked and answered stays. */
export interface InterruptRedact {
  readonly kind: 'interrupt.redact';
  readonly interruptId: InterruptId;
  readonly reason: string;
}

/** A part of a checkpoint's payload: JSON, or bytes in base64. */
export type CheckpointPart = { readonly json: Json } | { readonly base64: string };

/** Creates revision 0 of a checkpoint; `checkpoint_exists` otherwise. */
export interface CheckpointCreate {
  readonly kind: 'checkpoint.create';
  readonly checkpointId?: CheckpointId | undefined;
  /** What the payload is, for the agent that reads it: a code. */
  readonly type: string;
  readonly schemaVersion?: number | undefined;
  readonly phase?: string | undefined;
  readonly scope?: string | undefined;
  readonly parent?: { readonly checkpointId: CheckpointId; readonly revision: number } | undefined;
  readonly payload: { readonly [part: string]: CheckpointPart };
  readonly metadata?: Json | undefined;
}

/** Replaces revision `from` by the next one; `payload` is whole, a part that did not change is not stored again. */
export interface CheckpointAdvance {
  readonly kind: 'checkpoint.advance';
  readonly checkpointId: CheckpointId;
  readonly from: number;
  readonly phase?: string | undefined;
  readonly payload: { readonly [part: string]: CheckpointPart };
  readonly metadata?: Json | undefined;
}

/** A pending write beside a revision, ordered by (task path, task, index). Writing to the same place again replaces it. */
export interface CheckpointWrite {
  readonly kind: 'checkpoint.write';
  readonly checkpointId: CheckpointId;
  readonly revision: number;
  readonly taskPath?: string | undefined;
  readonly task: string;
  readonly index: number;
  readonly channel: string;
  readonly value: CheckpointPart;
}

interface OnPath {
  /** The turn whose path this holds for: a running one. Absent: the active leaf. */
  readonly turnId?: TurnId | undefined;
}

/** Creates a task and makes it the active one of its path; `active_task` while there is one. */
export interface TaskCreate extends OnPath {
  readonly kind: 'task.create';
  readonly taskId?: TaskId | undefined;
  readonly title: string;
  readonly parentTaskId?: TaskId | undefined;
  readonly assignee?: string | undefined;
  readonly metadata?: Json | undefined;
}

/** Gives a task new words: absent keeps, `null` clears. Its id and status stay. */
export interface TaskAmend extends OnPath {
  readonly kind: 'task.amend';
  readonly taskId: TaskId;
  readonly title?: string | undefined;
  readonly assignee?: string | null | undefined;
  readonly metadata?: Json | undefined;
}

/** Moves a task along `TASK_TRANSITIONS`; `illegal_transition` otherwise. */
export interface TaskTransition extends OnPath {
  readonly kind: 'task.transition';
  readonly taskId: TaskId;
  readonly to: TaskStatus;
  /** Where to find the outcome. */
  readonly outcomeRef?: string | undefined;
}

/** Working state: absent keeps, `null` clears, a value replaces. */
export interface StateUpdate extends OnPath {
  readonly kind: 'state.update';
  readonly objective?: string | null | undefined;
  readonly stage?: string | null | undefined;
  readonly nextStep?: string | null | undefined;
  readonly blockers?: readonly string[] | null | undefined;
  readonly plan?: readonly Json[] | null | undefined;
}

/** Adds an open promise, constraint or decision. */
export interface CommitmentAdd extends OnPath {
  readonly kind: 'commitment.add';
  readonly commitmentId?: CommitmentId | undefined;
  readonly content: string;
  /** `constraint`, `decision`, …: trimmed and lower-cased. A content that starts with `constraint:` or `decision:` counts as that kind. */
  readonly type?: string | undefined;
}

/** Which commitment: one by id, or every open one whose content contains the text. */
export type CommitmentSelector = { readonly commitmentId: CommitmentId } | { readonly matching: string };

/** Fulfils open commitments; `no_commitment` if none fits. */
export interface CommitmentResolve extends OnPath {
  readonly kind: 'commitment.resolve';
  readonly which: CommitmentSelector;
}

/** Expires open commitments; `no_commitment` if none fits. */
export interface CommitmentExpire extends OnPath {
  readonly kind: 'commitment.expire';
  readonly which: CommitmentSelector;
}

/**
 * Creates a memory of the namespace, or replaces it whole: `from` is then the revision that was read. `text` null forgets
 * it, all revisions. Its words stand in this conversation.
 */
export interface MemoryUpsert {
  readonly kind: 'memory.upsert';
  readonly memoryId?: MemoryId | undefined;
  /** Absent: a new memory, of revision 0. */
  readonly from?: number | undefined;
  readonly text: string | null;
  /** What it is: `preference`, `fact`; a code. */
  readonly type?: string | undefined;
  /** The person that it is about: it goes with their erasure. */
  readonly subject?: string | undefined;
  readonly author?: Author | undefined;
  /** The messages that it was made of; this conversation sees them. It goes with the words of any of them. */
  readonly sources?: readonly MessageId[] | undefined;
  readonly metadata?: Json | undefined;
}

/**
 * What a model call used, as its provider counts it; it belongs in the commit of what the call paid for. The same usage
 * id again is a no-op with the same content, a conflict with other content.
 */
export interface UsageRecord {
  readonly kind: 'usage.record';
  /** The provider's id of the call, if known: then no two commits count it twice. */
  readonly usageId?: UsageId | undefined;
  /** The conversation's own turn that it counts for, in whatever state. Absent: it counts for the conversation alone. */
  readonly turnId?: TurnId | undefined;
  readonly provider: string;
  readonly model: string;
  readonly inputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  readonly latencyMs?: number | undefined;
  /** `amount` is a decimal as text: sums are exact. `currency` is three capital letters, as ISO 4217 has them. */
  readonly cost?: { readonly amount: string; readonly currency: string } | undefined;
  /** What it was for: `answer`, `title`, `summary`; a code. */
  readonly purpose?: string | undefined;
  /** The provider's own account. */
  readonly raw?: Json | undefined;
}

/** Lossy text for the path up to and including `upTo`. Requires `expect.transcript`: what it was made from. */
export interface SummaryCommit extends OnPath {
  readonly kind: 'summary.commit';
  readonly summaryId?: SummaryId | undefined;
  readonly upTo: MessageId;
  readonly text: string;
  readonly metadata?: Json | undefined;
}

/** Makes the commit's conversation a fork of `source`, cut after `at`. It is the first change of its commit. */
export interface ConversationFork extends ConversationFields {
  readonly kind: 'conversation.fork';
  readonly source: ConversationId;
  readonly at: MessageId;
}

/**
 * Makes the commit's conversation a sub-agent's, under a turn of its parent that has not ended and, if named, a call
 * in it. It is the first change of its commit. Its usage counts upward; it is cancelled and erased with its parent.
 */
export interface ConversationSpawn extends ConversationFields {
  readonly kind: 'conversation.spawn';
  readonly parent: {
    readonly conversationId: ConversationId;
    readonly turnId: TurnId;
    readonly callId?: string | undefined;
  };
  /** Who it is, for a person. */
  readonly agent?: string | undefined;
}

/** Erases the conversation, and its sub-agents' with it. It is its commit's only change. */
export interface ConversationErase {
  readonly kind: 'conversation.erase';
  readonly reason?: string | undefined;
}

export type Change =
  | ConversationCreate
  | ConversationUpdate
  | ConversationFork
  | ConversationSpawn
  | ConversationErase
  | MessageAppend
  | MessageRedact
  | TurnSubmit
  | InputEnqueue
  | InputDeliver
  | InputWithdraw
  | TurnAdvance
  | TurnRecord
  | LeafSelect
  | OperationResolve
  | BindingSave
  | RunStart
  | RunEnd
  | AttemptStart
  | AttemptTakeover
  | StepStart
  | StepFinish
  | StepSettle
  | InterruptRequest
  | InterruptAnswer
  | InterruptExpire
  | InterruptRedact
  | CheckpointCreate
  | CheckpointAdvance
  | CheckpointWrite
  | TaskCreate
  | TaskAmend
  | TaskTransition
  | StateUpdate
  | CommitmentAdd
  | CommitmentResolve
  | CommitmentExpire
  | SummaryCommit
  | UsageRecord
  | MemoryUpsert;

export type ChangeKind = Change['kind'];
export type ChangeOf<Kind extends ChangeKind> = Extract<Change, { readonly kind: Kind }>;

/** What the caller saw. Each given field is checked; an absent one checks nothing. */
export interface Expect {
  readonly version?: number | undefined;
  readonly graphRevision?: number | undefined;
  readonly leaf?: TurnId | null | undefined;
  /** The highest sequence on the path to `turn`, late tool results included; 0 on an empty path. */
  readonly transcript?: { readonly turn: TurnId | null; readonly lastSequence: number } | undefined;
}

/** The atomic, idempotent unit of change to a conversation, as plain data. */
export interface Commit {
  readonly commitId: CommitId;
  readonly namespace: NamespaceId;
  readonly conversationId: ConversationId;
  readonly expect?: Expect | undefined;
  readonly fence?: Fence | undefined;
  /** Applied in order, all or nothing. */
  readonly changes: readonly Change[];
}
