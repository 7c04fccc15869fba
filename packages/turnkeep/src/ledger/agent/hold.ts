import type { Change, TurnState } from '../../core/change.ts';
import { derivedId } from '../../core/commit.ts';
import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { AttemptId, CheckpointId, OperationId, RunId, TurnId } from '../../core/ids.ts';
import type { Fence } from '../../core/message.ts';
import { readRun, runOfAttempt } from '../../core/read/agent.ts';
import { readCheckpoint } from '../../core/read/checkpoint.ts';
import { isTerminal } from '../../core/rules/turn-states.ts';
import { ownTurn } from '../../core/tree/path.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { pause } from '../../platform/timers.ts';
import { assertNotAborted } from '../../core/abort.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { BeatWatch } from './beat-watch.ts';
import { inheritDraft } from './draft.ts';
import { isAtWorkHere, isOver, Lease, readBeat, removeBeat } from './lease.ts';
import { persist } from './persist.ts';

const LOOKS_PER_TTL = 12;
/** The type of a turn's checkpoint. */
const TURN = 'turn';

/** A turn as found by somebody who wants to work on it. */
export interface Found {
  readonly state: TurnState;
  readonly held: Fence | null;
  /** The run of the attempt that holds it, if nobody has ended it. */
  readonly openRun: RunId | undefined;
  /** The operation that the turn was submitted with, while it is open. */
  readonly openOperation: OperationId | null;
  readonly checkpointId: CheckpointId;
  /** `undefined` if there is no checkpoint yet. */
  readonly revision: number | undefined;
  /** True for a turn that `run` made and nobody has moved: its maker was about to take hold of it. */
  readonly isOfRun: boolean;
}

/** A turn that this process works on. */
export interface Hold {
  readonly turnId: TurnId;
  readonly fence: Fence;
  readonly runId: RunId;
  readonly lease: Lease;
  readonly checkpointId: CheckpointId;
  readonly revision: number;
}

export interface HoldOptions {
  /** Which agent, for a person. */
  readonly agent: string;
  readonly ttlMs: number;
  readonly signal?: AbortSignal | undefined;
}

export async function findTurn(access: ConversationAccess, turnId: TurnId): Promise<Found> {
  return access.view(({ tree, bodies }) => {
    const turn = ownTurn(tree, turnId);
    if (!turn) throw new TurnkeepError('no_turn', { turnId });
    const { state, attempt: held, operationId } = turn.row;
    const opened = tree.head.openOperation === operationId ? operationId : null;
    const checkpointId: string = operationId ?? turnId; // the turn's idempotency identity, whatever it identifies
    const runId = held ? runOfAttempt(tree, held.attempt) : undefined;
    const isOpen = runId !== undefined && readRun(tree, bodies, runId)?.status === 'running';
    const checkpoint = readCheckpoint(tree, bodies, checkpointId);
    return {
      state,
      held,
      openRun: isOpen ? runId : undefined,
      openOperation: opened,
      checkpointId,
      revision: checkpoint?.revision,
      isOfRun: state === 'preparing' && checkpoint?.type === TURN && checkpoint.revision === 0,
    };
  });
}

/**
 * Takes a turn to work on it: the first attempt, or a takeover from one that waits, let go, or is no longer alive. A
 * process of this host that has ended is seen at once; any other owner is watched for the whole time to live. Throws
 * `turn_held` if the owner is alive or somebody else was quicker; returns `undefined` if the turn has ended.
 */
export async function hold(
  access: ConversationAccess,
  turnId: TurnId,
  options: HoldOptions,
): Promise<Hold | undefined> {
  const watch = new BeatWatch(options.ttlMs);
  for (;;) {
    assertNotAborted(options.signal);
    const found = await findTurn(access, turnId);
    if (isTerminal(found.state)) return undefined;
    const owner = await lookAtOwner(access, found, watch);
    if (owner === 'gone') return take(access, turnId, found, options);
    if (owner === 'lives') throw new TurnkeepError('turn_held', { turnId, ...holderIn(found) });
    await pause(options.ttlMs / LOOKS_PER_TTL, options.signal);
  }
}

/** Whether somebody works on a turn; `unknown` until its owner was watched for the whole time to live. */
export async function lookAtOwner(
  access: ConversationAccess,
  { state, held }: Pick<Found, 'state' | 'held'>,
  watch: BeatWatch,
): Promise<'gone' | 'lives' | 'unknown'> {
  if (!held || state === 'waiting') return 'gone';
  if (isAtWorkHere(held.attempt)) return 'lives';
  const beat = await readBeat(access, held.attempt);
  if (isOver(beat)) return 'gone';
  const seen = watch.see(JSON.stringify([held.token, beat?.count ?? null]), monotonicNow());
  if (seen === 'watching') return 'unknown';
  return seen === 'lapsed' ? 'gone' : 'lives';
}

function holderIn({ held }: Found): Fence {
  return held ?? { attempt: '', token: 0 };
}

/** Refusals that mean that somebody else was quicker. */
const TAKEN: ReadonlySet<ErrorCode> = new Set([
  'fenced',
  'fence_required',
  'attempt_exists',
  'checkpoint_exists',
  'illegal_transition',
  'run_ended',
]);

async function take(
  access: ConversationAccess,
  turnId: TurnId,
  found: Found,
  options: HoldOptions,
): Promise<Hold | undefined> {
  const { mintCommitId, surroundings } = access.access;
  const { held, checkpointId } = found;
  const stem = mintCommitId(surroundings.now());
  const attempt: AttemptId = derivedId('att', stem, 0, surroundings.sha256);
  const runId: RunId = derivedId('run', stem, 0, surroundings.sha256);
  const token = (held?.token ?? 0) + 1;
  const lease = new Lease(access, attempt, options.ttlMs);
  await lease.begin();
  try {
    await persist(access, () => changesOf(turnId, found, { attempt, runId, agent: options.agent }));
    const fence = { attempt, token };
    if (held) {
      // The turn goes on if unfinished words cannot be passed on.
      await inheritDraft(access, turnId, held.token, token).catch(() => undefined);
      await removeBeat(access, held.attempt);
    }
    if (held && found.state !== 'running') await persist(access, () => [running(turnId)], { fence });
    // An owner that was still alive may have moved the checkpoint until its token was taken; now nobody else does.
    const { revision = 0 } = held ? await findTurn(access, turnId) : found;
    return { turnId, fence, runId, lease, checkpointId, revision };
  } catch (error) {
    await lease.end();
    if (isTurnkeepError(error, 'turn_terminal')) return undefined;
    if (isTurnkeepError(error) && TAKEN.has(error.code)) {
      const now = await findTurn(access, turnId);
      throw new TurnkeepError('turn_held', { turnId, ...holderIn(now) }, { cause: error });
    }
    throw error;
  }
}

function running(turnId: TurnId): Change {
  return { kind: 'turn.advance', turnId, to: 'running' };
}

function changesOf(
  turnId: TurnId,
  { state, held, openRun, checkpointId, revision }: Found,
  by: { readonly attempt: AttemptId; readonly runId: RunId; readonly agent: string },
): readonly Change[] {
  const { attempt, runId, agent } = by;
  const changes: Change[] = [{ kind: 'run.start', runId, agent, baseTurnId: turnId }];
  if (revision === undefined) changes.push(firstCheckpoint(checkpointId));
  if (held) {
    // The token is taken first: of two that saw the same owner, the second is refused by it.
    changes.push({ kind: 'attempt.takeover', attempt, turnId, fromToken: held.token, runId });
    return openRun === undefined ? changes : [...changes, lostRun(openRun)];
  }
  // Done before the attempt holds the turn; afterwards its fence would be required.
  if (state !== 'running') changes.push(running(turnId));
  return [...changes, { kind: 'attempt.start', attempt, turnId, runId }];
}

/** The end of a run that cannot record it itself. */
export function lostRun(runId: RunId): Change {
  const reason = { code: 'owner_lost', message: 'the process that ran it does not live any more' };
  return { kind: 'run.end', runId, status: 'failed', reason };
}

/** The checkpoint of a turn: its id is the turn's idempotency identity. */
export function firstCheckpoint(checkpointId: CheckpointId): Change {
  return { kind: 'checkpoint.create', checkpointId, type: TURN, schemaVersion: 1, phase: 'ready', payload: {} };
}
