import type { Parent } from '../change.ts';
import { TurnkeepError, assert } from '../errors.ts';
import type { MessageId, TurnId } from '../ids.ts';
import { afterSeparator, KEYS, numbersIn, prefixEnd } from '../keys.ts';
import { isBefore, WHOLE } from '../rows.ts';
import type { Stamp, TurnRow } from '../rows.ts';
import { findInheritedMessage, messageById, nextInTurn, nextSeenInTurn } from './messages.ts';
import type { InheritedMessage, PlacedMessage } from './messages.ts';
import {
  continuationBound,
  cutAfter,
  cutAfterInherited,
  cutOf,
  findInherited,
  inheritedSegments,
  justAfter,
  lastPosition,
  ownTurn,
  turnAt,
} from './path.ts';
import type { Cut, Tree, WholeCut } from './path.ts';

/** Where a new turn stands: at the end of an own branch, or at the start of a new one. */
export interface NewPlace {
  /** The turn that it stands under; if the parent is a message, that message's turn; `null` at the root. */
  readonly turnId: TurnId | null;
  /** The row of that turn if it is an own one; an inherited one has ended. */
  readonly turn?: TurnRow | undefined;
  readonly messageId: MessageId | null;
  /** The branch and its last position so far, or where a new branch is cut. */
  readonly on: { readonly branch: number; readonly after: number } | { readonly cut: Cut };
}

/**
 * Finds the place of a new turn. A branch goes on only from its tip: if the parent is a message, or not the tip, or
 * inherited, a new branch starts. `no_parent` if this conversation does not see the parent.
 */
export function placeOfNewTurn(tree: Tree, parent: Parent | undefined): NewPlace {
  if (parent === undefined) return underLeaf(tree);
  if (parent === null) return underRoot(tree);
  return 'messageId' in parent ? underMessage(tree, parent.messageId) : underTurn(tree, parent.turnId);
}

function underLeaf(tree: Tree): NewPlace {
  const { leaf } = tree.head;
  return leaf === null ? { turnId: null, messageId: null, on: tipOr(tree, 0, 0) } : underTurn(tree, leaf);
}

function underRoot(tree: Tree): NewPlace {
  if (tree.head.cutTurn === null) return { turnId: null, messageId: null, on: tipOr(tree, 0, 0) };
  const whole = cutAfter(tree, inheritedSegments(tree), 0, 0);
  return { turnId: null, messageId: null, on: placeAfter(tree, whole) };
}

function underTurn(tree: Tree, turnId: TurnId): NewPlace {
  const own = ownTurn(tree, turnId);
  if (own) return { turnId, turn: own.row, messageId: null, on: tipOr(tree, own.branch, own.position) };
  const found = findInherited(tree, turnId);
  if (!found) throw new TurnkeepError('no_parent', { parent: turnId });
  return { turnId, messageId: null, on: placeAfter(tree, cutAfterInherited(tree, found)) };
}

function placeAfter(tree: Tree, whole: WholeCut): NewPlace['on'] {
  return whole.tail ? tipOr(tree, 0, 0) : { cut: whole.cut };
}

function tipOr(tree: Tree, branch: number, position: number): NewPlace['on'] {
  const owner = tree.head.conversationId;
  // If there is only one branch, its turns are all there are.
  const last = tree.head.branches === 1 ? tree.head.turns : lastPosition(tree.rows, owner, branch);
  if (last === position) return { branch, after: position };
  return { cut: { parent: { owner, branch }, cutPosition: position, cutSequence: WHOLE, asOf: WHOLE, bound: null } };
}

function underMessage(tree: Tree, messageId: MessageId): NewPlace {
  const own = messageById(tree, tree.head.conversationId, messageId);
  if (own) {
    const turn = turnOf(tree, own);
    return { turnId: turn?.turnId ?? null, turn, messageId, on: { cut: cutAtOwn(tree, own, WHOLE) } };
  }
  const found = findInheritedMessage(tree, messageId);
  if (!found) throw new TurnkeepError('no_parent', { parent: messageId });
  return { turnId: turnIdAt(tree, found.message), messageId, on: { cut: cutAtInherited(tree, found) } };
}

/** The cut at an own message: entries from the next message of its turn on are left out. */
export function cutAtOwn(tree: Tree, message: PlacedMessage, asOf: number): Cut {
  const { owner, branch, position, sequence } = message;
  const next = nextInTurn(tree, message);
  return {
    parent: { owner, branch },
    cutPosition: position,
    cutSequence: sequence,
    asOf,
    bound: next?.row.stamp ?? null,
  };
}

/** The cut at an inherited message: what the fork does not see of its turn stays unseen. */
export function cutAtInherited(tree: Tree, found: InheritedMessage): Cut {
  const { message } = found;
  const segment = found.segments[found.at];
  assert(segment, 'an inherited message stands in a segment');
  const next = nextSeenInTurn(tree, segment, message)?.row.stamp ?? null;
  const inherited =
    message.position < segment.position
      ? justAfter(turnAt(tree.rows, segment.owner, segment.branch, message.position + 1)?.base ?? null)
      : (segment.bound ?? continuationBound(tree, segment));
  return cutOf(segment, message.position, message.sequence, earlier(next, inherited));
}

function earlier(left: Stamp | null, right: Stamp | null): Stamp | null {
  if (left && right) return isBefore(left, right) ? left : right;
  return left ?? right;
}

/** The turn that a message stands in; `null` for the root's, in a fork too. */
export function turnIdAt(tree: Tree, message: PlacedMessage): TurnId | null {
  return turnOf(tree, message)?.turnId ?? null;
}

function turnOf(tree: Tree, { owner, branch, position }: PlacedMessage): TurnRow | undefined {
  return position === 0 ? undefined : turnAt(tree.rows, owner, branch, position);
}

/** The ordinal of a new turn among the children of its parent. */
export function nextOrdinal(tree: Tree, { turnId, turn, on }: NewPlace): number {
  // A second child starts a branch, so if there is only one branch, its last turn has no child.
  if (turn && 'after' in on && tree.head.branches === 1) return 1;
  return lastOrdinal(tree, turnId) + 1;
}

/** The ordinal of the last child of a parent turn: own children, else the inherited child, else 0. */
export function lastOrdinal(tree: Tree, parent: TurnId | null): number {
  const prefix = KEYS.children(parent);
  const own = tree.rows.scan(tree.head.conversationId, {
    from: prefix,
    to: prefixEnd(prefix),
    reverse: true,
    limit: 1,
  })[0];
  if (own) return numbersIn(afterSeparator(own.key), 0)[0] as number;
  return tree.head.source === null ? 0 : inheritedOrdinal(tree, parent);
}

function inheritedOrdinal(tree: Tree, parent: TurnId | null): number {
  const segments = inheritedSegments(tree);
  const found = parent === null ? { at: 0, position: 0 } : findInherited(tree, parent);
  if (!found) return 0;
  for (let at = found.at; at < segments.length; at++) {
    const segment = segments[at];
    if (!segment) break;
    const position = at === found.at ? found.position + 1 : 1;
    if (position > segment.position) continue;
    return turnAt(tree.rows, segment.owner, segment.branch, position)?.ordinal ?? 0;
  }
  return 0;
}
