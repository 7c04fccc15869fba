import type { Change, StepSettle, TurnSubmit } from '../../core/change.ts';
import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';
import { assertId } from '../../core/ids.ts';
import type { TurnId } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import { memberPath } from '../../core/json.ts';
import { settled } from '../../core/rules/step.ts';
import { isTerminal } from '../../core/rules/turn-states.ts';
import { assertShape } from '../../core/shapes.ts';
import { assertNotAborted } from '../../core/abort.ts';
import type { WriteOptions } from '../access.ts';
import {
  abortSignal,
  anything,
  assertChecked,
  assertFits,
  assertObject,
  callback,
  text,
  withFields,
} from '../given.ts';
import type { Checks } from '../given.ts';
import { eventOf } from '../receipt-event.ts';
import type { AtBoundary } from './turn-work.ts';
import { endFromOutside, LOST_RACE } from './end-from-outside.ts';
import { givenUp, isTimeout } from './given-up.ts';
import { findTurn, firstCheckpoint, hold } from './hold.ts';
import { outcomeOf } from './outcome.ts';
import type { TurnOutcome } from './outcome.ts';
import { persist } from './persist.ts';
import { TurnRun } from './turn-run.ts';
import type { Agent, Workplace } from './turn-run.ts';

/** How a run works on its turn. */
export interface ResumeOptions {
  /** The agent's name, for people; `agent` when absent. */
  readonly agent?: string | undefined;
  /**
   * How long a sign of life counts, in milliseconds; 30,000 when absent. Another process takes the turn over only after it
   * has watched for so long; from a process of the same host that has ended, at once.
   */
  readonly ttlMs?: number | undefined;
  /** Stops the turn: it is `cancelled`, or `failed` for a deadline (`AbortSignal.timeout`). What was drafted is kept. */
  readonly signal?: AbortSignal | undefined;
  /** The caller's decision on steps that may or may not have been done. */
  readonly settle?: { readonly [key: string]: StepSettle['outcome'] } | undefined;
  /** Called at each boundary where a crash may cut the turn off: for tests of recovery. */
  readonly atBoundary?: AtBoundary | undefined;
}

/** How a turn starts and is run. */
export interface RunOptions extends ResumeOptions, Pick<WriteOptions, 'expect'> {
  /** The turn's identity: the id of its commit, its operation and its checkpoint. Called again with it, the turn continues. */
  readonly idempotencyKey: string;
}

/** How an agent's turn starts: like any other, under the key of its run. */
export type AgentTurnStart = Omit<TurnSubmit, 'kind' | 'operationId' | 'whenBusy'>;

const DEFAULT_TTL_MS = 30_000;
// A time to live, a key and an expectation are checked elsewhere, with their own errors.
const RESUME: Checks<ResumeOptions> = {
  agent: text,
  ttlMs: anything,
  signal: abortSignal,
  settle: anything,
  atBoundary: callback,
};
const RUN: Checks<RunOptions> = { ...RESUME, idempotencyKey: anything, expect: anything };

/** A turn from its prompt to its end; sent again under the same key it goes on where it stopped. */
export async function runTurn(
  place: Workplace,
  turn: AgentTurnStart,
  agent: Agent,
  options: RunOptions,
): Promise<TurnOutcome> {
  assertChecked(options, RUN);
  const { idempotencyKey, expect, ...resuming } = options;
  assertReady(agent, resuming);
  assertId(idempotencyKey, 'options.idempotencyKey');
  const submit: Change = withFields(turn, 'turn', { kind: 'turn.submit', operationId: idempotencyKey });
  const receipt = await persist(place.access, () => [submit, firstCheckpoint(idempotencyKey)], {
    idempotencyKey,
    expect,
  });
  const turnId = eventOf(receipt, 'turn.submit').turnId;
  options.atBoundary?.('submitted');
  return resumeNew(place, turnId, agent, resuming);
}

/** Takes up a turn that was just made. If its caller gives up before anybody holds it, it ends like any turn that is given up. */
export async function resumeNew(
  place: Workplace,
  turnId: TurnId,
  agent: Agent,
  options: ResumeOptions,
): Promise<TurnOutcome> {
  try {
    return await resumeTurn(place, turnId, agent, options);
  } catch (error) {
    const { signal } = options;
    if (!signal || !isTurnkeepError(error, 'aborted')) throw error;
    const found = await findTurn(place.access, turnId);
    if (found.held || isTerminal(found.state)) throw error;
    const receipt = await endFromOutside(place.access, turnId, found, { agent: 'run', ...givenUp(signal) }).catch(
      (failure: unknown) => {
        // Somebody took it in between; it is theirs now.
        throw isTurnkeepError(failure) && LOST_RACE.has(failure.code) ? error : failure;
      },
    );
    if (isTimeout(signal.reason)) throw signal.reason;
    return { turnId, state: 'cancelled', receipt };
  }
}

/** Refuses an invalid agent or options before there is a turn; throws `aborted` if the caller has already given up. */
export function assertReady(agent: Agent, options: ResumeOptions): void {
  assertResumable(agent, options);
  assertNotAborted(options.signal);
}

function assertResumable(agent: Agent, options: ResumeOptions): void {
  assertFits(agent, callback, 'agent');
  assertChecked(options, RESUME);
  assertTtl(options.ttlMs);
  const { settle = {} } = options;
  assertObject(settle, 'options.settle');
  for (const [key, outcome] of Object.entries(settle)) assertShape(settled, outcome, memberPath('options.settle', key));
}

/** Takes a turn up where it stopped; see `Conversation.resume`. */
export async function resumeTurn(
  place: Workplace,
  turnId: TurnId,
  agent: Agent,
  options: ResumeOptions = {},
): Promise<TurnOutcome> {
  assertId(turnId, 'turnId');
  assertResumable(agent, options);
  const { signal, ttlMs = DEFAULT_TTL_MS } = options;
  const held = await hold(place.access, turnId, { agent: options.agent ?? 'agent', ttlMs, signal });
  if (!held) return outcomeOf(place.access, turnId);
  return new TurnRun(place, held, options).run(agent);
}

/** Throws `invalid_value` unless it is a time that can pass, and `limit_exceeded` if no timer runs that long. */
export function assertTtl(ttlMs: number | undefined): void {
  if (ttlMs !== undefined && ttlMs > LIMITS.ttlMs && Number.isFinite(ttlMs)) {
    throw new TurnkeepError('limit_exceeded', {
      limit: 'ttlMs',
      max: LIMITS.ttlMs,
      actual: ttlMs,
      path: 'options.ttlMs',
    });
  }
  if (ttlMs === undefined || (Number.isFinite(ttlMs) && ttlMs > 0)) return;
  throw new TurnkeepError('invalid_value', { path: 'options.ttlMs', reason: 'expected milliseconds above 0' });
}
