import type { Change, StepOutcome, StepRepeat } from '../../core/change.ts';
import { derivedId } from '../../core/commit.ts';
import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';
import type { CommitId, MessageId, TurnId } from '../../core/ids.ts';
import type { Json, JsonLike } from '../../core/json.ts';
import type { NewMessage, Part, ToolResultPart } from '../../core/message.ts';
import type { Receipt } from '../../core/receipt.ts';
import { usageRecord } from '../../core/rules/usage.ts';
import { assertShape } from '../../core/shapes.ts';
import type { Conversation } from '../conversation.ts';
import { assertFits, ownFields, text, withFields } from '../given.ts';
import { eventOf } from '../receipt-event.ts';
import { joinParts } from './draft.ts';
import { messageOf } from './message-of.ts';
import { assertReconciled } from './reconciled.ts';
import type { Reconciled } from './reconciled.ts';
import {
  assertAnswer,
  assertIterable,
  assertCancellation,
  assertCompletion,
  assertModel,
  assertStep,
  assertTool,
} from './turn-options.ts';
import type {
  CallUsage,
  Cancellation,
  Completion,
  ModelCall,
  ModelOptions,
  StepOptions,
  ToolOptions,
} from './turn-options.ts';
import { TurnWaits } from './turn-work.ts';
import type { NewInterrupt } from './same-work.ts';
import type { Recorded, TurnWork } from './turn-work.ts';
import { endKeeping } from './unfinished.ts';

/**
 * A turn as its agent works on it. Whatever is done under a key is done once: a recorded step returns its result, in
 * whichever process. After a crash or an answer the agent's function is run again from its start, so it must use the same
 * keys, in any order, and whatever it does between steps must be safe to repeat.
 */
export class AgentTurn {
  readonly turnId: TurnId;
  /** The conversation of the turn, to read its path: `context` or `window` with `leaf: turnId`. */
  readonly conversation: Conversation;
  /** Aborted when the turn is stopped, taken over, or out of time. */
  readonly signal: AbortSignal;
  readonly #work: TurnWork;

  constructor(work: TurnWork, conversation: Conversation) {
    this.turnId = work.turnId;
    this.conversation = conversation;
    this.signal = work.signal;
    this.#work = work;
  }

  /**
   * Does something once, recorded before and after. Every later call with the key returns what `work` returned; with another
   * name or input, or for another sort of step, it throws `step_conflict`.
   */
  step<Result extends JsonLike<Result> | void>(
    key: string,
    work: (signal: AbortSignal) => Promise<Result>,
    options: StepOptions<Result> = {},
  ): Promise<Result> {
    return this.#work.once(() => {
      assertStep(key, work, options);
      const { reconcile, name, input } = options;
      return {
        key,
        sort: 'step',
        repeat: repeatOf(options),
        name,
        input,
        perform: async () => ownResult(await work(this.signal)),
        reconcile: reconcile && (async () => lookedUp(key, await reconcile(), ownResult)),
        again: async (step) => {
          if (step.redacted) throw new TurnkeepError('redacted', { messageId: `step ${key}` });
          return step.result as Result;
        },
      };
    });
  }

  /**
   * Calls a model once. Its parts are drafted as they arrive, and become an assistant's message in the commit that ends the
   * step. A model call counts as safe to repeat.
   */
  model(key: string, call: ModelCall, options: ModelOptions = {}): Promise<readonly Part[]> {
    return this.#work.once(() => {
      assertModel(key, call, options);
      return {
        key,
        sort: 'model',
        repeat: 'safe',
        name: 'model',
        isDrafted: true,
        perform: () => this.#ask(key, call, options),
        again: async (step) => this.#partsOf(step.messageId),
      };
    });
  }

  async #ask(key: string, call: ModelCall, { message, usage }: ModelOptions): Promise<Recorded<readonly Part[]>> {
    this.#work.draft.drop();
    const parts = await this.#work.ownCalls.of(key, await this.#collect(key, call));
    const answer = (more: readonly Change[]) => this.#said({ ...message, role: 'assistant', parts }, parts, more);
    // What the call cost is no reason to lose what it said.
    const withoutUsage = (problem: Error): Recorded<readonly Part[]> => ({ ...answer([]), problem });
    try {
      const used = this.#used(usage?.());
      for (const change of used) assertShape(usageRecord.shape, change, 'usage');
      return used.length === 0 ? answer([]) : { ...answer(used), instead: withoutUsage };
    } catch (error) {
      return withoutUsage(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  /**
   * Runs a tool once, for a call of this turn; the step's key is the call's id. The result becomes a message in the commit
   * that ends the step. A tool that throws gets the result `error`; so does one whose result cannot be stored, and then the
   * model is told that it was run.
   */
  tool<Result extends JsonLike<Result>>(
    callId: string,
    work: (signal: AbortSignal) => Promise<Result>,
    options: ToolOptions = {},
  ): Promise<ToolResultPart> {
    return this.#work.once(() => {
      assertTool(callId, work, options);
      const { reconcile, message = {} } = options;
      const told = (status: 'ok' | 'error', output: Json | undefined) => {
        const result: ToolResultPart = { type: 'tool_result', callId, status, output };
        return this.#said({ ...message, role: 'tool', parts: [result] }, result);
      };
      const done = (output: Json | undefined): Recorded<ToolResultPart> => ({
        ...told('ok', output),
        instead: (unfit) => told('error', `The tool was run, but its result could not be kept: ${unfit.message}`),
      });
      return {
        key: callId,
        callId,
        sort: 'tool',
        name: 'tool',
        repeat: repeatOf(options),
        perform: async () => {
          try {
            return done(await work(this.signal));
          } catch (error) {
            if (this.signal.aborted || error instanceof TurnWaits) throw error;
            return told('error', messageOf(error));
          }
        },
        reconcile: reconcile && (async () => lookedUp(callId, await reconcile(), done)),
        again: async (step) => {
          if (step.messageId !== undefined) return (await this.#partsOf(step.messageId))[0] as ToolResultPart;
          if (step.redacted) throw new TurnkeepError('redacted', { messageId: `step ${callId}` });
          // It was settled on its caller's word, which the model is told now.
          const result: ToolResultPart = { type: 'tool_result', callId, status: 'ok', output: step.result };
          await this.append(`result of ${callId}`, { ...message, role: 'tool', parts: [result] });
          return result;
        },
      };
    });
  }

  /** An id that is always the same for this turn and name, and that no other turn has. */
  idFor(name: string): string {
    assertFits(name, text, 'name');
    return `id_${this.#work.access.access.surroundings.sha256(JSON.stringify([this.turnId, name]))}`;
  }

  /** Appends a message before the turn ends, once for each key. */
  append(key: string, message: Omit<NewMessage, 'messageId'>): Promise<void> {
    return this.#work.begun(this.#append(key, message));
  }

  async #append(key: string, message: Omit<NewMessage, 'messageId'>): Promise<void> {
    assertFits(key, text, 'key');
    const own = { ...ownFields(message, 'message'), messageId: this.idFor(key) };
    await this.#work.writer.write(() => [{ kind: 'message.append', turnId: this.turnId, message: own }]);
  }

  /**
   * Asks somebody outside, once, and returns the first answer. While there is none it throws {@link TurnWaits}; once the
   * time has passed it throws `interrupt_closed` with the status `expired`. The id is unique in the conversation: if another
   * turn or another question has it, it throws `interrupt_exists`. `idFor` makes ids that no other turn has.
   */
  interrupt(asked: NewInterrupt): Promise<Json> {
    return this.#work.interrupt(asked);
  }

  /** Shows parts of the unfinished answer to whoever follows the turn. They are part of no message. */
  draft(parts: readonly Part[]): void {
    this.#work.draft.add(parts);
  }

  /** Passes parts through and drafts each. */
  async *stream(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    assertIterable(parts, 'parts', 'expected parts one after another');
    for await (const one of parts) {
      this.draft([one]);
      yield one;
    }
  }

  /** What users said to steer this turn: each input becomes a message of the turn, once, and is then returned. */
  async *inbox(): AsyncGenerator<readonly Part[]> {
    for (;;) {
      const said = await this.#steered();
      if (!said) return;
      yield said;
    }
  }

  /** Ends the turn with its last messages. The agent's function may instead return them. */
  complete(completion: Completion = {}): Promise<Receipt> {
    return this.#work.begun(this.#complete(completion));
  }

  async #complete(completion: Completion): Promise<Receipt> {
    this.#work.assertNotEnded();
    const given = withFields(completion, 'completion', {});
    const { turnId } = this;
    try {
      assertCompletion(given);
      const { messages = [], usage, expect } = ownFields(given, 'completion');
      this.#work.at('answer_ready');
      const appends = messages.map((message): Change => ({ kind: 'message.append', turnId, message }));
      const { runId } = this.#work.writer.hold;
      const changes: readonly Change[] = [
        ...appends,
        ...this.#used(usage),
        { kind: 'turn.advance', turnId, to: 'completed' },
        { kind: 'run.end', runId, status: 'completed' },
      ];
      return (this.#work.ended = await this.#work.writer.write(() => changes, { phase: 'completed', expect }));
    } catch (error) {
      if (!isTurnkeepError(error)) throw error;
      const answer = (given.messages ?? []) as unknown as Json;
      throw new TurnkeepError('not_completed', { turnId, reason: error.code, answer }, { cause: error });
    }
  }

  /** Cancels the turn. With `keepDraft`, what was drafted is kept as an incomplete message. */
  cancel(how: Cancellation): Promise<Receipt> {
    return this.#work.begun(this.#cancel(how));
  }

  async #cancel(how: Cancellation): Promise<Receipt> {
    this.#work.assertNotEnded();
    assertCancellation(how);
    const drafted = how.keepDraft ? this.#work.draft.drafted : { parts: [], truncated: false };
    const end = { to: 'cancelled', reason: { code: 'cancelled', message: how.reason } } as const;
    const write = (changes: readonly Change[]) => this.#work.writer.write(() => changes, { phase: 'cancelled' });
    return (this.#work.ended = await endKeeping(drafted, this.#work.writer.hold, end, write));
  }

  async #steered(): Promise<readonly Part[] | undefined> {
    try {
      const receipt = await this.#work.writer.write(() => [{ kind: 'input.deliver', into: this.turnId }]);
      return await this.#partsOf(eventOf(receipt, 'input.deliver').messageId);
    } catch (error) {
      if (isTurnkeepError(error, 'no_input')) return undefined;
      throw error;
    }
  }

  async #collect(key: string, call: ModelCall): Promise<readonly Part[]> {
    const pieces = await call(this.signal);
    assertAnswer(key, pieces);
    const parts: Part[] = [];
    for await (const one of pieces) {
      this.signal.throwIfAborted();
      this.draft([one]);
      parts.push(one);
    }
    return joinParts(parts);
  }

  #used(usage: CallUsage | undefined): readonly Change[] {
    return usage ? [{ ...usage, kind: 'usage.record', turnId: this.turnId }] : [];
  }

  /** A result that is a message: it is stored once, as that. */
  #said<Result>(message: NewMessage, result: Result, more: readonly Change[] = []): Recorded<Result> {
    const idOf = (commitId: CommitId) => derivedId('msg', commitId, 0, this.#work.access.access.surroundings.sha256);
    const { turnId } = this;
    return {
      result,
      changes: (commitId) => [
        { kind: 'message.append', turnId, message: { ...message, messageId: idOf(commitId) } },
        ...more,
      ],
      outcome: (commitId) => ({ status: 'succeeded', messageId: idOf(commitId) }),
    };
  }

  async #partsOf(messageId: MessageId | undefined): Promise<readonly Part[]> {
    if (messageId === undefined) return [];
    const found = await this.#work.access.message(messageId);
    if (found.status === 'found_verified') {
      if (found.message.redaction) throw new TurnkeepError('redacted', { messageId });
      return found.message.parts;
    }
    if (found.status === 'not_found_confirmed') throw new TurnkeepError('no_message', { messageId });
    throw new TurnkeepError('corrupt', { place: found.place, reason: found.reason });
  }
}

function repeatOf(options: Pick<StepOptions<unknown>, 'retry' | 'reconcile'>): StepRepeat {
  if (options.retry === 'safe') return 'safe';
  return options.reconcile ? 'reconcile' : 'never';
}

function ownResult<Result>(result: Result): Recorded<Result> {
  // It is checked to be JSON when it is recorded.
  const outcome: StepOutcome =
    result === undefined ? { status: 'succeeded' } : { status: 'succeeded', result: result as Json };
  return { result, changes: () => [], outcome: () => outcome };
}

/** What `reconcile` answered, as it is recorded; `undefined` if the step was not done. */
function lookedUp<Result, Out>(
  key: string,
  found: Reconciled<Result>,
  done: (result: Result) => Recorded<Out>,
): Recorded<Out> | undefined {
  assertReconciled(key, found);
  return found.done ? done(found.result as Result) : undefined;
}
