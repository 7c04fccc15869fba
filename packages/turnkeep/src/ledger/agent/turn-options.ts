import type { Expect, UsageRecord } from '../../core/change.ts';
import { TurnkeepError } from '../../core/errors.ts';
import { assertId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import type { MessageNotes, NewMessage, Part } from '../../core/message.ts';
import { assertShape, messageNotes } from '../../core/shapes.ts';
import { anything, assertChecked, assertFits, callback, flag, list, oneOf, text } from '../given.ts';
import type { Checks } from '../given.ts';
import type { Reconciled } from './reconciled.ts';

/** Whether a step may be repeated when nobody knows if it was done, and what is recorded of it. */
export interface StepOptions<Result> {
  /** `safe`: it may be done again. `never` when absent. */
  readonly retry?: 'safe' | 'never' | undefined;
  /** Looks up whether the step was done, and with what result; if it was not, it is done again. */
  readonly reconcile?: (() => Promise<Reconciled<Result>>) | undefined;
  readonly name?: string | undefined;
  readonly input?: Json | undefined;
}

/** {@link StepOptions} without name and input, which are the call's. */
export type ToolOptions = Omit<StepOptions<Json>, 'name' | 'input'> & {
  /** Notes of the tool message. */
  readonly message?: MessageNotes | undefined;
};

/** Returns the parts of a model's answer: text and reasoning in pieces or whole, each tool call as one whole part. */
export type ModelCall = (signal: AbortSignal) => AsyncIterable<Part> | Iterable<Part> | Promise<readonly Part[]>;

/** What a model call used; it counts for the turn. */
export type CallUsage = Omit<UsageRecord, 'kind' | 'turnId'>;

/** What becomes of a model call's parts. */
export interface ModelOptions {
  /** Notes of the assistant's message. */
  readonly message?: MessageNotes | undefined;
  /**
   * Called when all parts have arrived; what it returns is recorded in the commit of the message. If it throws, or returns
   * what cannot be stored, the message is recorded without it, and then the model call throws that error.
   */
  readonly usage?: (() => CallUsage | undefined) | undefined;
}

/** How a turn ends. */
export interface Completion {
  readonly messages?: readonly NewMessage[] | undefined;
  /** What the last model call used; recorded once, with the answer. */
  readonly usage?: CallUsage | undefined;
  /** What the agent saw; if that has changed, the answer comes back with the error (`not_completed`). */
  readonly expect?: Expect | undefined;
}

/** How a turn is given up from within. */
export interface Cancellation {
  readonly reason: string;
  /** Keeps what was drafted as an incomplete message. */
  readonly keepDraft?: boolean | undefined;
}

/** What a tool and a step have in common. */
export const REPEATABLE: Checks<Pick<ToolOptions, 'retry' | 'reconcile'>> = {
  retry: oneOf('safe', 'never'),
  reconcile: callback,
};

// Its input and its message are checked elsewhere, with their own errors.
const STEP: Checks<StepOptions<Json>> = { ...REPEATABLE, name: text, input: anything };
const TOOL: Checks<ToolOptions> = { ...REPEATABLE, message: anything };
const MODEL: Checks<ModelOptions> = { message: anything, usage: callback };
const COMPLETION: Checks<Completion> = { messages: list, usage: anything, expect: anything };
const CANCELLATION: Checks<Cancellation> = { reason: text, keepDraft: flag };

/** Each of these throws `invalid_value` with the path of what is wrong, before anything is done or recorded. */
export function assertStep(key: string, work: unknown, options: unknown): void {
  assertId(key, 'key');
  assertFits(work, callback, `step ${key}.work`);
  assertChecked(options, STEP, `step ${key}.options`);
}

export function assertModel(key: string, call: unknown, options: ModelOptions): void {
  assertId(key, 'key');
  assertFits(call, callback, `model ${key}.call`);
  assertChecked(options, MODEL, `model ${key}.options`);
  assertNotes(options.message, `model ${key}.options.message`);
}

/** Throws `invalid_value` unless a model's answer is parts to go through: a text would be iterated letter by letter. */
export function assertAnswer(key: string, answered: unknown): void {
  assertIterable(answered, `model ${key}`, 'a model answers parts: a list of them, or one after another');
}

/** Throws `invalid_value` with the reason unless a value can be iterated and is not text. */
export function assertIterable(value: unknown, path: string, reason: string): void {
  const isIterable =
    typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
  if (!isIterable) throw new TurnkeepError('invalid_value', { path, reason });
}

export function assertTool(callId: string, work: unknown, options: ToolOptions): void {
  assertId(callId, 'callId');
  assertFits(work, callback, `tool ${callId}.work`);
  assertChecked(options, TOOL, `tool ${callId}.options`);
  assertNotes(options.message, `tool ${callId}.options.message`);
}

/** Checked before the work is done; afterwards an invalid option would cost its result. */
export function assertNotes(message: unknown, path: string): void {
  if (message !== undefined) assertShape(messageNotes, message, path);
}

export function assertCompletion(completion: unknown): void {
  assertChecked(completion, COMPLETION, 'completion');
}

export function assertCancellation(how: Cancellation): void {
  assertChecked(how, CANCELLATION, 'cancellation');
  assertFits(how.reason, text, 'cancellation.reason');
}
