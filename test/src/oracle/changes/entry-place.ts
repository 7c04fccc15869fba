import type { TurnId } from 'turnkeep/core';
import type { Draft } from '../draft.ts';
import type { Step } from '../model.ts';
import { ownTurn, pathTo } from '../path.ts';
import { refuse } from '../refusal.ts';
import { hasStarted, isTerminal, stateOf } from '../turn-states.ts';

/** Where an entry is made: in a turn, or before the conversation's first turn; and the path that it is judged on. */
export interface EntryPlace {
  readonly turnId: TurnId | null;
  readonly path: readonly Step[];
}

/**
 * Only the active leaf, or a turn that has not ended, makes entries, and only once it has started. Where the leaf is the turn that a fork
 * was cut at, its entries go to the fork's tail: the turn itself is another conversation's.
 */
export function entryPlace(draft: Draft, named: TurnId | undefined): EntryPlace {
  const { conversation } = draft;
  const { leaf } = conversation;
  const turnId = named ?? leaf;
  const isOwn = turnId !== null && ownTurn(conversation, turnId) !== undefined;
  if (named !== undefined || isOwn) assertMakesEntries(draft, turnId ?? '');
  return { turnId: isOwn ? turnId : null, path: pathTo(conversation, isOwn ? turnId : null) };
}

function assertMakesEntries(draft: Draft, turnId: TurnId): void {
  const turn = ownTurn(draft.conversation, turnId);
  if (!turn) return refuse('no_turn', { turnId });
  const state = stateOf(turn);
  const isOver = isTerminal(state) && turnId !== draft.conversation.leaf;
  if (!hasStarted(state) || isOver) refuse('turn_not_running', { turnId, state });
}
