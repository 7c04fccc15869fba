import { z } from 'zod';
import type { RowValue } from '../backend.ts';
import { TURN_STATES } from '../change.ts';
import type { Parent, TurnState, SiblingReason } from '../change.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { OperationId, PromptId, TurnId } from '../ids.ts';
import { KEYS } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { packBranch, packTurn } from '../rows.ts';
import type { TurnRow } from '../rows.ts';
import { code, id } from '../shapes.ts';
import { branchRow, findInherited, ownTurn } from '../tree/path.ts';
import type { OwnTurn } from '../tree/path.ts';
import { nextOrdinal, placeOfNewTurn } from '../tree/place.ts';
import type { NewPlace } from '../tree/place.ts';
import { touch } from './append.ts';
import { requireFence } from './attempt.ts';
import { withdrawInterrupts } from './open-interrupts.ts';
import type { LeftRows } from './left-rows.ts';
import { none, untold } from './rule.ts';
import type { Rule } from './rule.ts';
import { hasStarted, isBusy, isLegalAdvance, isTerminal } from './turn-states.ts';

/** A turn or a message to stand under. */
export const parent: z.ZodType<Parent> = z.union(
  [z.null(), z.strictObject({ turnId: id }), z.strictObject({ messageId: id })],
  'expected { turnId }, { messageId } or null',
);

/** To name a parent, the caller must have seen the tree, and must say which version of it. */
export function assertParentExpected(draft: Draft, named: Parent | undefined, path: string): void {
  if (named === undefined || draft.envelope.commit.expect?.graphRevision !== undefined) return;
  throw new TurnkeepError('expect_required', { field: 'graphRevision', change: path });
}

export function assertFree(draft: Draft): void {
  const [turnId] = draft.head.busy;
  if (turnId === undefined || draft.head.busyByPath) return;
  throw new TurnkeepError('busy', { turnId, state: ownTurn(draft.tree, turnId)?.row.state ?? 'running' });
}

export interface NewTurn {
  readonly parent: Parent | undefined;
  readonly state: TurnState;
  readonly promptId: PromptId | null;
  readonly operationId: OperationId | null;
  /** True if its prompt was an earlier turn's. */
  readonly shared: boolean;
}

/** Adds a turn to the tree: its place, its ordinal among its siblings, its rows. */
export function addTurn(draft: Draft, turnId: TurnId, input: NewTurn): OwnTurn {
  const { tree } = draft;
  if (ownTurn(tree, turnId) ?? findInherited(tree, turnId)) throw new TurnkeepError('turn_exists', { turnId });
  const place = placeOfNewTurn(tree, input.parent);
  assertParentEnded(place);
  const ordinal = nextOrdinal(tree, place);
  const { branch, after } =
    'branch' in place.on ? place.on : { branch: newBranch(draft, place.on.cut, false), after: 0 };
  const position = after + 1;
  const row: TurnRow = {
    turnId,
    parentTurnId: place.turnId,
    parentMessageId: place.messageId,
    ordinal,
    why: siblingReason(ordinal, input.shared),
    state: input.state,
    firstState: input.state,
    created: draft.stamp,
    base: hasStarted(input.state) ? draft.stamp : null,
    operationId: input.operationId,
    promptId: input.promptId,
    attempt: null,
  };
  draft.put(KEYS.turn(branch, position), packTurn(row));
  draft.put(KEYS.turnId(turnId), [branch, position]);
  draft.put(KEYS.child(place.turnId, ordinal), [turnId]);
  draft.head.turns += 1;
  // What follows would come after the new turn in sequence and before it on its path.
  draft.recording = null;
  draft.head.graphRevision += 1;
  markBusy(draft, turnId, isBusy(input.state));
  touch(draft);
  return { branch, position, row };
}

/** The rows that a turn leaves; its own row is checked by those of the other turns. */
export function leavesTurn(left: LeftRows, turnId: TurnId): RowValue | undefined {
  return left.here(KEYS.turnId(turnId), `the id of turn ${turnId}`);
}

function siblingReason(ordinal: number, shared: boolean): SiblingReason {
  if (ordinal === 1) return 'start';
  return shared ? 'regenerate' : 'edit';
}

function assertParentEnded({ turn }: NewPlace): void {
  if (!turn || isTerminal(turn.state)) return;
  throw new TurnkeepError('path_busy', { turnId: turn.turnId, state: turn.state });
}

/** Adds a branch that continues another from a cut; returns its number. */
export function newBranch(
  draft: Draft,
  cut: Parameters<typeof packBranch>[0] | Omit<Parameters<typeof packBranch>[0], 'forkRoot' | 'depth'>,
  forkRoot: boolean,
): number {
  const branch = forkRoot ? 0 : draft.head.branches;
  const above = cut.parent ? branchRow(draft.rows, cut.parent.owner, cut.parent.branch).depth : -1;
  const depth = above + 1;
  if (depth > LIMITS.branchDepth) {
    throw new TurnkeepError('limit_exceeded', {
      limit: 'branchDepth',
      max: LIMITS.branchDepth,
      actual: depth,
      path: 'parent',
    });
  }
  draft.put(KEYS.branch(branch), packBranch({ ...cut, forkRoot, depth }));
  if (!forkRoot) draft.head.branches += 1;
  return branch;
}

function markBusy(draft: Draft, turnId: TurnId, busy: boolean): void {
  const others = draft.head.busy.filter((other) => other !== turnId);
  draft.head.busy = busy ? [...others, turnId] : others;
  if (draft.head.busy.length > LIMITS.busyTurns) {
    throw new TurnkeepError('limit_exceeded', { limit: 'busyTurns', max: LIMITS.busyTurns, path: 'turnId' });
  }
}

/** Moves a turn forward. */
export const turnAdvance: Rule<'turn.advance'> = {
  shape: z.strictObject({ kind: z.literal('turn.advance'), turnId: id, to: z.enum(TURN_STATES) }),
  records: none,
  apply(draft, change, path) {
    const { kind, turnId, to } = change;
    const turn = ownTurn(draft.tree, turnId);
    if (!turn) throw new TurnkeepError('no_turn', { turnId });
    // A stop needs no fence: it comes from outside the attempt.
    if (to !== 'cancelled') requireFence(draft, turn.row, path);
    const from = advance(draft, turn, to);
    return { kind, turnId, from, to };
  },
  leaves(left, { turnId, to }, index) {
    const [branch, position] = (leavesTurn(left, turnId) ?? []) as readonly number[];
    if (branch === undefined || position === undefined) return;
    const key = KEYS.turnState(branch, position, left.version, index);
    left.here(key, `the move of turn ${turnId}`, ([state]) => state === to);
  },
};

/** Moves a turn, and with it its base, the active leaf, and what keeps the conversation busy. */
export function advance(draft: Draft, turn: OwnTurn, to: TurnState): TurnState {
  const { state: from, turnId } = turn.row;
  if (!isLegalAdvance(from, to))
    throw new TurnkeepError('illegal_transition', { machine: 'turn', id: turnId, from, to });
  const starts = !hasStarted(from) && hasStarted(to);
  const base = starts ? draft.stamp : turn.row.base;
  draft.put(KEYS.turn(turn.branch, turn.position), packTurn({ ...turn.row, state: to, base }));
  const { version, index } = draft.stamp;
  draft.put(KEYS.turnState(turn.branch, turn.position, version, index), [to]);
  if (starts && to !== 'failed' && to !== 'cancelled') moveLeaf(draft, turnId);
  markBusy(draft, turnId, isBusy(to));
  if (isTerminal(to)) withdrawInterrupts(draft, turnId);
  touch(draft);
  return from;
}

export function moveLeaf(draft: Draft, turnId: TurnId): void {
  if (draft.head.leaf === turnId) return;
  draft.head.leaf = turnId;
  draft.head.graphRevision += 1;
}

/** A completed turn; what follows it in its commit may stand in it. */
export const turnRecord: Rule<'turn.record'> = {
  shape: z.strictObject({
    kind: z.literal('turn.record'),
    turnId: id.optional(),
    parent: parent.optional(),
    origin: code,
  }),
  complete: (change, mint) => ({ ...change, turnId: change.turnId ?? mint('turn') }),
  records: none,
  apply(draft, change, path) {
    assertParentExpected(draft, change.parent, path);
    assertFree(draft);
    const turnId = change.turnId as TurnId;
    const input = {
      parent: change.parent,
      state: 'completed' as const,
      promptId: null,
      operationId: null,
      shared: false,
    };
    const turn = addTurn(draft, turnId, input);
    moveLeaf(draft, turnId);
    draft.recording = turnId;
    const { ordinal, why } = turn.row;
    return { kind: change.kind, turnId, ordinal, why, origin: change.origin };
  },
  leaves: (left, { turnId }) => void leavesTurn(left, turnId),
};

/** Makes a turn the active leaf: one of this conversation's own, or the one that it was cut at. */
export const leafSelect: Rule<'leaf.select'> = {
  shape: z.strictObject({ kind: z.literal('leaf.select'), turnId: id }),
  records: none,
  apply(draft, change, path) {
    const { kind, turnId } = change;
    if (draft.envelope.commit.expect?.graphRevision === undefined) {
      throw new TurnkeepError('expect_required', { field: 'graphRevision', change: path });
    }
    if (!ownTurn(draft.tree, turnId) && draft.head.cutTurn !== turnId) throw new TurnkeepError('no_turn', { turnId });
    moveLeaf(draft, turnId);
    draft.recording = null;
    return { kind, turnId };
  },
  leaves: untold,
};
