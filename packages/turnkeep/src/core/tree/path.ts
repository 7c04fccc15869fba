import { prefixEnd, KEYS, numbersIn } from '../keys.ts';
import type { Row, RowReader } from '../backend.ts';
import { TurnkeepError, assert } from '../errors.ts';
import type { Head } from '../head.ts';
import type { ConversationId, TurnId } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { isBefore, unpackBranch, unpackTurn, WHOLE } from '../rows.ts';
import type { BranchRow, Stamp, TurnRow } from '../rows.ts';

/**
 * A path is a chain of ranges, one for each branch between a leaf and its root. It is walked from the leaf to the root,
 * branch by branch and never from turn to turn, and only as far as a reading needs.
 */
export interface Segment {
  readonly owner: ConversationId;
  readonly branch: number;
  readonly row: BranchRow;
  /** The last position that belongs to the path, and the last sequence in it; WHOLE for all of that turn. */
  readonly position: number;
  readonly sequence: number;
  /** Versions of `owner` beyond this one are not seen. */
  readonly asOf: number;
  /** True if the reading conversation owns the branch. */
  readonly own: boolean;
  /** The cut that ended this segment: entries at `position` with this stamp or a later one are not seen. */
  readonly bound: Stamp | null;
  /** The branch whose first turn bounds the entries at `position`, if no stamp does. */
  readonly continuedBy: number | null;
}

/** A place on a branch. */
export interface Place {
  readonly branch: number;
  readonly position: number;
  readonly sequence: number;
}

/** The tree of one conversation as it is seen through one reader. */
export interface Tree {
  readonly rows: RowReader;
  readonly head: Head;
}

/** The segments from a place in an own branch to the root, leaf first. */
export function* segmentsFrom(tree: Tree, place: Place): Generator<Segment> {
  const own = tree.head.conversationId;
  let owner = own;
  let asOf = WHOLE;
  let row = branchRow(tree.rows, owner, place.branch);
  yield { owner, row, asOf, own: true, bound: null, continuedBy: null, ...place };
  let branch = place.branch;
  for (let depth = 1; row.parent; depth++) {
    assert(depth <= LIMITS.branchDepth * 2, 'a chain of branches ends');
    const child = row;
    const within = child.parent?.owner === owner;
    if (!within) asOf = child.asOf;
    const continuedBy: number | null = within && !child.bound ? branch : null;
    owner = row.parent.owner;
    branch = row.parent.branch;
    row = branchRow(tree.rows, owner, branch);
    yield {
      owner,
      branch,
      row,
      asOf,
      position: child.cutPosition,
      sequence: child.cutSequence,
      own: owner === own,
      bound: child.bound,
      continuedBy,
    };
  }
}

/** What a fork inherits, root first; empty in an original. */
export function inheritedSegments(tree: Tree): readonly Segment[] {
  if (tree.head.source === null) return [];
  const root = branchRow(tree.rows, tree.head.conversationId, 0);
  if (!root.parent) return [];
  return [...segmentsFrom(tree, { branch: 0, position: 0, sequence: WHOLE })].slice(1).reverse();
}

/** A turn that a fork inherits: its row, and where it stands in what the fork inherits. */
export interface InheritedTurn {
  readonly segments: readonly Segment[];
  readonly at: number;
  readonly position: number;
  readonly turn: TurnRow;
}

export function findInherited(tree: Tree, turnId: TurnId): InheritedTurn | undefined {
  if (tree.head.source === null) return undefined;
  const segments = inheritedSegments(tree);
  const asked = new Map<ConversationId, readonly [number, number] | undefined>();
  for (let at = segments.length - 1; at >= 0; at--) {
    const segment = segments[at] as Segment;
    if (!asked.has(segment.owner)) asked.set(segment.owner, turnPlace(tree.rows, segment.owner, turnId));
    const place = asked.get(segment.owner);
    if (!place || place[0] !== segment.branch || place[1] > segment.position) continue;
    const turn = turnAt(tree.rows, segment.owner, segment.branch, place[1]);
    if (!turn) throw missing(segment.owner, `turn ${turnId}`);
    return { segments, at, position: place[1], turn };
  }
  return undefined;
}

/** A new branch's cut, or the tail of the fork's own root if no cut is needed. */
export type WholeCut = { readonly tail: true } | { readonly tail: false; readonly cut: Cut };

/** The fields of a branch that continues another from here. */
export type Cut = Omit<BranchRow, 'forkRoot' | 'depth' | 'parent'> & {
  readonly parent: NonNullable<BranchRow['parent']>;
};

/**
 * The cut after an inherited turn, that turn whole. What forks of forks wrote before their first turn (their tails)
 * belongs to the turn that they were cut at.
 */
export function cutAfterInherited(tree: Tree, found: InheritedTurn): WholeCut {
  return cutAfter(tree, found.segments, found.at, found.position);
}

export function cutAfter(tree: Tree, segments: readonly Segment[], from: number, position: number): WholeCut {
  let segment = segments[from] as Segment;
  let last = position;
  for (let at = from; ;) {
    if (last < segment.position) {
      const next = turnAt(tree.rows, segment.owner, segment.branch, last + 1);
      return { tail: false, cut: cutOf(segment, last, WHOLE, justAfter(next?.base ?? null)) };
    }
    const child = segments[at + 1];
    if (!child) return { tail: true };
    if (!child.row.forkRoot) {
      return {
        tail: false,
        cut: cutOf(segment, last, segment.sequence, segment.bound ?? continuationBound(tree, segment)),
      };
    }
    at += 1;
    segment = child;
    last = 0;
  }
}

export function cutOf(segment: Segment, position: number, sequence: number, bound: Stamp | null): Cut {
  const parent = { owner: segment.owner, branch: segment.branch };
  return { parent, cutPosition: position, cutSequence: sequence, asOf: segment.asOf, bound };
}

/** The exclusive bound that still admits `stamp`. */
export function justAfter(stamp: Stamp | null): Stamp | null {
  return stamp ? { version: stamp.version, index: stamp.index + 0.5 } : null;
}

/** The bound that the first turn of the continuing branch sets, once that turn has started. */
export function continuationBound(tree: Tree, segment: Segment): Stamp | null {
  if (segment.continuedBy === null) return null;
  return justAfter(turnAt(tree.rows, segment.owner, segment.continuedBy, 1)?.base ?? null);
}

/** The segments of the path to a leaf, leaf first; `no_turn` if the leaf is not visible. */
export function pathTo(tree: Tree, leaf: TurnId | null): Iterable<Segment> {
  if (leaf === null) return rootPath(tree);
  const place = turnPlace(tree.rows, tree.head.conversationId, leaf);
  if (place) return segmentsFrom(tree, { branch: place[0], position: place[1], sequence: WHOLE });
  const found = findInherited(tree, leaf);
  if (!found) throw new TurnkeepError('no_turn', { turnId: leaf });
  const whole = cutAfterInherited(tree, found);
  return whole.tail ? rootPath(tree) : inheritedPath(found.segments, whole.cut);
}

function rootPath(tree: Tree): Iterable<Segment> {
  return segmentsFrom(tree, { branch: 0, position: 0, sequence: WHOLE });
}

function inheritedPath(segments: readonly Segment[], cut: Cut): readonly Segment[] {
  const at = segments.findIndex((s) => s.owner === cut.parent.owner && s.branch === cut.parent.branch);
  const last: Segment = {
    ...(segments[at] as Segment),
    position: cut.cutPosition,
    sequence: cut.cutSequence,
    bound: cut.bound,
    continuedBy: null,
  };
  return [...segments.slice(0, at), last].reverse();
}

export function branchRow(rows: RowReader, owner: ConversationId, branch: number): BranchRow {
  const value = rows.get(owner, KEYS.branch(branch));
  if (!value) throw missing(owner, `branch ${branch}`);
  return unpackBranch(value);
}

function missing(owner: ConversationId, what: string): TurnkeepError<'corrupt'> {
  return new TurnkeepError('corrupt', { place: `conversation ${owner}, ${what}`, reason: 'its row is missing' });
}

export function turnAt(rows: RowReader, owner: ConversationId, branch: number, position: number): TurnRow | undefined {
  const value = rows.get(owner, KEYS.turn(branch, position));
  return value && unpackTurn(value);
}

/** Branch and position of a conversation's own turn. */
export function turnPlace(
  rows: RowReader,
  owner: ConversationId,
  turnId: TurnId,
): readonly [number, number] | undefined {
  return rows.get(owner, KEYS.turnId(turnId)) as readonly [number, number] | undefined;
}

/** An own turn with its place. */
export interface OwnTurn {
  readonly branch: number;
  readonly position: number;
  readonly row: TurnRow;
}

export function ownTurn(tree: Tree, turnId: TurnId): OwnTurn | undefined {
  const owner = tree.head.conversationId;
  const place = turnPlace(tree.rows, owner, turnId);
  if (!place) return undefined;
  const row = turnAt(tree.rows, owner, place[0], place[1]);
  if (!row) throw missing(owner, `turn ${turnId}`);
  return { branch: place[0], position: place[1], row };
}

/** The highest position of a branch; 0 if it has no turn. */
export function lastPosition(rows: RowReader, owner: ConversationId, branch: number): number {
  const prefix = KEYS.turnsOf(branch);
  const last = rows.scan(owner, { from: prefix, to: prefixEnd(prefix), reverse: true, limit: 1 })[0];
  return last ? (numbersIn(last.key, 1)[1] as number) : 0;
}

/** All rows of a prefix. */
export function scanPrefix(rows: RowReader, owner: ConversationId, prefix: string): readonly Row[] {
  return rows.scan(owner, { from: prefix, to: prefixEnd(prefix) });
}

/** True if an entry with this stamp at this position of the segment is seen on its path. */
export function seesEntry(tree: Tree, segment: Segment, position: number, stamp: Stamp): boolean {
  if (stamp.version > segment.asOf) return false;
  if (position < segment.position)
    return notAfter(stamp, turnAt(tree.rows, segment.owner, segment.branch, position + 1)?.base);
  if (segment.bound) return isBefore(stamp, segment.bound);
  if (segment.continuedBy === null) return true;
  return notAfter(stamp, turnAt(tree.rows, segment.owner, segment.continuedBy, 1)?.base);
}

/** A turn sees what its ancestors wrote before its base; one without a base has not started and bounds nothing. */
function notAfter(stamp: Stamp, base: Stamp | null | undefined): boolean {
  return !base || !isBefore(base, stamp);
}
