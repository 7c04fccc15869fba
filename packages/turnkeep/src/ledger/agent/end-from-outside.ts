import type { Change } from '../../core/change.ts';
import { derivedId } from '../../core/commit.ts';
import type { AttemptId, RunId, TurnId } from '../../core/ids.ts';
import type { Receipt } from '../../core/receipt.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { unfinishedMessage } from './agent-turn.ts';
import { partsOf, readDraft, removeDraft } from './draft.ts';
import type { Found } from './hold.ts';
import { removeBeat } from './lease.ts';
import { persist } from './persist.ts';

export interface End {
  readonly to: 'cancelled' | 'failed';
  /** Who ends it, for a person. */
  readonly agent: string;
  readonly code: string;
  readonly message: string;
}

/**
 * Ends a turn that another process holds, or held: takes its token, so that nothing comes after, then ends it together with
 * what was drafted. Its operation, where it is still open, fails with the same words.
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
  await persist(access, () => [start, ...(openRun === undefined ? [] : [endRun(openRun)]), claim]);
  const fence = { attempt, token: (held?.token ?? 0) + 1 };
  const kept = unfinishedMessage(turnId, partsOf(await readDraft(access, turnId)), how.code);
  const resolve: Change = {
    kind: 'operation.resolve',
    operationId: openOperation ?? '',
    outcome: { status: 'failed', ...reason },
  };
  const resolves = openOperation !== null && how.to === 'failed';
  const move: Change = resolves ? resolve : { kind: 'turn.advance', turnId, to: how.to };
  const receipt = await persist(access, () => [...kept, move, endRun(runId)], { fence });
  await removeDraft(access, turnId);
  if (held) await removeBeat(access, held.attempt);
  return receipt;
}
