import type { TurnState } from '../change.ts';

/**
 * The life of a turn: `preparing → dispatching → running ⇄ waiting`, then `completed`, `failed` or `cancelled`. It only
 * goes forward; states may be skipped; the terminal ones are reached from any other and left by none.
 */
const RANK: { readonly [State in TurnState]: number } = {
  preparing: 0,
  dispatching: 1,
  running: 2,
  waiting: 2,
  completed: 3,
  failed: 3,
  cancelled: 3,
};

export function isTerminal(state: TurnState): boolean {
  return RANK[state] === 3;
}

/** True once a turn has left `preparing` and `dispatching`. */
export function hasStarted(state: TurnState): boolean {
  return RANK[state] >= 2;
}

/** True while a turn keeps its conversation busy; a waiting one does not. */
export function isBusy(state: TurnState): boolean {
  return RANK[state] < 2 || state === 'running';
}

export function isLegalAdvance(from: TurnState, to: TurnState): boolean {
  if (isTerminal(from) || from === to) return false;
  return RANK[to] > RANK[from] || (RANK[from] === 2 && RANK[to] === 2);
}
