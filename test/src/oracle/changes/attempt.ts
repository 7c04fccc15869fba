import type { AttemptId, Fence, RunId, TurnId } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import type { Turn } from '../model.ts';
import { ownTurn } from '../path.ts';
import { refuse } from '../refusal.ts';
import { isTerminal, stateOf } from '../turn-states.ts';
import { openRun } from './agent.ts';

/** A fence that is not the one that its turn was given last writes nothing. */
export function checkFence(draft: Draft, fence: Fence): void {
  const { attempt, token } = fence;
  const turnId = draft.conversation.attempts.get(attempt);
  if (turnId === undefined) return refuse('no_attempt', { attempt });
  const held = ownTurn(draft.conversation, turnId)?.attempt;
  if (held?.attempt === attempt && held.token === token) return;
  refuse('fenced', { turnId, attempt, token, currentToken: held?.token ?? 0 });
}

/** The first attempt at a turn holds token 1. */
export function start(draft: Draft, change: ChangeOf<'attempt.start'>): Mark {
  const { kind, turnId } = change;
  const turn = openTurn(draft, turnId);
  if (turn.attempt) refuse('attempt_exists', { turnId, attempt: turn.attempt.attempt });
  return give(draft, kind, turn, { attempt: change.attempt as AttemptId, token: 1 }, change.runId);
}

/** The next attempt, by compare-and-swap on the token that the last one holds. */
export function takeover(draft: Draft, change: ChangeOf<'attempt.takeover'>): Mark {
  const { kind, turnId, fromToken: token } = change;
  const turn = openTurn(draft, turnId);
  const attempt = change.attempt as AttemptId; // minted beforehand
  const held = turn.attempt?.token;
  if (held === undefined || held !== token) refuse('fenced', { turnId, attempt, token, currentToken: held ?? 0 });
  return give(draft, kind, turn, { attempt, token: token + 1 }, change.runId);
}

function openTurn(draft: Draft, turnId: TurnId): Turn {
  const turn = ownTurn(draft.conversation, turnId);
  if (!turn) return refuse('no_turn', { turnId });
  const state = stateOf(turn);
  if (isTerminal(state)) refuse('turn_terminal', { turnId, state });
  return turn;
}

function give(
  draft: Draft,
  kind: 'attempt.start' | 'attempt.takeover',
  turn: Turn,
  given: Fence,
  runId: RunId | undefined,
): Mark {
  const { turnId } = turn;
  const { attempts } = draft.conversation;
  const { attempt, token } = given;
  if (attempts.has(attempt)) refuse('attempt_exists', { turnId, attempt });
  if (runId !== undefined) openRun(draft, runId);
  draft.become({ attempts: withMember(attempts, attempt, turnId) });
  draft.replaceTurn({ ...turn, attempt: given });
  return { kind, attempt, turnId, token, ...(runId === undefined ? {} : { runId }) };
}
