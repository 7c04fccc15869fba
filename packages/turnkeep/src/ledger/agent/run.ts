import type { Change, StepSettle, TurnSubmit } from '../../core/change.ts';
import { receiptOf } from '../../core/decide.ts';
import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import { headerAt } from '../../core/header.ts';
import { KEYS, numbersIn, prefixEnd } from '../../core/keys.ts';
import type { NewMessage } from '../../core/message.ts';
import { readRun, runOfAttempt } from '../../core/read/agent.ts';
import type { Receipt } from '../../core/receipt.ts';
import { isTerminal } from '../../core/rules/turn-states.ts';
import { ownTurn } from '../../core/tree/path.ts';
import type { View, WriteOptions } from '../access.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { assertOptions } from '../given.ts';
import { eventOf } from '../receipt-event.ts';
import { AgentTurn, TurnWaits, messageOf } from './agent-turn.ts';
import type { AtBoundary } from './agent-turn.ts';
import { DraftWriter } from './draft.ts';
import { firstCheckpoint, hold } from './hold.ts';
import type { Hold } from './hold.ts';
import { watchOwnership } from './ownership.ts';
import { TurnWriter } from './turn-writer.ts';

/**
 * What an agent does with a turn. It is called again from its start after a crash or an answer; see {@link AgentTurn}. The
 * messages that it answers complete the turn.
 */
export type Agent = (turn: AgentTurn) => Promise<readonly NewMessage[] | void>;

export interface ResumeOptions {
  /** Which agent, for a person: `agent` when absent. */
  readonly agent?: string | undefined;
  /**
   * How long a sign of life counts, in milliseconds: 30,000 by default. Another process may take the turn over only after
   * it has watched for so long; one of the same host that has ended is taken over at once.
   */
  readonly ttlMs?: number | undefined;
  /** Stops the turn: `cancelled`, or `failed` where it is a deadline (`AbortSignal.timeout`). What was drafted is kept. */
  readonly signal?: AbortSignal | undefined;
  /** The caller's word on steps of which nobody knows whether they were done. */
  readonly settle?: { readonly [key: string]: StepSettle['outcome'] } | undefined;
  readonly atBoundary?: AtBoundary | undefined;
}

export interface RunOptions extends ResumeOptions, Pick<WriteOptions, 'expect'> {
  /** The turn's identity: its commit's, its operation's and its checkpoint's id. Sent again, the turn goes on. */
  readonly idempotencyKey: string;
}

/** How a turn of an agent starts: as any other, under the key of its run. */
export type AgentTurnStart = Omit<TurnSubmit, 'kind' | 'operationId' | 'whenBusy'>;

/** How a run left its turn. */
export interface TurnOutcome {
  readonly turnId: TurnId;
  readonly state: 'completed' | 'waiting' | 'cancelled';
  /** Of the commit that moved the turn there. */
  readonly receipt: Receipt;
}

const DEFAULT_TTL_MS = 30_000;
const RESUME_OPTIONS: ReadonlySet<string> = new Set(['agent', 'ttlMs', 'signal', 'settle', 'atBoundary']);
const RUN_OPTIONS: ReadonlySet<string> = new Set([...RESUME_OPTIONS, 'idempotencyKey', 'expect']);

/** A turn from its prompt to its end; sent again under the same key it goes on where it stopped. */
export async function runTurn(
  access: ConversationAccess,
  turn: AgentTurnStart,
  agent: Agent,
  options: RunOptions,
): Promise<TurnOutcome> {
  assertOptions(options, RUN_OPTIONS);
  const { idempotencyKey, expect, ...resuming } = options;
  assertTtl(resuming.ttlMs);
  const submit: Change = { ...turn, kind: 'turn.submit', operationId: idempotencyKey };
  const receipt = await access.write([submit, firstCheckpoint(idempotencyKey)], { idempotencyKey, expect });
  const turnId = eventOf(receipt, 'turn.submit')['turnId'] as TurnId;
  options.atBoundary?.('submitted');
  return resumeTurn(access, turnId, agent, resuming);
}

/** Takes a turn up where it stopped; see `Conversation.resume`. */
export async function resumeTurn(
  access: ConversationAccess,
  turnId: TurnId,
  agent: Agent,
  options: ResumeOptions = {},
): Promise<TurnOutcome> {
  assertOptions(options, RESUME_OPTIONS);
  const { signal, ttlMs = DEFAULT_TTL_MS } = options;
  assertTtl(ttlMs);
  const held = await hold(access, turnId, { agent: options.agent ?? 'agent', ttlMs, signal });
  if (!held) return outcomeOf(access, turnId);
  options.atBoundary?.('held');
  return new TurnRun(access, held, options).run(agent);
}

export function assertTtl(ttlMs: number | undefined): void {
  if (ttlMs === undefined || (Number.isFinite(ttlMs) && ttlMs > 0)) return;
  throw new TurnkeepError('invalid_value', { path: 'options.ttlMs', reason: 'milliseconds above 0 are asked for' });
}

/** One run at one turn, from its hold to whatever ends it. */
class TurnRun {
  readonly #access: ConversationAccess;
  readonly #hold: Hold;
  readonly #options: ResumeOptions;
  readonly #writer: TurnWriter;
  readonly #draft: DraftWriter;
  readonly #stopped = new AbortController();
  readonly #turn: AgentTurn;
  /** True once this run writes its own end. */
  #isEnding = false;

  constructor(access: ConversationAccess, held: Hold, options: ResumeOptions) {
    this.#access = access;
    this.#hold = held;
    this.#options = options;
    this.#writer = new TurnWriter(access, held);
    this.#draft = new DraftWriter(access, held.turnId, held.fence.token);
    const signal = AbortSignal.any([this.#stopped.signal, ...(options.signal ? [options.signal] : [])]);
    this.#turn = new AgentTurn(access, this.#writer, this.#draft, signal, options.atBoundary ?? (() => undefined));
  }

  async run(agent: Agent): Promise<TurnOutcome> {
    const stopWatching = watchOwnership(this.#access, this.#hold, (error) => void this.#stop(error));
    try {
      await this.#settleAsTold();
      return await this.#outcome(await this.#work(agent));
    } finally {
      stopWatching();
      this.#writer.close();
    }
  }

  /** Aborts the agent, unless it was this run that ended the turn. */
  async #stop(error: TurnkeepError): Promise<void> {
    await this.#writer.idle();
    if (!this.#isEnding && !this.#turn.ended) this.#stopped.abort(error);
  }

  async #settleAsTold(): Promise<void> {
    const { turnId } = this.#hold;
    const told = Object.entries(this.#options.settle ?? {});
    for (const [key, outcome] of told) {
      await this.#writer.write(() => [{ kind: 'step.settle', turnId, key, outcome }]);
    }
  }

  /** Runs the agent's function until it ends or the turn is cut off. Answers what it threw, if it did. */
  async #work(agent: Agent): Promise<{ readonly thrown?: unknown }> {
    const { signal } = this.#turn;
    const cut = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    cut.catch(() => undefined);
    try {
      const messages = await Promise.race([agent(this.#turn), cut]);
      await Promise.race([this.#turn.settled(), cut]);
      if (this.#turn.waits[0] && !this.#turn.ended) return { thrown: this.#turn.waits[0] };
      if (!this.#turn.ended) await this.#turn.complete({ messages: messages ?? [] });
      return {};
    } catch (error) {
      await Promise.race([this.#turn.settled(), cut]).catch(() => undefined);
      return { thrown: signal.aborted ? signal.reason : error };
    }
  }

  async #outcome({ thrown }: { readonly thrown?: unknown }): Promise<TurnOutcome> {
    const { turnId } = this.#hold;
    const { ended } = this.#turn;
    if (ended) {
      await this.#clear();
      this.#options.atBoundary?.('ended');
      return thrown === undefined || thrown === this.#stopped.signal.reason
        ? { turnId, state: stateIn(ended), receipt: ended }
        : rethrow(thrown);
    }
    if (this.#stopped.signal.aborted) return this.#lost(this.#stopped.signal.reason);
    if (thrown instanceof TurnWaits) return this.#wait();
    if (isTurnkeepError(thrown, 'ambiguous') || isTurnkeepError(thrown, 'not_completed')) return this.#letGo(thrown);
    return this.#fail(thrown);
  }

  async #wait(): Promise<TurnOutcome> {
    const { turnId, runId } = this.#hold;
    const changes: readonly Change[] = [
      { kind: 'turn.advance', turnId, to: 'waiting' },
      { kind: 'run.end', runId, status: 'waiting' },
    ];
    const receipt = await this.#write(changes, 'waiting');
    await this.#clear();
    return { turnId, state: 'waiting', receipt };
  }

  /** The turn stays as it is, and the next one may take it up at once. */
  async #letGo(error: TurnkeepError): Promise<never> {
    const { runId, lease } = this.#hold;
    const reason = { code: error.code, message: error.message };
    try {
      await this.#write([{ kind: 'run.end', runId, status: 'failed', reason }]);
    } finally {
      await this.#draft.silence();
      await lease.release();
    }
    throw error;
  }

  /** The agent threw, or its caller gave up: what it drafted is kept, and the turn ends. */
  async #fail(thrown: unknown): Promise<TurnOutcome> {
    const { turnId, runId } = this.#hold;
    const { signal } = this.#options;
    const cancelled = signal?.aborted === true && !isTimeout(signal.reason);
    const code = cancelled ? 'cancelled' : signal?.aborted ? 'deadline' : 'agent_failed';
    const to = cancelled ? 'cancelled' : 'failed';
    const changes: readonly Change[] = [
      ...this.#turn.unfinished(code),
      { kind: 'turn.advance', turnId, to },
      { kind: 'run.end', runId, status: to, reason: { code, message: messageOf(thrown) } },
    ];
    let receipt: Receipt;
    try {
      receipt = await this.#write(changes, to);
    } catch (error) {
      // Whoever holds it by now goes on; where the store failed, the next one finds the turn let go.
      await this.#hold.lease.release().catch(() => undefined);
      throw thrown instanceof Error ? thrown : error;
    }
    await this.#clear();
    if (!cancelled) throw thrown;
    return { turnId, state: 'cancelled', receipt };
  }

  /** Somebody else ended the turn or works on it: nothing is written here any more. */
  async #lost(reason: unknown): Promise<TurnOutcome> {
    const { lease, turnId } = this.#hold;
    await this.#draft.silence();
    await lease.end();
    const outcome = await outcomeOf(this.#access, turnId).catch(() => undefined);
    if (!outcome) throw reason;
    await this.#draft.remove();
    return outcome;
  }

  async #write(changes: readonly Change[], phase?: 'waiting' | 'failed' | 'cancelled'): Promise<Receipt> {
    this.#isEnding = true;
    return this.#writer.write(() => changes, { phase });
  }

  async #clear(): Promise<void> {
    await this.#draft.remove();
    await this.#hold.lease.end();
  }
}

function rethrow(error: unknown): never {
  throw error;
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}

function stateIn(receipt: Receipt): 'completed' | 'cancelled' {
  return eventOf(receipt, 'turn.advance')['to'] as 'completed' | 'cancelled';
}

/** How a turn ended; throws `turn_failed` with the reason where it failed, and `turn_open` where it has not ended. */
export async function outcomeOf(access: ConversationAccess, turnId: TurnId): Promise<TurnOutcome> {
  return access.view((view) => {
    const turn = ownTurn(view.tree, turnId);
    if (!turn) throw new TurnkeepError('no_turn', { turnId });
    const { state } = turn.row;
    if (!isTerminal(state)) throw new TurnkeepError('turn_open', { turnId, state });
    if (state === 'failed') throw new TurnkeepError('turn_failed', { turnId, ...failureOf(view, turnId) });
    return { turnId, state: state as 'completed' | 'cancelled', receipt: receiptOfLastMove(view, turnId) };
  });
}

function receiptOfLastMove({ tree, bodies }: View, turnId: TurnId): Receipt {
  const turn = ownTurn(tree, turnId);
  const { conversationId } = tree.head;
  const prefix = turn && KEYS.turnStates(turn.branch, turn.position);
  const range = prefix === undefined ? undefined : { from: prefix, to: prefixEnd(prefix), reverse: true, limit: 1 };
  const [last] = range ? tree.rows.scan(conversationId, range) : [];
  const moved = last && prefix !== undefined ? numbersIn(last.key, prefix.length)[0] : undefined;
  const version = moved ?? turn?.row.created.version ?? 1;
  return receiptOf(conversationId, headerAt(tree.rows, bodies.sha256, conversationId, version), true);
}

/** Why a turn failed: what its last run said, else its operation. */
function failureOf({ tree, bodies }: View, turnId: TurnId): { readonly code: string; readonly message: string } {
  const attempt = ownTurn(tree, turnId)?.row.attempt;
  const runId = attempt && runOfAttempt(tree, attempt.attempt);
  const reason = runId === undefined || runId === null ? undefined : readRun(tree, bodies, runId)?.reason;
  return reason ?? { code: 'failed', message: 'the turn failed' };
}
