import type { Change, Expect, InterruptRequest, StepOutcome, StepRepeat, UsageRecord } from '../../core/change.ts';
import { derivedId } from '../../core/commit.ts';
import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';
import type { CommitId, ConversationId, InterruptId, MessageId, TurnId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import type { NewMessage, Part, ToolResultPart } from '../../core/message.ts';
import { readInterrupt, readStep, readSteps } from '../../core/read/agent.ts';
import type { Interrupt, Step } from '../../core/read/agent.ts';
import { lookUpMessage } from '../../core/read/message.ts';
import type { Receipt } from '../../core/receipt.ts';
import { afterPoll } from '../../platform/timers.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { joinParts } from './draft.ts';
import type { DraftWriter } from './draft.ts';
import type { TurnWriter } from './turn-writer.ts';

/** Where a turn may be cut off: after something was said and before what it announces, or the other way round. */
export type Boundary =
  | 'submitted'
  | 'held'
  | 'step_started'
  | 'step_done'
  | 'step_finished'
  | 'interrupt_requested'
  | 'answer_ready'
  | 'ended';

/** Told at each boundary; where it throws, or ends the process, the turn is cut off there. For tests of recovery. */
export type AtBoundary = (boundary: Boundary, key?: string) => void;

/** How a step may be repeated where nobody knows whether it was done, and what is recorded of it. */
export interface StepOptions<Result extends Json | undefined> {
  /** `safe`: it may be done again. `never` when absent. */
  readonly retry?: 'safe' | 'never' | undefined;
  /** Looks up whether a step was done: answers its result, or `undefined` where it was not, and then it is done again. */
  readonly reconcile?: (() => Promise<Result | undefined>) | undefined;
  readonly name?: string | undefined;
  readonly input?: Json | undefined;
}

export type ToolOptions = Omit<StepOptions<Json>, 'name' | 'input'> & {
  /** Of the tool message. */
  readonly message?: Omit<NewMessage, 'role' | 'parts' | 'messageId'> | undefined;
};

export type NewInterrupt = Omit<InterruptRequest, 'kind' | 'turnId' | 'interruptId'> & {
  readonly interruptId: InterruptId;
};

/** Parts as a model gives them, whole or piece by piece. */
export type ModelCall = (signal: AbortSignal) => AsyncIterable<Part> | Iterable<Part> | Promise<readonly Part[]>;

/** What a model call used; it is counted for its turn. */
export type CallUsage = Omit<UsageRecord, 'kind' | 'turnId'>;

/** What becomes of a model call's parts. */
export interface ModelOptions {
  /** Of the assistant's message. */
  readonly message?: Omit<NewMessage, 'role' | 'parts' | 'messageId'> | undefined;
  /** Asked when the parts are there: what the call used, recorded in the commit of its message. */
  readonly usage?: (() => CallUsage | undefined) | undefined;
}

/** How a turn ends. */
export interface Completion {
  readonly messages?: readonly NewMessage[] | undefined;
  /** What its last model call used: recorded with the answer, once. */
  readonly usage?: CallUsage | undefined;
  /** What the agent saw; where it is not so any more the answer is handed back with the error (`not_completed`). */
  readonly expect?: Expect | undefined;
}

/**
 * Thrown by `interrupt` where there is no answer yet. It ends the agent's function; the turn waits, and the next `resume`
 * runs the function again, past everything that is recorded.
 */
export class TurnWaits extends Error {
  readonly interruptId: InterruptId;

  constructor(interruptId: InterruptId) {
    super(`The turn waits for an answer to interrupt ${interruptId}`);
    this.name = 'TurnWaits';
    this.interruptId = interruptId;
  }
}

/** What was done, as it is recorded: a result of its own, or a message that says it. */
interface Recorded<Result> {
  readonly changes: (commitId: CommitId) => readonly Change[];
  readonly outcome: (commitId: CommitId) => StepOutcome;
  readonly result: Result;
}

/** How one sort of step is done, recorded and read again. */
interface Action<Result> {
  readonly key: string;
  readonly callId?: string | undefined;
  readonly repeat: StepRepeat;
  readonly name?: string | undefined;
  readonly input?: Json | undefined;
  /** True where the draft shows it, until it is a message. */
  readonly isDrafted?: true | undefined;
  readonly reconcile?: (() => Promise<Recorded<Result> | undefined>) | undefined;
  readonly perform: () => Promise<Recorded<Result>>;
  readonly again: (step: Step) => Promise<Result>;
}

/**
 * A turn as its agent works on it. What it does under a key is done once: a recorded step answers with its result,
 * whichever process asks. The agent's function is run again from its start after a crash or an answer, so it must ask for
 * the same keys in whatever order; what stands between steps must be free to repeat.
 */
export class AgentTurn {
  readonly turnId: TurnId;
  readonly conversationId: ConversationId;
  /** Aborted where the turn is stopped, taken over, or out of time. */
  readonly signal: AbortSignal;
  readonly #access: ConversationAccess;
  readonly #writer: TurnWriter;
  readonly #draft: DraftWriter;
  readonly #at: AtBoundary;
  readonly #steps = new Map<string, Promise<unknown>>();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #waits = new Set<TurnWaits>();
  #ended: Receipt | undefined;

  constructor(access: ConversationAccess, writer: TurnWriter, draft: DraftWriter, signal: AbortSignal, at: AtBoundary) {
    this.turnId = writer.hold.turnId;
    this.conversationId = access.conversationId;
    this.signal = signal;
    this.#access = access;
    this.#writer = writer;
    this.#draft = draft;
    this.#at = at;
  }

  /** The receipt of the commit that ended the turn, where the agent ended it itself. */
  get ended(): Receipt | undefined {
    return this.#ended;
  }

  /** What this run asked and nobody has answered. */
  get waits(): readonly TurnWaits[] {
    return [...this.#waits];
  }

  /** Does something once: recorded before and after. What `work` answers is what every later call of the key answers. */
  step<Result extends Json | undefined>(
    key: string,
    work: (signal: AbortSignal) => Promise<Result>,
    options: StepOptions<Result> = {},
  ): Promise<Result> {
    const { reconcile } = options;
    return this.#once({
      key,
      repeat: repeatOf(options),
      name: options.name,
      input: options.input,
      perform: async () => ownResult(await work(this.signal)),
      reconcile: reconcile && (async () => mapDefined(await reconcile(), ownResult)),
      again: async (step) => {
        if (step.redacted) throw new TurnkeepError('redacted', { messageId: `step ${key}` });
        return step.result as Result;
      },
    });
  }

  /**
   * Calls a model once. Its parts are drafted as they come, and become a message of the assistant's together with the
   * step's end. A model call is safe to repeat.
   */
  model(key: string, call: ModelCall, { message, usage }: ModelOptions = {}): Promise<readonly Part[]> {
    return this.#once({
      key,
      repeat: 'safe',
      name: 'model',
      isDrafted: true,
      perform: async () => {
        this.#draft.drop();
        const parts = await this.#collect(call);
        return this.#said({ ...message, role: 'assistant', parts }, parts, this.#used(usage?.()));
      },
      again: async (step) => this.#partsOf(step.messageId),
    });
  }

  /**
   * Runs a tool once, for a call that stands in this turn; the step's key is the call's id. Its result becomes a message
   * together with the step's end; a tool that throws has the result `error`.
   */
  tool(
    callId: string,
    work: (signal: AbortSignal) => Promise<Json>,
    options: ToolOptions = {},
  ): Promise<ToolResultPart> {
    const { reconcile, message = {} } = options;
    const told = (status: 'ok' | 'error', output: Json) => {
      const result: ToolResultPart = { type: 'tool_result', callId, status, output };
      return this.#said({ ...message, role: 'tool', parts: [result] }, result);
    };
    return this.#once({
      key: callId,
      callId,
      repeat: repeatOf(options),
      perform: async () => {
        try {
          return told('ok', await work(this.signal));
        } catch (error) {
          if (this.signal.aborted || error instanceof TurnWaits) throw error;
          return told('error', messageOf(error));
        }
      },
      reconcile: reconcile && (async () => mapDefined(await reconcile(), (output) => told('ok', output))),
      again: async (step) => (await this.#partsOf(step.messageId))[0] as ToolResultPart,
    });
  }

  /** An id that is the same whenever this turn asks for it by this name, and no other turn's. */
  idFor(name: string): string {
    return `id_${this.#access.access.surroundings.sha256(JSON.stringify([this.turnId, name]))}`;
  }

  /** Says something in between; under one key it is said once. */
  async append(key: string, message: Omit<NewMessage, 'messageId'>): Promise<void> {
    const messageId: MessageId = this.idFor(key);
    const change: Change = { kind: 'message.append', turnId: this.turnId, message: { ...message, messageId } };
    await this.#writer.write(() => [change]);
  }

  /**
   * Asks somebody outside, once, and answers with the first answer. Without one yet it throws {@link TurnWaits}; where the
   * time has passed it throws `interrupt_closed` with the status `expired`.
   */
  interrupt(asked: NewInterrupt): Promise<Json> {
    return this.#tracked(this.#ask(asked));
  }

  async #ask(asked: NewInterrupt): Promise<Json> {
    const { interruptId } = asked;
    const known = await this.#interrupt(interruptId);
    if (!known) {
      await this.#writer.write(() => [{ ...asked, kind: 'interrupt.request', turnId: this.turnId }]);
      this.#at('interrupt_requested', interruptId);
      throw this.#waitFor(interruptId);
    }
    if (known.status === 'open' && !(await this.#expire(known))) throw this.#waitFor(interruptId);
    const closed = known.status === 'open' ? await this.#interrupt(interruptId) : known;
    if (closed?.status === 'answered' && closed.answer) return closed.answer.response;
    if (closed?.redacted) throw new TurnkeepError('redacted', { messageId: `interrupt ${interruptId}` });
    throw new TurnkeepError('interrupt_closed', { interruptId, status: closed?.status ?? 'withdrawn' });
  }

  /** Shows parts of the unfinished answer to whoever follows the turn. They are part of no message. */
  draft(parts: readonly Part[]): void {
    this.#draft.add(parts);
  }

  /** Hands parts through, and drafts each. */
  async *stream(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    for await (const one of parts) {
      this.draft([one]);
      yield one;
    }
  }

  /** What users said to steer this turn, as it comes: each becomes a message of the turn, once, and is then handed out. */
  async *inbox(): AsyncGenerator<readonly Part[]> {
    for (;;) {
      const said = await this.#steered();
      if (!said) return;
      yield said;
    }
  }

  /** Ends the turn with what it says last. The agent's function may as well answer the messages. */
  async complete({ messages = [], usage, expect }: Completion = {}): Promise<Receipt> {
    this.#assertNotEnded();
    const { turnId } = this;
    this.#at('answer_ready');
    const appends = messages.map((message): Change => ({ kind: 'message.append', turnId, message }));
    try {
      return await this.#end(
        [...appends, ...this.#used(usage), { kind: 'turn.advance', turnId, to: 'completed' }],
        'completed',
        expect,
      );
    } catch (error) {
      if (!isTurnkeepError(error)) throw error;
      const answer = messages as unknown as Json;
      throw new TurnkeepError('not_completed', { turnId, reason: error.code, answer }, { cause: error });
    }
  }

  /** Gives the turn up. What was drafted is kept as an incomplete message, where the caller says so. */
  async cancel(how: { readonly reason: string; readonly keepDraft?: boolean | undefined }): Promise<Receipt> {
    this.#assertNotEnded();
    const kept = how.keepDraft ? this.unfinished(how.reason) : [];
    const changes: readonly Change[] = [...kept, { kind: 'turn.advance', turnId: this.turnId, to: 'cancelled' }];
    return this.#end(changes, 'cancelled', undefined, { code: 'cancelled', message: how.reason });
  }

  /** The drafted parts that no message has, as one that was not finished. */
  unfinished(reason: string): readonly Change[] {
    return unfinishedMessage(this.turnId, this.#draft.parts, reason);
  }

  /** Waits until everything that was begun is recorded, and what goes on from there; then nothing more is begun. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) {
      await Promise.allSettled(this.#pending);
      await new Promise<void>((resolve) => afterPoll(resolve));
    }
  }

  #assertNotEnded(): void {
    if (!this.#ended) return;
    throw new TurnkeepError('turn_terminal', { turnId: this.turnId, state: 'completed' });
  }

  async #end(
    changes: readonly Change[],
    phase: 'completed' | 'cancelled',
    expect?: Expect,
    reason?: { readonly code: string; readonly message: string },
  ): Promise<Receipt> {
    const { runId } = this.#writer.hold;
    const end: Change = { kind: 'run.end', runId, status: phase, reason };
    const receipt = await this.#writer.write(() => [...changes, end], { phase, expect });
    this.#ended = receipt;
    return receipt;
  }

  #waitFor(interruptId: InterruptId): TurnWaits {
    const waits = new TurnWaits(interruptId);
    this.#waits.add(waits);
    return waits;
  }

  async #interrupt(interruptId: InterruptId): Promise<Interrupt | undefined> {
    return this.#access.view(({ tree, bodies }) => readInterrupt(tree, bodies, interruptId));
  }

  /** Whether the time of an open interrupt has passed; an answer that comes at this moment stands. */
  async #expire({ interruptId, expiresAt }: Interrupt): Promise<boolean> {
    if (expiresAt === null) return false;
    try {
      await this.#writer.write(() => [{ kind: 'interrupt.expire', interruptId }]);
      return true;
    } catch (error) {
      if (isTurnkeepError(error, 'interrupt_not_due')) return false;
      if (isTurnkeepError(error, 'interrupt_closed')) return true;
      throw error;
    }
  }

  async #steered(): Promise<readonly Part[] | undefined> {
    try {
      const { events } = await this.#writer.write(() => [{ kind: 'input.deliver', into: this.turnId }]);
      return await this.#partsOf(events.find(({ kind }) => kind === 'input.deliver')?.['messageId'] as MessageId);
    } catch (error) {
      if (isTurnkeepError(error, 'no_input')) return undefined;
      throw error;
    }
  }

  async #collect(call: ModelCall): Promise<readonly Part[]> {
    const answered = call(this.signal);
    const pieces = answered instanceof Promise ? await answered : answered;
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
    const idOf = (commitId: CommitId) => derivedId('msg', commitId, 0, this.#access.access.surroundings.sha256);
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
    const found = await this.#access.view(({ tree, bodies }) => lookUpMessage(tree, bodies, messageId));
    if (found.status === 'found_verified') {
      if (found.message.redaction) throw new TurnkeepError('redacted', { messageId });
      return found.message.parts;
    }
    if (found.status === 'not_found_confirmed') throw new TurnkeepError('no_message', { messageId });
    throw new TurnkeepError('corrupt', { place: found.place, reason: found.reason });
  }

  async #tracked<Result>(work: Promise<Result>): Promise<Result> {
    this.#pending.add(work);
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  /** One call of a key at a time; one that failed may be tried again. */
  #once<Result>(action: Action<Result>): Promise<Result> {
    const known = this.#steps.get(action.key);
    if (known) return known as Promise<Result>;
    const doing = this.#tracked(this.#do(action));
    this.#steps.set(action.key, doing);
    doing.catch(() => this.#steps.delete(action.key));
    return doing;
  }

  async #do<Result>(action: Action<Result>): Promise<Result> {
    this.signal.throwIfAborted();
    const { turnId } = this;
    const { key, callId, repeat, name, input } = action;
    const step = await this.#access.view(({ tree, bodies }) => readStep(tree, bodies, turnId, key));
    if (step?.status === 'succeeded') return action.again(step);
    if (step?.status === 'failed' && repeat !== 'safe') throw stepFailed(step);
    if (step?.status === 'started') {
      const settled = await this.#settle(step, action);
      if (settled) return settled.result;
    }
    const start: Change = { kind: 'step.start', turnId, key, callId, repeat, name, input };
    await this.#writer.write(() => [start], { starts: key });
    this.#at('step_started', key);
    return this.#perform(action);
  }

  async #perform<Result>(action: Action<Result>): Promise<Result> {
    const { turnId } = this;
    const { key } = action;
    let recorded: Recorded<Result>;
    try {
      recorded = await action.perform();
    } catch (error) {
      throw await this.#failed(key, error instanceof TurnWaits ? askedWithin(key) : error);
    }
    this.#at('step_done', key);
    const finish = (commitId: CommitId): readonly Change[] => [
      ...recorded.changes(commitId),
      { kind: 'step.finish', turnId, key, outcome: recorded.outcome(commitId) },
    ];
    try {
      await this.#writer.write(finish, { ends: key });
    } catch (error) {
      // It was done, but its result is nothing that can be kept: that is how it ended.
      throw isTurnkeepError(error) && UNFIT.has(error.code) ? await this.#failed(key, error) : error;
    }
    if (action.isDrafted) this.#draft.drop();
    this.#at('step_finished', key);
    return recorded.result;
  }

  /** Records that a step failed; of what was cut off nobody knows how far it got, and it stays as it is. */
  async #failed(key: string, error: unknown): Promise<unknown> {
    if (this.signal.aborted) return error;
    const code = isTurnkeepError(error) ? error.code : 'step_failed';
    const outcome: StepOutcome = { status: 'failed', code, message: messageOf(error) };
    await this.#writer.write(() => [{ kind: 'step.finish', turnId: this.turnId, key, outcome }], { ends: key });
    return error;
  }

  /**
   * What becomes of a step that an earlier attempt started and nobody finished: looked up, or repeated where that is safe,
   * else refused with every such step of the turn.
   */
  async #settle<Result>(step: Step, action: Action<Result>): Promise<Recorded<Result> | undefined> {
    const { turnId, key } = step;
    if (action.reconcile) {
      const found = await action.reconcile();
      const settle = (commitId: CommitId): readonly Change[] =>
        found
          ? [...found.changes(commitId), { kind: 'step.settle', turnId, key, outcome: found.outcome(commitId) }]
          : [{ kind: 'step.settle', turnId, key, outcome: { status: 'retry' } }];
      await this.#writer.write(settle);
      return found;
    }
    if (step.repeat === 'safe') return undefined;
    if (action.repeat !== 'safe') throw new TurnkeepError('ambiguous', { turnId, keys: await this.#ambiguousKeys() });
    await this.#writer.write(() => [{ kind: 'step.settle', turnId, key, outcome: { status: 'retry' } }]);
    return undefined;
  }

  async #ambiguousKeys(): Promise<readonly string[]> {
    const steps = await this.#access.view(({ tree, bodies }) => readSteps(tree, bodies, this.turnId));
    return steps.flatMap((step) => (step.status === 'started' && step.repeat !== 'safe' ? [step.key] : []));
  }
}

/** Refusals for what a step answered, not for who holds its turn. */
const UNFIT: ReadonlySet<string> = new Set([
  'invalid_value',
  'limit_exceeded',
  'call_exists',
  'already_answered',
  'no_call',
]);

function askedWithin(key: string): TurnkeepError<'invalid_value'> {
  const reason = 'a step does not ask: what it did before would be done again. Ask between steps';
  return new TurnkeepError('invalid_value', { path: `step ${key}`, reason });
}

/** Drafted parts as a message that was not finished; nothing where there are none. */
export function unfinishedMessage(turnId: TurnId, parts: readonly Part[], reason: string): readonly Change[] {
  const said = parts.filter((one) => one.type !== 'tool_call');
  if (said.length === 0) return [];
  // A call that was only drafted was never made, and nobody will answer it: it is named, not kept.
  const unmade = parts.flatMap((one) => (one.type === 'tool_call' ? [one.callId] : []));
  const metadata = unmade.length > 0 ? { metadata: { unmadeCalls: unmade } } : {};
  const message: NewMessage = {
    role: 'assistant',
    parts: said,
    status: 'incomplete',
    finishReason: reason,
    ...metadata,
  };
  return [{ kind: 'message.append', turnId, message }];
}

function repeatOf(options: Pick<StepOptions<Json>, 'retry' | 'reconcile'>): StepRepeat {
  if (options.retry === 'safe') return 'safe';
  return options.reconcile ? 'reconcile' : 'never';
}

function ownResult<Result extends Json | undefined>(result: Result): Recorded<Result> {
  const outcome: StepOutcome = result === undefined ? { status: 'succeeded' } : { status: 'succeeded', result };
  return { result, changes: () => [], outcome: () => outcome };
}

function mapDefined<In, Out>(value: In | undefined, map: (value: In) => Out): Out | undefined {
  return value === undefined ? undefined : map(value);
}

function stepFailed({ turnId, key, failure }: Step): TurnkeepError<'step_failed'> {
  const { code, message } = failure ?? { code: 'redacted', message: '' };
  return new TurnkeepError('step_failed', { turnId, key, code, message });
}

/** What an error says, for a record. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
