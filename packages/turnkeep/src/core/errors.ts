import type { Json } from './json.ts';

/**
 * When a caller may try again:
 * - `never`: the same request can only fail again;
 * - `same_request`: sending exactly this request again is safe and may succeed;
 * - `after_reread`: read the conversation again and decide anew;
 * - `after_delay`: the store is busy or out of a resource, wait first;
 * - `ask_outcome`: it is unknown whether the commit happened; send the same commit id again to learn it.
 */
export type Retry = 'never' | 'same_request' | 'after_reread' | 'after_delay' | 'ask_outcome';

/** What a fence or a state machine concerns. */
export type Machine = 'task' | 'turn' | 'commitment' | 'operation';

/** The typed details of every error code. */
export interface ErrorDetails {
  // Input
  invalid_value: { readonly path: string; readonly reason: string };
  limit_exceeded: {
    readonly limit: string;
    readonly max: number;
    readonly path: string;
    readonly actual?: number | undefined;
  };
  expect_required: { readonly field: 'graphRevision' | 'transcript'; readonly change: string };
  unsupported: { readonly what: string };
  // Concurrency
  conflict: { readonly field: string; readonly expected: Json; readonly actual: Json };
  commit_id_reused: { readonly commitId: string };
  busy: { readonly turnId: string; readonly state: string };
  path_busy: { readonly turnId: string; readonly state: string };
  operation_open: { readonly operationId: string };
  fenced: { readonly turnId: string; readonly attempt: string; readonly token: number; readonly currentToken: number };
  fence_required: { readonly turnId: string; readonly change: string };
  // Conversations
  conversation_not_found: { readonly conversationId: string };
  parent_ended: { readonly conversationId: string; readonly turnId: string; readonly state: string };
  conversation_exists: { readonly conversationId: string };
  erased: { readonly conversationId: string; readonly erasedAt: string };
  // Turns and messages
  no_turn: { readonly turnId: string | null };
  no_parent: { readonly parent: string };
  turn_exists: { readonly turnId: string };
  turn_terminal: { readonly turnId: string; readonly state: string };
  turn_open: { readonly turnId: string; readonly state: string };
  turn_not_running: { readonly turnId: string; readonly state: string };
  no_message: { readonly messageId: string };
  message_conflict: { readonly messageId: string };
  prompt_conflict: { readonly promptId: string };
  redacted: { readonly messageId: string };
  /** `path`: the part of a commit that names it. */
  attachment_missing: { readonly digest: string; readonly path?: string | undefined };
  no_call: { readonly callId: string };
  call_exists: { readonly callId: string; readonly turnId: string | null };
  already_answered: { readonly callId: string };
  illegal_transition: { readonly machine: Machine; readonly id: string; readonly from: string; readonly to: string };
  no_operation: { readonly operationId: string };
  operation_resolved: { readonly operationId: string; readonly status: 'succeeded' | 'failed' };
  binding_live: { readonly turnId: string; readonly history: string };
  input_exists: { readonly inputId: string };
  no_input: { readonly inputId: string | null };
  input_settled: { readonly inputId: string; readonly status: 'delivered' | 'withdrawn' };
  input_conflict: {
    readonly inputId: string;
    readonly expectedRevision: number;
    readonly actualRevision: number;
  };
  attempt_exists: { readonly turnId: string; readonly attempt: string };
  no_attempt: { readonly attempt: string };
  run_exists: { readonly runId: string };
  no_run: { readonly runId: string };
  run_ended: { readonly runId: string; readonly status: string };
  no_step: { readonly turnId: string; readonly key: string };
  step_ended: { readonly turnId: string; readonly key: string; readonly status: string };
  step_conflict: { readonly turnId: string; readonly key: string };
  /** `reason`: what kept one that can be looked up from being so. */
  ambiguous: { readonly turnId: string; readonly keys: readonly string[]; readonly reason?: string | undefined };
  interrupt_exists: { readonly interruptId: string };
  no_interrupt: { readonly interruptId: string };
  interrupt_closed: { readonly interruptId: string; readonly status: string };
  interrupt_not_due: { readonly interruptId: string; readonly expiresAt: string };
  // State
  // Agents
  turn_held: { readonly turnId: string; readonly attempt: string; readonly token: number };
  turn_failed: { readonly turnId: string; readonly code: string; readonly message: string };
  step_failed: { readonly turnId: string; readonly key: string; readonly code: string; readonly message: string };
  not_completed: { readonly turnId: string; readonly reason: string; readonly answer: Json };
  checkpoint_exists: { readonly checkpointId: string; readonly revision: number };
  no_checkpoint: { readonly checkpointId: string };
  checkpoint_conflict: {
    readonly checkpointId: string;
    readonly expectedRevision: number;
    readonly actualRevision: number;
  };
  task_exists: { readonly taskId: string };
  active_task: { readonly taskId: string };
  no_task: { readonly taskId: string };
  commitment_exists: { readonly commitmentId: string };
  no_commitment: { readonly commitmentId?: string | undefined; readonly matching?: string | undefined };
  memory_exists: { readonly memoryId: string };
  no_memory: { readonly memoryId: string };
  memory_conflict: {
    readonly memoryId: string;
    readonly expectedRevision: number;
    readonly actualRevision: number;
  };
  usage_conflict: { readonly usageId: string };
  summary_not_longer: { readonly upTo: string; readonly covered: string };
  // Reading
  context_too_large: {
    readonly what: 'instructions' | 'summary' | 'messages';
    readonly budgetTokens: number;
    readonly neededTokens: number;
  };
  bad_cursor: { readonly reason: string };
  group_too_large: { readonly count: number };
  // The store
  corrupt: { readonly place: string; readonly reason: string };
  store_foreign: { readonly place: string; readonly reason: string };
  store_newer: { readonly place: string; readonly found: number; readonly supported: number };
  store_locked: { readonly place: string; readonly owner?: string | undefined };
  store_busy: { readonly waitedMs: number };
  store_full: { readonly place: string };
  store_unavailable: { readonly place: string; readonly reason: string };
  overloaded: { readonly queued: number };
  outcome_unknown: { readonly commitId: string; readonly reason: string };
  aborted: { readonly reason: string };
  closed: { readonly what: string };
}

export type ErrorCode = keyof ErrorDetails;

interface ErrorRule {
  readonly retry: Retry;
  /** One sentence for a person, without the details. */
  readonly says: string;
}

/** The code table: what each code says and when to try again. `docs/errors.md` is its page. */
export const ERRORS: { readonly [Code in ErrorCode]: ErrorRule } = {
  invalid_value: { retry: 'never', says: 'A value does not have the expected shape' },
  limit_exceeded: { retry: 'never', says: 'A value is larger than its limit' },
  expect_required: { retry: 'after_reread', says: 'This change needs an expectation that says what the caller saw' },
  unsupported: { retry: 'never', says: 'This store cannot do that' },
  conflict: { retry: 'after_reread', says: 'The conversation is not as expected' },
  commit_id_reused: { retry: 'never', says: 'This commit id stands for another commit' },
  busy: { retry: 'after_delay', says: 'A turn of this conversation is still at work' },
  path_busy: { retry: 'after_delay', says: 'The parent turn is not finished' },
  operation_open: { retry: 'after_delay', says: 'Another operation of this conversation is open' },
  fenced: { retry: 'never', says: 'Another attempt holds this turn' },
  fence_required: { retry: 'never', says: 'This turn is held by an attempt, and the commit carries no fence' },
  conversation_not_found: { retry: 'never', says: 'There is no such conversation' },
  parent_ended: { retry: 'never', says: 'The turn that this sub-agent works for was cancelled or has failed' },
  conversation_exists: { retry: 'never', says: 'The conversation exists' },
  erased: { retry: 'never', says: 'The conversation was erased' },
  no_turn: { retry: 'never', says: 'No such turn takes this' },
  no_parent: { retry: 'never', says: 'The parent is not visible to this conversation' },
  turn_exists: { retry: 'never', says: 'The turn exists' },
  turn_terminal: { retry: 'never', says: 'The turn has ended' },
  turn_open: { retry: 'after_delay', says: 'The turn has not ended' },
  turn_not_running: { retry: 'after_reread', says: 'The turn is not at work' },
  no_message: { retry: 'never', says: 'No such message is visible to this conversation' },
  message_conflict: { retry: 'never', says: 'The message exists with other content' },
  prompt_conflict: { retry: 'never', says: 'The prompt exists with other content' },
  redacted: { retry: 'never', says: 'The message was redacted' },
  attachment_missing: { retry: 'never', says: 'The namespace has no such attachment: its bytes are to be put first' },
  no_call: { retry: 'never', says: 'No tool call with this id is known' },
  call_exists: { retry: 'never', says: 'The turn has a tool call with this id' },
  already_answered: { retry: 'never', says: 'The tool call has a result' },
  illegal_transition: { retry: 'after_reread', says: 'This move is not allowed' },
  no_operation: { retry: 'never', says: 'There is no such operation' },
  operation_resolved: { retry: 'never', says: 'The operation was resolved' },
  binding_live: { retry: 'never', says: 'A live capture is never overwritten' },
  input_exists: { retry: 'never', says: 'The input exists' },
  no_input: { retry: 'after_reread', says: 'No such input waits' },
  input_settled: { retry: 'never', says: 'The input was delivered or withdrawn' },
  input_conflict: { retry: 'after_reread', says: 'The input is at another revision' },
  attempt_exists: { retry: 'after_reread', says: 'The turn has an attempt' },
  no_attempt: { retry: 'never', says: 'There is no such attempt' },
  run_exists: { retry: 'never', says: 'The run exists' },
  no_run: { retry: 'never', says: 'There is no such run' },
  run_ended: { retry: 'never', says: 'The run has ended' },
  no_step: { retry: 'never', says: 'The turn has no such step' },
  step_ended: { retry: 'after_reread', says: 'The step has its outcome' },
  step_conflict: { retry: 'never', says: 'The step was started with another name or input' },
  ambiguous: {
    retry: 'never',
    says: 'Nobody knows whether these steps were done: settle them, or say that they may be repeated',
  },
  interrupt_exists: { retry: 'never', says: 'The interrupt exists' },
  no_interrupt: { retry: 'never', says: 'There is no such interrupt' },
  interrupt_closed: { retry: 'after_reread', says: 'The interrupt was answered, expired or withdrawn' },
  interrupt_not_due: { retry: 'after_delay', says: 'The interrupt may still be answered' },
  turn_held: { retry: 'after_delay', says: 'Somebody else works on this turn' },
  turn_failed: { retry: 'never', says: 'The turn failed' },
  step_failed: { retry: 'never', says: 'The step failed, and is not safe to repeat' },
  not_completed: { retry: 'after_reread', says: 'The answer of the turn was not committed; it is handed back' },
  checkpoint_exists: { retry: 'after_reread', says: 'The checkpoint exists' },
  no_checkpoint: { retry: 'never', says: 'There is no such checkpoint' },
  checkpoint_conflict: { retry: 'after_reread', says: 'The checkpoint is at another revision' },
  task_exists: { retry: 'never', says: 'The task exists' },
  active_task: { retry: 'after_reread', says: 'The path has an active task' },
  no_task: { retry: 'never', says: 'No such task is visible on this path' },
  commitment_exists: { retry: 'never', says: 'The commitment exists' },
  no_commitment: { retry: 'never', says: 'No open commitment fits' },
  memory_exists: { retry: 'never', says: 'The memory exists, or was forgotten' },
  no_memory: { retry: 'never', says: 'There is no such memory, or it was forgotten' },
  memory_conflict: { retry: 'after_reread', says: 'The memory is at another revision' },
  usage_conflict: { retry: 'never', says: 'The usage was recorded with other content' },
  summary_not_longer: { retry: 'after_reread', says: 'The summary does not cover more than the last one' },
  context_too_large: { retry: 'never', says: 'What a model must be told does not fit the budget' },
  bad_cursor: { retry: 'after_reread', says: 'The cursor does not fit this conversation' },
  group_too_large: { retry: 'never', says: 'A tool call and its results do not fit the window' },
  corrupt: { retry: 'never', says: 'Stored data is damaged' },
  store_foreign: { retry: 'never', says: 'This is not a store of ours' },
  store_newer: { retry: 'never', says: 'The store was written by a newer version' },
  store_locked: { retry: 'after_delay', says: 'Another writer holds the store' },
  store_busy: { retry: 'after_delay', says: 'The store stayed busy until the deadline' },
  store_full: { retry: 'after_delay', says: 'No space is left for the store' },
  store_unavailable: { retry: 'after_delay', says: 'The store cannot be reached' },
  overloaded: { retry: 'after_delay', says: 'Too many commits wait for the writer' },
  outcome_unknown: { retry: 'ask_outcome', says: 'It is unknown whether the commit became durable' },
  aborted: { retry: 'same_request', says: 'The caller gave up' },
  closed: { retry: 'never', says: 'This handle is closed' },
};

/** An error in a form that crosses threads and wires. */
export interface ErrorData {
  readonly code: ErrorCode;
  readonly details: ErrorDetails[ErrorCode];
}

/** The one error class. Narrow it with {@link isTurnkeepError}. */
export class TurnkeepError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly retry: Retry;
  readonly details: ErrorDetails[Code];

  constructor(code: Code, details: ErrorDetails[Code], options?: ErrorOptions) {
    super(`${ERRORS[code].says} (${code}: ${describe(details)})`, options);
    this.name = 'TurnkeepError';
    this.code = code;
    this.retry = ERRORS[code].retry;
    this.details = details;
  }

  /** The plain data of this error; {@link errorFromData} makes the same error of it on the other side. */
  toData(): ErrorData {
    return { code: this.code, details: this.details };
  }
}

/** True if `error` is ours, of the code that is named (of any code when none is). */
export function isTurnkeepError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is TurnkeepError<Code> {
  return error instanceof TurnkeepError && (code === undefined || error.code === code);
}

/** The error that {@link TurnkeepError.toData} was taken from. */
export function errorFromData(data: ErrorData): TurnkeepError {
  return new TurnkeepError(data.code, data.details);
}

/** Stops on a mistake of our own. It is on in production and is never caught to try again. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`turnkeep invariant broken: ${message}`);
}

function describe(details: object): string {
  return Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : wordsOf(value)}`)
    .join(', ');
}

/** As JSON where possible: a caller without types may pass what JSON cannot express, and still gets an error that shows it. */
function wordsOf(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? typeof value;
  } catch {
    return typeof value;
  }
}
