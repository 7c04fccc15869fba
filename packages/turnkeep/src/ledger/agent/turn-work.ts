import type { Change, InterruptRequest, StepOutcome, StepRepeat } from '../../core/change.ts';
import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';
import { assertId } from '../../core/ids.ts';
import type { CommitId, InterruptId, TurnId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import { readInterrupt, readStep, readSteps } from '../../core/read/agent.ts';
import type { Interrupt, Step } from '../../core/read/agent.ts';
import type { Receipt } from '../../core/receipt.ts';
import { othersTurn } from '../../platform/timers.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import type { DraftWriter } from './draft.ts';
import { lookedAt, messageOf } from './message-of.ts';
import { assertSameAsked, assertSameQuestion, assertSameStep, ownJson } from './same-work.ts';
import type { Asked, NewInterrupt } from './same-work.ts';
import { OwnCalls } from './own-calls.ts';
import type { TurnWriter } from './turn-writer.ts';
import { UNFIT } from './unfinished.ts';
import { ownFields } from '../given.ts';

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

/** Called at each boundary; if it throws, or ends the process, the turn is cut off there. For tests of recovery. */
export type AtBoundary = (boundary: Boundary, key?: string) => void;

/**
 * Thrown by `interrupt` while there is no answer. It ends the agent's function; the turn waits, and the next `resume` runs
 * the function again, past everything that is recorded.
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
export interface Recorded<Result> {
  readonly changes: (commitId: CommitId) => readonly Change[];
  readonly outcome: (commitId: CommitId) => StepOutcome;
  readonly result: Result;
  /** What is recorded if this cannot be kept; without it the step has failed. */
  readonly instead?: ((unfit: TurnkeepError) => Recorded<Result>) | undefined;
  /** Thrown once it is recorded. */
  readonly problem?: Error | undefined;
}

type StepEnd = 'step.finish' | 'step.settle';

/** How one sort of step is done, recorded and read again. */
export interface Action<Result> extends Asked {
  readonly callId?: string | undefined;
  readonly repeat: StepRepeat;
  /** True if the draft shows it until it is a message. */
  readonly isDrafted?: true | undefined;
  readonly reconcile?: (() => Promise<Recorded<Result> | undefined>) | undefined;
  readonly perform: () => Promise<Recorded<Result>>;
  readonly again: (step: Step) => Promise<Result>;
}

/**
 * What happens once at a turn: its steps, its questions, its end. The agent sees it as {@link AgentTurn}, its run watches it.
 */
export class TurnWork {
  readonly turnId: TurnId;
  readonly access: ConversationAccess;
  readonly writer: TurnWriter;
  readonly draft: DraftWriter;
  /** Aborted when the turn is stopped, taken over, or out of time. */
  readonly signal: AbortSignal;
  readonly at: AtBoundary;
  readonly ownCalls: OwnCalls;
  readonly #steps = new Map<string, { readonly action: Action<never>; readonly doing: Promise<unknown> }>();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #waits = new Set<TurnWaits>();
  /** The receipt of the commit that ended the turn, if the agent ended it itself. */
  ended: Receipt | undefined;

  constructor(access: ConversationAccess, writer: TurnWriter, draft: DraftWriter, signal: AbortSignal, at: AtBoundary) {
    this.turnId = writer.hold.turnId;
    this.access = access;
    this.writer = writer;
    this.draft = draft;
    this.signal = signal;
    this.at = at;
    this.ownCalls = new OwnCalls(access, this.turnId);
  }

  /** What this run asked and nobody has answered. */
  get waits(): readonly TurnWaits[] {
    return [...this.#waits];
  }

  /** Asks once, and answers with the first answer. */
  interrupt(asked: NewInterrupt): Promise<Json> {
    return this.begun(this.#ask(asked));
  }

  async #ask(asked: NewInterrupt): Promise<Json> {
    // Copied before anything is awaited, so that later changes by the caller have no effect.
    const request: InterruptRequest & NewInterrupt = {
      ...ownFields(asked, 'asked'),
      kind: 'interrupt.request',
      turnId: this.turnId,
    };
    const { interruptId } = request;
    // With a minted id it would be another question each time.
    assertId(interruptId, 'interruptId');
    const known = await this.#interrupt(interruptId);
    if (!known) {
      await this.writer.write(() => [request]);
      this.at('interrupt_requested', interruptId);
      throw this.#waitFor(interruptId);
    }
    assertSameQuestion(known, this.turnId, request);
    if (known.status === 'open' && !(await this.#expire(known))) throw this.#waitFor(interruptId);
    const closed = known.status === 'open' ? await this.#interrupt(interruptId) : known;
    if (closed?.status === 'answered' && closed.answer) return closed.answer.response;
    if (closed?.redacted) throw new TurnkeepError('redacted', { messageId: `interrupt ${interruptId}` });
    throw new TurnkeepError('interrupt_closed', { interruptId, status: closed?.status ?? 'withdrawn' });
  }

  /** Called when the questions were answered meanwhile: the agent's function asks again. */
  forgetWaits(): void {
    this.#waits.clear();
  }

  /** Waits until everything that was begun is recorded, including whatever that leads to. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) {
      await Promise.allSettled(this.#pending);
      await othersTurn();
    }
  }

  assertNotEnded(): void {
    if (!this.ended) return;
    throw new TurnkeepError('turn_terminal', { turnId: this.turnId, state: 'completed' });
  }

  #waitFor(interruptId: InterruptId): TurnWaits {
    const waits = new TurnWaits(interruptId);
    this.#waits.add(waits);
    return waits;
  }

  async #interrupt(interruptId: InterruptId): Promise<Interrupt | undefined> {
    return this.access.view(({ tree, bodies }) => readInterrupt(tree, bodies, interruptId));
  }

  /** Whether the time of an open interrupt has passed; an answer that comes at this moment stands. */
  async #expire({ interruptId, expiresAt }: Interrupt): Promise<boolean> {
    if (expiresAt === null) return false;
    try {
      await this.writer.write(() => [{ kind: 'interrupt.expire', interruptId }]);
      return true;
    } catch (error) {
      if (isTurnkeepError(error, 'interrupt_not_due')) return false;
      if (isTurnkeepError(error, 'interrupt_closed')) return true;
      throw error;
    }
  }

  /** The run waits for it before it ends. If nobody handles its failure, that does not end the process. */
  begun<Result>(work: Promise<Result>): Promise<Result> {
    this.#pending.add(work);
    const tracked = work.finally(() => this.#pending.delete(work));
    tracked.catch(() => undefined);
    return tracked;
  }

  /** One call of a key at a time; one that failed may be tried again. */
  once<Result>(ask: () => Action<Result>): Promise<Result> {
    try {
      const asked = ask();
      const action = { ...asked, input: ownJson(asked.input, `step ${asked.key}.input`) };
      const known = this.#steps.get(action.key);
      if (known) {
        assertSameAsked(this.turnId, known.action, action);
        return known.doing as Promise<Result>;
      }
      const doing = this.begun(this.#do(action));
      this.#steps.set(action.key, { action: action as Action<never>, doing });
      doing.catch(() => this.#steps.delete(action.key));
      return doing;
    } catch (error) {
      return this.begun(Promise.reject(error as Error));
    }
  }

  async #do<Result>(action: Action<Result>): Promise<Result> {
    this.signal.throwIfAborted();
    const { turnId } = this;
    const { key, callId, repeat, name, input } = action;
    const step = await this.access.view(({ tree, bodies }) => readStep(tree, bodies, turnId, key));
    if (step) assertSameStep(step, action);
    if (step?.status === 'succeeded') return action.again(step);
    if (step?.status === 'failed' && repeat !== 'safe') throw stepFailed(step);
    if (step?.status === 'started') {
      const settled = await this.#settle(step, action);
      if (settled) return settled.result;
    }
    const start: Change = { kind: 'step.start', turnId, key, callId, repeat, name, input };
    await this.writer.write(() => [start], { starts: key });
    this.at('step_started', key);
    return this.#perform(action);
  }

  async #perform<Result>(action: Action<Result>): Promise<Result> {
    const { key } = action;
    let recorded: Recorded<Result>;
    try {
      recorded = await action.perform();
    } catch (thrown) {
      const error = lookedAt(thrown);
      throw await this.#failed(key, error instanceof TurnWaits ? askedWithin(key) : error);
    }
    this.at('step_done', key);
    const { problem, result } = await this.#record(key, 'step.finish', recorded);
    if (action.isDrafted) this.draft.drop();
    this.at('step_finished', key);
    if (problem) throw problem;
    return result;
  }

  /** Records how a step ended, and answers what could be kept of it. */
  async #record<Result>(key: string, kind: StepEnd, recorded: Recorded<Result>): Promise<Recorded<Result>> {
    const { turnId } = this;
    const changes = (commitId: CommitId): readonly Change[] => [
      ...recorded.changes(commitId),
      { kind, turnId, key, outcome: recorded.outcome(commitId) },
    ];
    try {
      await this.writer.write(changes, kind === 'step.finish' ? { ends: key } : {});
      return recorded;
    } catch (error) {
      if (!isTurnkeepError(error) || !UNFIT.has(error.code)) throw error;
      // It was done, but its result cannot be kept: so that is recorded.
      if (!recorded.instead) throw await this.#failed(key, error, kind);
      return this.#record(key, kind, recorded.instead(error));
    }
  }

  /** Records that a step failed. A step that was cut off stays as it is: nobody knows how far it got. */
  async #failed(key: string, error: unknown, kind: StepEnd = 'step.finish'): Promise<unknown> {
    if (this.signal.aborted) return error;
    const code = isTurnkeepError(error) ? error.code : 'step_failed';
    const outcome: StepOutcome = { status: 'failed', code, message: messageOf(error) };
    const effect = kind === 'step.finish' ? { ends: key } : {};
    await this.writer.write(() => [{ kind, turnId: this.turnId, key, outcome }], effect);
    return error;
  }

  /**
   * What becomes of a step that an earlier attempt started and nobody finished: it is looked up, or repeated if that is safe,
   * else refused together with every such step of the turn.
   */
  async #settle<Result>(step: Step, action: Action<Result>): Promise<Recorded<Result> | undefined> {
    const { turnId, key } = step;
    if (action.reconcile) {
      const found = await this.#lookUp(key, action.reconcile);
      if (found) return this.#record(key, 'step.settle', found);
    } else if (step.repeat === 'safe') return undefined;
    else if (action.repeat !== 'safe')
      throw new TurnkeepError('ambiguous', { turnId, keys: await this.#ambiguousKeys() });
    await this.writer.write(() => [{ kind: 'step.settle', turnId, key, outcome: { status: 'retry' } }]);
    return undefined;
  }

  /** If the look-up fails, nobody knows more than before: the step stays as it is, and the turn can be resumed. */
  async #lookUp<Result>(key: string, reconcile: () => Promise<Result>): Promise<Result> {
    try {
      return await reconcile();
    } catch (thrown) {
      const error = lookedAt(thrown);
      if (this.signal.aborted || error instanceof TurnWaits) throw error;
      const reason = `it could not be looked up: ${messageOf(error)}`;
      throw new TurnkeepError('ambiguous', { turnId: this.turnId, keys: [key], reason }, { cause: error });
    }
  }

  async #ambiguousKeys(): Promise<readonly string[]> {
    const steps = await this.access.view(({ tree, bodies }) => readSteps(tree, bodies, this.turnId));
    return steps.flatMap((step) => (step.status === 'started' && step.repeat !== 'safe' ? [step.key] : []));
  }
}

function askedWithin(key: string): TurnkeepError<'invalid_value'> {
  const reason = 'a step does not ask: what it did before would be done again. Ask between steps';
  return new TurnkeepError('invalid_value', { path: `step ${key}`, reason });
}

function stepFailed({ turnId, key, failure }: Step): TurnkeepError<'step_failed'> {
  const { code, message } = failure ?? { code: 'redacted', message: '' };
  return new TurnkeepError('step_failed', { turnId, key, code, message });
}
