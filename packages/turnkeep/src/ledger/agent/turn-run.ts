import type { Change, StepSettle } from '../../core/change.ts';
import { isTurnkeepError, TurnkeepError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { NewMessage } from '../../core/message.ts';
import { readInterrupt, readStep } from '../../core/read/agent.ts';
import { endAbove } from '../../core/rules/sub-agent.ts';
import type { Receipt } from '../../core/receipt.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { cancelSubAgents } from '../sub-agents.ts';
import type { Conversation } from '../conversation.ts';
import { eventOf } from '../receipt-event.ts';
import { AgentTurn } from './agent-turn.ts';
import { DraftWriter } from './draft.ts';
import { givenUp } from './given-up.ts';
import type { Hold } from './hold.ts';
import { outcomeOf } from './outcome.ts';
import type { TurnOutcome } from './outcome.ts';
import { endOfTaken, lossOf, watchOwnership } from './ownership.ts';
import { lookedAt, messageOf } from './message-of.ts';
import { isSettledSo } from './same-work.ts';
import { TurnWaits, TurnWork } from './turn-work.ts';
import type { AtBoundary } from './turn-work.ts';
import { TurnWriter } from './turn-writer.ts';
import { endKeeping } from './unfinished.ts';

/**
 * What an agent does with a turn. After a crash or an answer it is called again from its start; see {@link AgentTurn}. The
 * messages that it returns complete the turn.
 */
export type Agent = (turn: AgentTurn) => Promise<readonly NewMessage[] | void>;

/** The conversation of the turn, as the library reaches it and as its users do. */
export interface Workplace {
  readonly access: ConversationAccess;
  readonly conversation: Conversation;
}

export interface TurnRunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly settle?: { readonly [key: string]: StepSettle['outcome'] } | undefined;
  readonly atBoundary?: AtBoundary | undefined;
}

/** Refusals that may mean that the turn no longer belongs to this run. */
const LOST: ReadonlySet<string> = new Set<ErrorCode>([
  'fenced',
  'no_attempt',
  'turn_terminal',
  'illegal_transition',
  'erased',
]);

/** One run at one turn, from its hold to whatever ends it. */
export class TurnRun {
  readonly #access: ConversationAccess;
  readonly #hold: Hold;
  readonly #options: TurnRunOptions;
  readonly #writer: TurnWriter;
  readonly #draft: DraftWriter;
  readonly #stopped = new AbortController();
  readonly #work: TurnWork;
  readonly #turn: AgentTurn;
  /** True once this run writes its own end. */
  #isEnding = false;

  constructor({ access, conversation }: Workplace, held: Hold, options: TurnRunOptions) {
    this.#access = access;
    this.#hold = held;
    this.#options = options;
    this.#writer = new TurnWriter(access, held);
    this.#draft = new DraftWriter(access, held.turnId, held.fence.token);
    const signal = AbortSignal.any([this.#stopped.signal, ...(options.signal ? [options.signal] : [])]);
    this.#work = new TurnWork(access, this.#writer, this.#draft, signal, options.atBoundary ?? (() => undefined));
    this.#turn = new AgentTurn(this.#work, conversation);
  }

  /** Works at the turn until something ends the run, such as the closing of its ledger. */
  async run(agent: Agent): Promise<TurnOutcome> {
    const over = this.#run(agent);
    const leave = () => this.#stopped.abort(new TurnkeepError('closed', { what: 'the store' }));
    this.#access.access.atWork.add({ leave, over });
    return over;
  }

  async #run(agent: Agent): Promise<TurnOutcome> {
    const stopWatching = watchOwnership(this.#access, this.#hold, (error) => void this.#stop(error));
    try {
      try {
        await this.#settleAsTold();
      } catch (error) {
        if (!isTurnkeepError(error)) throw error;
        return await this.#letGo(error);
      }
      for (let rounds = 0; rounds < LIMITS.agentRounds; rounds++) {
        const outcome = await this.#outcome(await this.#doWork(agent));
        if (outcome !== 'again') return outcome;
        this.#work.forgetWaits();
      }
      const limit = { limit: 'agentRounds', max: LIMITS.agentRounds, path: 'agent' };
      return await this.#letGo(new TurnkeepError('limit_exceeded', limit));
    } finally {
      stopWatching();
      this.#writer.close();
      await this.#draft.silence();
      await this.#hold.lease.release();
    }
  }

  /** Aborts the agent, unless this run itself ended the turn. */
  async #stop(error: TurnkeepError): Promise<void> {
    await this.#writer.idle();
    if (!this.#isEnding && !this.#work.ended) this.#stopped.abort(error);
  }

  /** A settlement that was recorded before is not sent again: a caller who resumes in a loop passes it each time. */
  async #settleAsTold(): Promise<void> {
    const { turnId } = this.#hold;
    for (const [key, outcome] of Object.entries(this.#options.settle ?? {})) {
      const step = await this.#access.view(({ tree, bodies }) => readStep(tree, bodies, turnId, key));
      if (step && step.status !== 'started' && isSettledSo(step, outcome)) continue;
      await this.#writer.write(() => [{ kind: 'step.settle', turnId, key, outcome }]);
    }
  }

  /** Runs the agent's function until it ends or the turn is cut off. Returns what it threw, if anything. */
  async #doWork(agent: Agent): Promise<{ readonly thrown?: unknown }> {
    const { signal } = this.#work;
    let cutOff: (() => void) | undefined;
    const cut = new Promise<never>((_, reject) => {
      cutOff = () => reject(signal.reason as Error);
      if (signal.aborted) cutOff();
      else signal.addEventListener('abort', cutOff);
    });
    cut.catch(() => undefined);
    try {
      this.#options.atBoundary?.('held');
      const messages = await Promise.race([agent(this.#turn), cut]);
      await Promise.race([this.#work.settled(), cut]);
      if (this.#work.waits[0] && !this.#work.ended) return { thrown: this.#work.waits[0] };
      if (!this.#work.ended) await this.#turn.complete({ messages: messages ?? [] });
      return {};
    } catch (error) {
      await Promise.race([this.#work.settled(), cut]).catch(() => undefined);
      return { thrown: lookedAt(signal.aborted ? signal.reason : error) };
    } finally {
      if (cutOff) signal.removeEventListener('abort', cutOff);
    }
  }

  async #outcome({ thrown }: { readonly thrown?: unknown }): Promise<TurnOutcome | 'again'> {
    if (this.#work.ended) return this.#ended(this.#work.ended, thrown);
    const stopped: unknown = this.#stopped.signal.reason;
    if (isTurnkeepError(stopped, 'closed')) return this.#letGo(stopped);
    if (this.#stopped.signal.aborted || (await this.#isLost(thrown))) return this.#lost(thrown);
    if (thrown instanceof TurnWaits) return this.#wait();
    if (isTurnkeepError(thrown, 'ambiguous') || isTurnkeepError(thrown, 'not_completed')) return this.#letGo(thrown);
    return this.#fail(thrown);
  }

  /** Whether the error means that this run lost its turn: another turn's error may have the same code. */
  async #isLost(thrown: unknown): Promise<boolean> {
    if (!isTurnkeepError(thrown)) return false;
    const code = isTurnkeepError(thrown, 'not_completed') ? thrown.details.reason : thrown.code;
    return LOST.has(code) && (await lossOf(this.#access, this.#hold)) !== undefined;
  }

  /** Whether the error means that a turn above this sub-agent's was cancelled or has failed: then this one is cancelled. */
  async #isGivenUpAbove(thrown: unknown): Promise<boolean> {
    if (!isTurnkeepError(thrown, 'parent_ended')) return false;
    return this.#access.view(({ tree }) => endAbove(tree.rows, tree.head) !== undefined);
  }

  /** The agent ended the turn itself. What it threw afterwards is passed to the caller. */
  async #ended(receipt: Receipt, thrown: unknown): Promise<TurnOutcome> {
    await this.#clear();
    this.#options.atBoundary?.('ended');
    if (thrown !== undefined && thrown !== this.#stopped.signal.reason) {
      throw thrown instanceof Error ? thrown : new Error(messageOf(thrown));
    }
    const state = eventOf(receipt, 'turn.advance').to as 'completed' | 'cancelled';
    if (state === 'cancelled') await cancelSubAgents(this.#access, this.#hold.turnId);
    return { turnId: this.#hold.turnId, state, receipt };
  }

  /** Lets the turn wait, unless an answer came meanwhile: whoever gave it may have seen this run at work, and will not resume. */
  async #wait(): Promise<TurnOutcome | 'again'> {
    const { turnId, runId } = this.#hold;
    const changes: readonly Change[] = [
      { kind: 'turn.advance', turnId, to: 'waiting' },
      { kind: 'run.end', runId, status: 'waiting' },
    ];
    for (;;) {
      const { version, isOpen } = await this.#waitsAsTheyAre();
      if (!isOpen) return 'again';
      try {
        this.#isEnding = true;
        const receipt = await this.#writer.write(() => changes, { phase: 'waiting', expect: { version } });
        await this.#clear();
        return { turnId, state: 'waiting', receipt };
      } catch (error) {
        this.#isEnding = false;
        if (await this.#isLost(error)) return this.#lost(error);
        if (!isTurnkeepError(error, 'conflict')) throw error;
      }
    }
  }

  /** The version, and whether every question is still open at it. */
  async #waitsAsTheyAre(): Promise<{ readonly version: number; readonly isOpen: boolean }> {
    return this.#access.view(({ tree, bodies }) => {
      const asked = this.#work.waits.map(({ interruptId }) => readInterrupt(tree, bodies, interruptId));
      return { version: tree.head.version, isOpen: asked.every((interrupt) => interrupt?.status === 'open') };
    });
  }

  /** The turn stays as it is, and the next one may take it up at once. */
  async #letGo(error: TurnkeepError): Promise<never> {
    const { runId } = this.#hold;
    const reason = { code: error.code, message: error.message };
    try {
      this.#isEnding = true;
      await this.#writer.write(() => [{ kind: 'run.end', runId, status: 'failed', reason }]);
    } catch (failure) {
      if (!isTurnkeepError(failure)) throw failure;
      if (await this.#isLost(failure)) await this.#hold.lease.end();
    }
    throw error;
  }

  /** The agent threw, or its caller gave up: what it drafted is kept, and the turn ends. */
  async #fail(thrown: unknown): Promise<TurnOutcome> {
    const { turnId } = this.#hold;
    const { signal } = this.#options;
    const { to, code, message } = signal?.aborted ? givenUp(signal) : await this.#failure(thrown);
    const how = { to, reason: { code, message } };
    let receipt: Receipt;
    try {
      this.#isEnding = true;
      receipt = await endKeeping(this.#draft.drafted, this.#hold, how, (changes) =>
        this.#writer.write(() => changes, { phase: to }),
      );
    } catch (error) {
      if (await this.#isLost(error)) return this.#lost(thrown);
      throw thrown instanceof Error ? thrown : error;
    }
    await cancelSubAgents(this.#access, turnId);
    await this.#clear();
    if (to === 'failed') throw thrown;
    return { turnId, state: 'cancelled', receipt };
  }

  async #failure(thrown: unknown): Promise<{ to: 'failed' | 'cancelled'; code: string; message: string }> {
    const message = messageOf(thrown);
    if (await this.#isGivenUpAbove(thrown)) return { to: 'cancelled', code: 'parent_ended', message };
    return { to: 'failed', code: 'agent_failed', message };
  }

  /** Somebody else ended the turn or works on it: nothing is written here any more. */
  async #lost(reason: unknown): Promise<TurnOutcome> {
    const { lease, turnId, fence } = this.#hold;
    await this.#draft.silence();
    await lease.end();
    try {
      await endOfTaken(this.#access, turnId, fence);
      const outcome = await outcomeOf(this.#access, turnId);
      // Whoever cancelled it may not have come to its sub-agents yet, and may never do.
      if (outcome.state === 'cancelled') await cancelSubAgents(this.#access, turnId);
      return outcome;
    } catch (error) {
      const isOver = isTurnkeepError(error, 'turn_failed') || isTurnkeepError(error, 'erased');
      throw isOver ? error : reason;
    } finally {
      await this.#draft.remove();
    }
  }

  async #clear(): Promise<void> {
    await this.#draft.remove();
    await this.#hold.lease.end();
  }
}
