import type { ChangeKind, InputMode, RunStatus, SiblingReason, StepOutcome, TaskStatus, TurnState } from './change.ts';
import type {
  AttemptId,
  CheckpointId,
  CommitmentId,
  ConversationId,
  InputId,
  InterruptId,
  MemoryId,
  MessageId,
  OperationId,
  PromptId,
  RunId,
  SummaryId,
  TaskId,
  TurnId,
  UsageId,
} from './ids.ts';

/** The index of the record, within its commit, that holds a change's words. */
interface Recorded {
  readonly record: number;
}

interface MayBeRecorded {
  readonly record?: number | undefined;
}

/** A turn with its prompt's message. `record` is absent where the prompt was said before. */
export interface TurnStarted extends MayBeRecorded {
  readonly turnId: TurnId;
  readonly operationId: OperationId;
  readonly messageId: MessageId;
  readonly promptId: PromptId;
  readonly sequence: number;
  /** Among the turns under the same parent; 1 is the first. */
  readonly ordinal: number;
  readonly why: SiblingReason;
}

interface MessageAppended extends Recorded {
  readonly messageId: MessageId;
  /** `null`: it stands at the root. */
  readonly turnId: TurnId | null;
  readonly sequence: number;
  /** Its turn had ended: it answers a tool call late. */
  readonly late?: true | undefined;
}

/** The same message was there. */
interface MessageThere {
  readonly messageId: MessageId;
  readonly sequence: number;
  readonly noop: true;
  readonly record?: undefined;
}

interface AttemptHeld {
  readonly attempt: AttemptId;
  readonly turnId: TurnId;
  readonly token: number;
  readonly runId?: RunId | undefined;
}

interface InterruptOf {
  readonly interruptId: InterruptId;
  readonly turnId: TurnId;
}

interface StepOf {
  readonly turnId: TurnId;
  readonly key: string;
}

interface StepEnded extends StepOf, Recorded {
  readonly status: StepOutcome['status'];
}

interface CommitmentsClosed {
  readonly commitmentIds: readonly CommitmentId[];
}

/** The fields of each kind's event, besides the kind. */
interface EventFields {
  /** `record` is absent where no fields were given. */
  'conversation.create': MayBeRecorded;
  'conversation.update': MayBeRecorded;
  'conversation.fork': MayBeRecorded & {
    readonly source: ConversationId;
    readonly at: MessageId;
    /** The source's version that it was cut from. */
    readonly sourceVersion: number;
    /** The sequence of its first own message. */
    readonly startSequence: number;
  };
  'conversation.spawn': MayBeRecorded & {
    readonly parent: ConversationId;
    readonly turnId: TurnId;
    readonly callId: string | null;
  };
  'conversation.erase': { readonly reason?: string | undefined };
  'message.append': MessageAppended | MessageThere;
  /** `record` is the replacement's; `noop` where the words were gone before. */
  'message.redact': MayBeRecorded & { readonly messageId: MessageId; readonly noop?: true | undefined };
  /** `interrupted` names the turns that were stopped for it. */
  'turn.submit': TurnStarted & { readonly interrupted?: readonly TurnId[] | undefined };
  'turn.advance': { readonly turnId: TurnId; readonly from: TurnState; readonly to: TurnState };
  'turn.record': Pick<TurnStarted, 'turnId' | 'ordinal' | 'why'> & { readonly origin: string };
  'input.enqueue': Recorded & { readonly inputId: InputId; readonly mode: InputMode; readonly revision: number };
  /** It became a message of a turn at work, or started a turn and then has that turn's `operationId`. */
  'input.deliver':
    | (Recorded & Pick<TurnStarted, 'turnId' | 'messageId' | 'sequence'> & { readonly inputId: InputId })
    | (TurnStarted & { readonly inputId: InputId });
  'input.withdraw': { readonly inputId: InputId };
  'leaf.select': { readonly turnId: TurnId };
  'operation.resolve': MayBeRecorded & {
    readonly operationId: OperationId;
    readonly status: 'succeeded' | 'failed';
    readonly turnId: TurnId;
  };
  'binding.save': Recorded & {
    readonly turnId: TurnId;
    readonly history: string;
    readonly capture?: string | undefined;
  };
  'run.start': Recorded & { readonly runId: RunId; readonly baseTurnId: TurnId | null };
  'run.end': Recorded & { readonly runId: RunId; readonly status: RunStatus };
  'attempt.start': AttemptHeld;
  'attempt.takeover': AttemptHeld;
  /** `record` is absent where the step was started before, and is done again. */
  'step.start': StepOf & MayBeRecorded & { readonly starts: number; readonly callId?: string | undefined };
  'step.finish': StepEnded;
  'step.settle': StepEnded | (StepOf & { readonly status: 'retry' });
  'interrupt.request': InterruptOf & Recorded & { readonly type: string };
  'interrupt.answer': InterruptOf & Recorded;
  'interrupt.expire': InterruptOf;
  'interrupt.redact': InterruptOf & { readonly noop?: true | undefined };
  'checkpoint.create': Recorded & { readonly checkpointId: CheckpointId; readonly revision: number };
  'checkpoint.advance': Recorded & { readonly checkpointId: CheckpointId; readonly revision: number };
  'checkpoint.write': Recorded & {
    readonly checkpointId: CheckpointId;
    readonly revision: number;
    readonly task: string;
    readonly index: number;
  };
  'task.create': Recorded & { readonly taskId: TaskId };
  'task.amend': Recorded & { readonly taskId: TaskId };
  'task.transition': MayBeRecorded & {
    readonly taskId: TaskId;
    readonly from: TaskStatus;
    readonly to: TaskStatus;
  };
  'state.update': Recorded & { readonly stateVersion: number };
  'commitment.add': Recorded & { readonly commitmentId: CommitmentId };
  'commitment.resolve': CommitmentsClosed;
  'commitment.expire': CommitmentsClosed;
  /** `seen`: the highest sequence on the path that the summary's author saw. */
  'summary.commit': Recorded & { readonly summaryId: SummaryId; readonly upTo: MessageId; readonly seen: number };
  /** `noop` where the same was recorded before. */
  'usage.record':
    | (Recorded & { readonly usageId: UsageId; readonly turnId?: TurnId | undefined })
    | { readonly usageId: UsageId; readonly noop: true; readonly record?: undefined };
  'memory.upsert':
    | (Recorded & { readonly memoryId: MemoryId; readonly revision: number })
    | { readonly memoryId: MemoryId; readonly forgotten: true; readonly record?: undefined };
}

/**
 * The mark that a change leaves: its kind, the ids and numbers that it was given, and the record that holds its words.
 * It is what the log's header keeps, what a receipt answers and what a watcher is handed. `turn.submit` leaves an
 * `input.enqueue` if it has to wait.
 */
export type ChangeEvent<Kind extends ChangeKind = ChangeKind> = {
  readonly [One in ChangeKind]: { readonly kind: One } & EventFields[One];
}[Kind];

type KeysOf<Event> = Event extends unknown ? keyof Event : never;
type ValueOf<Event, Field extends PropertyKey> = Event extends unknown
  ? Field extends keyof Event
    ? Event[Field]
    : never
  : never;

/** A field of an event, if events of its kind have it. */
export function fieldOf<Field extends KeysOf<ChangeEvent>>(
  event: ChangeEvent | undefined,
  field: Field,
): ValueOf<ChangeEvent, Field> | undefined {
  return event && has(event, field) ? event[field] : undefined;
}

function has<Field extends KeysOf<ChangeEvent>>(
  event: object,
  field: Field,
): event is Record<Field, ValueOf<ChangeEvent, Field>> {
  return field in event;
}
