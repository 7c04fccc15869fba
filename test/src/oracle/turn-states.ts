import type { TaskStatus, TurnState } from 'turnkeep/core';
import type { Turn } from './model.ts';

const ENDED: readonly TurnState[] = ['completed', 'failed', 'cancelled'];
const AT_WORK: readonly TurnState[] = ['preparing', 'dispatching', 'running'];

/** Where each state of a turn leads: `preparing → dispatching → running ⇄ waiting`, then to an end; states may be skipped. */
const MOVES: { readonly [State in TurnState]: readonly TurnState[] } = {
  preparing: ['dispatching', 'running', 'waiting', ...ENDED],
  dispatching: ['running', 'waiting', ...ENDED],
  running: ['waiting', ...ENDED],
  waiting: ['running', ...ENDED],
  completed: [],
  failed: [],
  cancelled: [],
};

/** The life of a task. */
export const TASK_MOVES: { readonly [Status in TaskStatus]: readonly TaskStatus[] } = {
  created: ['running', 'failed', 'cancelled', 'superseded'],
  running: ['awaiting_approval', 'completed', 'failed', 'cancelled', 'superseded'],
  awaiting_approval: ['running', 'completed', 'failed', 'cancelled', 'superseded'],
  completed: [],
  failed: [],
  cancelled: [],
  superseded: [],
};

/** The state of a turn, now or as it was at a version. */
export function stateOf(turn: Turn, version: number = Infinity): TurnState {
  const [first] = turn.moves;
  return (turn.moves.findLast((move) => move.stamp.version <= version) ?? first).state;
}

export function isTerminal(state: TurnState): boolean {
  return ENDED.includes(state);
}

/** A waiting turn keeps nobody waiting. */
export function isBusy(state: TurnState): boolean {
  return AT_WORK.includes(state);
}

/** True once a turn has left `preparing` and `dispatching`. */
export function hasStarted(state: TurnState): boolean {
  return state !== 'preparing' && state !== 'dispatching';
}

export function mayMove(from: TurnState, to: TurnState): boolean {
  return MOVES[from].includes(to);
}

export function isTaskOver(status: TaskStatus): boolean {
  return TASK_MOVES[status].length === 0;
}
