import type { Change } from '../../core/change.ts';
import { derivedId } from '../../core/commit.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { AttemptId, CheckpointId, OperationId, RunId, TurnId } from '../../core/ids.ts';
import type { Receipt } from '../../core/receipt.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { cancelSubAgents } from '../sub-agents.ts';
import { inheritDraft, partsOf, readDraft, removeDraft } from './draft.ts';
import { findTurn } from './hold.ts';
import type { Found } from './hold.ts';
import { removeBeat } from './lease.ts';
import { persist } from './persist.ts';
import { endKeeping } from './unfinished.ts';

/** Refusals that mean that somebody else took or ended the turn in between. */
export const LOST_RACE: ReadonlySet<ErrorCode> = new Set([
  'fenced',
  'attempt_exists',
  'turn_terminal',
  'no_attempt',
  'run_ended',
]);

/** How a turn ends for somebody who does not work on it. */
export interface End {
  readonly to: 'cancelled' | 'failed';
  /** Who ends it, for a person. */
  readonly agent: string;
  readonly code: string;
  readonly message: string;
}

/**
 * Ends a turn that another process holds, or held: takes its token, so that nothing comes after, then ends it together with
 * what was drafted. If its operation is still open, it fails with the same words.
 */
export async function endFromOutside(
  access: ConversationAccess,
  turnId: TurnId,
  { held, openRun, openOperation }: Found,
  how: End,
): Promise<Receipt> {
  const { mintCommitId, surroundings } = access.access;
  const stem = mintCommitId(surroundings.now());
  const attempt: AttemptId = derivedId('att', stem, 0, surroundings.sha256);
  const runId: RunId = derivedId('run', stem, 0, surroundings.sha256);
  const reason = { code: how.code, message: how.message };
  const endRun = (id: RunId): Change => ({ kind: 'run.end', runId: id, status: how.to, reason });
  const start: Change = { kind: 'run.start', runId, agent: how.agent, baseTurnId: turnId };
  const claim: Change = held
    ? { kind: 'attempt.takeover', attempt, turnId, fromToken: held.token, runId }
    : { kind: 'attempt.start', attempt, turnId, runId };
  await persist(access, () => [start, claim, ...(openRun === undefined ? [] : [endRun(openRun)])]);
  const fence = { attempt, token: (held?.token ?? 0) + 1 };
  if (held) await inheritDraft(access, turnId, held.token, fence.token);
  const draft = await readDraft(access, turnId, fence.token);
  const drafted = { parts: partsOf(draft), truncated: draft?.truncated ?? false };
  // Nobody else advances it any more.
  const { checkpointId, revision } = await findTurn(access, turnId);
  const last = revision === undefined ? [] : [lastPhase(checkpointId, revision, turnId, how.to)];
  const write = (changes: readonly Change[]) => persist(access, () => [...changes, ...last], { fence });
  const receipt = await endKeeping(
    drafted,
    { turnId, runId },
    { to: how.to, reason },
    write,
    moveOf(turnId, openOperation, how),
  );
  await cancelSubAgents(access, turnId);
  await removeDraft(access, turnId, fence.token);
  if (held) await removeBeat(access, held.attempt);
  return receipt;
}

function lastPhase(checkpointId: CheckpointId, from: number, turnId: TurnId, phase: End['to']): Change {
  return {
    kind: 'checkpoint.advance',
    checkpointId,
    from,
    phase,
    payload: { turn: { json: { turnId, inFlight: [] } } },
  };
}

/** What ends the turn: the failure of its operation if that is still open, else its own move. */
function moveOf(turnId: TurnId, operationId: OperationId | null, { to, code, message }: End): Change {
  if (operationId === null || to === 'cancelled') return { kind: 'turn.advance', turnId, to };
  return { kind: 'operation.resolve', operationId, outcome: { status: 'failed', code, message } };
}
