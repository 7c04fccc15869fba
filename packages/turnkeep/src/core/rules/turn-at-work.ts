import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { TurnId } from '../ids.ts';
import { ownCallsAt } from '../tree/calls.ts';
import { ownTurn } from '../tree/path.ts';
import type { OwnTurn } from '../tree/path.ts';
import { requireFence } from './attempt.ts';
import { hasStarted, isTerminal } from './turn-states.ts';

/** An own turn that has started and has not ended, written by whoever holds it. */
export function turnAtWork(draft: Draft, turnId: TurnId, path: string): OwnTurn {
  const turn = ownTurn(draft.tree, turnId);
  if (!turn) throw new TurnkeepError('no_turn', { turnId });
  const { state } = turn.row;
  if (isTerminal(state)) throw new TurnkeepError('turn_terminal', { turnId, state });
  if (!hasStarted(state)) throw new TurnkeepError('turn_not_running', { turnId, state });
  requireFence(draft, turn.row, path);
  return turn;
}

/** A tool call that is named must stand in the turn. */
export function assertCalledIn(draft: Draft, turn: OwnTurn, callId: string | undefined): void {
  if (callId === undefined) return;
  const places = ownCallsAt(draft.tree, callId, turn.branch, turn.position);
  if (!places.some((place) => place.kind === 'call')) throw new TurnkeepError('no_call', { callId });
}
