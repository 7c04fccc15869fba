import { z } from 'zod';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { AttemptId, RunId, TurnId } from '../ids.ts';
import { KEYS } from '../keys.ts';
import type { Fence } from '../message.ts';
import { packTurn } from '../rows.ts';
import type { TurnRow } from '../rows.ts';
import { count, id } from '../shapes.ts';
import { ownTurn } from '../tree/path.ts';
import type { OwnTurn } from '../tree/path.ts';
import type { LeftRows } from './left-rows.ts';
import { none } from './rule.ts';
import type { Rule } from './rule.ts';
import { openRun } from './run.ts';
import { isTerminal } from './turn-states.ts';

/** Refuses a commit whose fence is not the one that its turn was given last. */
export function checkFence(draft: Draft, fence: Fence): void {
  const { attempt, token } = fence;
  const turnId = draft.get(KEYS.attempt(attempt))?.[0] as TurnId | undefined;
  if (turnId === undefined) throw new TurnkeepError('no_attempt', { attempt });
  const held = ownTurn(draft.tree, turnId)?.row.attempt;
  if (held?.attempt === attempt && held.token === token) return;
  throw new TurnkeepError('fenced', { turnId, attempt, token, currentToken: held?.token ?? 0 });
}

/** A turn that an attempt holds is written only under that attempt's fence. */
export function requireFence(draft: Draft, turn: TurnRow, path: string): void {
  if (!turn.attempt || draft.envelope.commit.fence?.attempt === turn.attempt.attempt) return;
  throw new TurnkeepError('fence_required', { turnId: turn.turnId, change: path });
}

/** The first attempt at a turn; it holds token 1. */
export const attemptStart: Rule<'attempt.start'> = {
  shape: z.strictObject({
    kind: z.literal('attempt.start'),
    attempt: id.optional(),
    turnId: id,
    runId: id.optional(),
  }),
  complete: (change, mint) => ({ ...change, attempt: change.attempt ?? mint('att') }),
  records: none,
  apply(draft, change) {
    const turn = openTurn(draft, change.turnId);
    const held = turn.row.attempt;
    if (held) throw new TurnkeepError('attempt_exists', { turnId: change.turnId, attempt: held.attempt });
    return give(draft, turn, change.kind, { attempt: change.attempt as AttemptId, token: 1, runId: change.runId });
  },
  leaves: leavesAttempt,
};

/** The next attempt at a turn, by compare-and-swap on the token that the last one holds. */
export const attemptTakeover: Rule<'attempt.takeover'> = {
  shape: z.strictObject({
    kind: z.literal('attempt.takeover'),
    attempt: id.optional(),
    turnId: id,
    fromToken: count,
    runId: id.optional(),
  }),
  complete: (change, mint) => ({ ...change, attempt: change.attempt ?? mint('att') }),
  records: none,
  apply(draft, change) {
    const turn = openTurn(draft, change.turnId);
    const { fromToken: token, turnId } = change;
    const attempt = change.attempt as AttemptId;
    const currentToken = turn.row.attempt?.token ?? 0;
    if (currentToken === 0 || currentToken !== token) {
      throw new TurnkeepError('fenced', { turnId, attempt, token, currentToken });
    }
    return give(draft, turn, change.kind, { attempt, token: token + 1, runId: change.runId });
  },
  leaves: leavesAttempt,
};

function openTurn(draft: Draft, turnId: TurnId): OwnTurn {
  const turn = ownTurn(draft.tree, turnId);
  if (!turn) throw new TurnkeepError('no_turn', { turnId });
  if (isTerminal(turn.row.state)) throw new TurnkeepError('turn_terminal', { turnId, state: turn.row.state });
  return turn;
}

function give(
  draft: Draft,
  turn: OwnTurn,
  kind: 'attempt.start' | 'attempt.takeover',
  given: { readonly attempt: AttemptId; readonly token: number; readonly runId: RunId | undefined },
) {
  const { attempt, token, runId } = given;
  const key = KEYS.attempt(attempt);
  const { turnId } = turn.row;
  if (draft.get(key)) throw new TurnkeepError('attempt_exists', { turnId, attempt });
  if (runId !== undefined) openRun(draft, runId);
  draft.put(key, runId === undefined ? [turnId] : [turnId, runId]);
  draft.put(KEYS.turn(turn.branch, turn.position), packTurn({ ...turn.row, attempt: { attempt, token } }));
  const event = { kind, attempt, turnId, token };
  return runId === undefined ? event : { ...event, runId };
}

function leavesAttempt(
  left: LeftRows,
  { attempt, turnId }: { readonly attempt: AttemptId; readonly turnId: TurnId },
): void {
  left.here(KEYS.attempt(attempt), `attempt ${attempt}`, ([at]) => at === turnId);
}
