import type { Parent, SiblingReason, TurnState } from '../change.ts';
import type { ConversationId, MessageId, TurnId } from '../ids.ts';
import { KEYS, TABLES, numbersIn, prefixEnd } from '../keys.ts';
import { isBefore, unpackTurn } from '../rows.ts';
import type { TurnRow } from '../rows.ts';
import { findInherited, inheritedSegments, ownTurn, scanPrefix, turnAt } from '../tree/path.ts';
import type { Segment, Tree } from '../tree/path.ts';

/** A turn of the tree. */
export interface GraphTurn {
  readonly turnId: TurnId;
  /** The conversation that owns it: another one if a fork inherits it. */
  readonly conversationId: ConversationId;
  readonly parentTurnId: TurnId | null;
  /** The message within its parent that it stands under, if it was a rewind. */
  readonly parentMessageId: MessageId | null;
  /** From 1, among the turns under one parent. */
  readonly ordinal: number;
  readonly why: SiblingReason;
  readonly state: TurnState;
  readonly branch: number;
  readonly position: number;
}

/** The turns that a conversation sees, inherited ones first, each after its parent; as of `version` if one is given. */
export function graphTurns(tree: Tree, version?: number): readonly GraphTurn[] {
  return [...inheritedTurns(tree), ...ownTurns(tree, version)];
}

/** A turn that the conversation sees, its own or an inherited one, found by its id alone. */
export function graphTurnOf(tree: Tree, turnId: TurnId): GraphTurn | undefined {
  const own = ownTurn(tree, turnId);
  if (own) return graphTurn(tree.head.conversationId, own.branch, own.position, own.row, own.row.state);
  const found = findInherited(tree, turnId);
  if (!found) return undefined;
  const { owner, branch } = found.segments[found.at] as Segment;
  return graphTurn(owner, branch, found.position, found.turn, found.turn.state);
}

/** What a turn stands under, as a new turn names it. */
export function parentOf({ parentTurnId, parentMessageId }: GraphTurn): Parent {
  if (parentMessageId !== null) return { messageId: parentMessageId };
  return parentTurnId === null ? null : { turnId: parentTurnId };
}

function* inheritedTurns(tree: Tree): Generator<GraphTurn> {
  for (const segment of inheritedSegments(tree)) {
    for (let position = 1; position <= segment.position; position++) {
      const row = turnAt(tree.rows, segment.owner, segment.branch, position);
      if (row) yield graphTurn(segment.owner, segment.branch, position, row, row.state);
    }
  }
}

function ownTurns(tree: Tree, version: number | undefined): readonly GraphTurn[] {
  const owner = tree.head.conversationId;
  const rows = scanPrefix(tree.rows, owner, TABLES.turns).map((row) => {
    const [branch, position] = numbersIn(row.key, 1) as [number, number];
    return { branch, position, row: unpackTurn(row.value) };
  });
  const seen = version === undefined ? rows : rows.filter(({ row }) => row.created.version <= version);
  seen.sort((left, right) => (isBefore(left.row.created, right.row.created) ? -1 : 1));
  return seen.map(({ branch, position, row }) => {
    const state = version === undefined ? row.state : stateAt(tree, branch, position, row, version);
    return graphTurn(owner, branch, position, row, state);
  });
}

/** The state that a turn had at a version. */
function stateAt(tree: Tree, branch: number, position: number, row: TurnRow, version: number): TurnState {
  const from = KEYS.turnStates(branch, position);
  const to = prefixEnd(from);
  const moves = tree.rows.scan(tree.head.conversationId, { from, to, reverse: true });
  const last = moves.find((move) => (numbersIn(move.key, 1)[2] as number) <= version);
  return (last?.value[0] as TurnState | undefined) ?? row.firstState;
}

function graphTurn(
  conversationId: ConversationId,
  branch: number,
  position: number,
  row: TurnRow,
  state: TurnState,
): GraphTurn {
  const { turnId, parentTurnId, parentMessageId, ordinal, why } = row;
  return { turnId, conversationId, parentTurnId, parentMessageId, ordinal, why, state, branch, position };
}
