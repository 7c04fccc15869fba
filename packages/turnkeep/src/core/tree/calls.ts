import type { Row, RowRange } from '../backend.ts';
import { KEYS, afterSeparator, numbersIn, prefixEnd } from '../keys.ts';
import type { ConversationId } from '../ids.ts';
import type { Segment, Tree } from './path.ts';

const FEW = 16;

/** The place of a tool call or a tool result. */
export interface CallPlace {
  readonly owner: ConversationId;
  readonly kind: 'call' | 'result';
  readonly branch: number;
  readonly position: number;
  readonly sequence: number;
  readonly version: number;
  /** True for a call whose result stands in the same message. */
  readonly isAnswered: boolean;
}

type CallRow = readonly ['call' | 'result', number, number, number, 1?];

/** Every place of a conversation where a call id is called or answered, by sequence. */
export function callPlaces(tree: Tree, owner: ConversationId, callId: string): readonly CallPlace[] {
  const prefix = KEYS.callsOf(callId);
  return placesIn(tree, owner, { from: prefix, to: prefixEnd(prefix) });
}

function placesIn(tree: Tree, owner: ConversationId, range: RowRange): readonly CallPlace[] {
  return tree.rows.scan(owner, range).map((row) => {
    const [kind, branch, position, version, answered] = row.value as CallRow;
    const sequence = numbersIn(afterSeparator(row.key), 0)[0] as number;
    return { owner, kind, branch, position, sequence, version, isAnswered: answered === 1 };
  });
}

/** {@link ownCallsOf} the reading conversation. */
export function ownCallsAt(tree: Tree, callId: string, branch: number, position: number): readonly CallPlace[] {
  return ownCallsOf(tree, tree.head.conversationId, callId, branch, position);
}

/** The call or result nearest to the leaf of a path, with its segment. */
export interface CallOnPath {
  readonly segment: Segment;
  readonly place: CallPlace;
}

export function nearestOn(
  tree: Tree,
  path: Iterable<Segment>,
  callId: string,
  kind: CallPlace['kind'],
): CallOnPath | undefined {
  const known = new Map<ConversationId, readonly CallPlace[]>();
  for (const segment of path) {
    let places = known.get(segment.owner);
    if (!places) {
      // Most often it stands in the last turn, and no other use of the id is read.
      const near = lastSeen(segment, kind, ownCallsOf(tree, segment.owner, callId, segment.branch, segment.position));
      if (near) return { segment, place: near };
      known.set(segment.owner, (places = callPlaces(tree, segment.owner, callId)));
    }
    const place = lastSeen(segment, kind, places);
    if (place) return { segment, place };
  }
  return undefined;
}

function lastSeen(segment: Segment, kind: CallPlace['kind'], places: readonly CallPlace[]): CallPlace | undefined {
  const seen = places.filter((place) => place.kind === kind && isSeen(segment, place)).sort(byPlace);
  return seen.at(-1);
}

function isSeen(segment: Segment, place: CallPlace): boolean {
  if (place.branch !== segment.branch || place.version > segment.asOf) return false;
  return (
    place.position < segment.position || (place.position === segment.position && place.sequence <= segment.sequence)
  );
}

function byPlace(left: CallPlace, right: CallPlace): number {
  return left.position - right.position || left.sequence - right.sequence;
}

/**
 * The places of a call id in one turn of a conversation. Some models number the calls of each turn from 0: however often
 * the id was used, little more is read than what stands in the turn.
 */
export function ownCallsOf(
  tree: Tree,
  owner: ConversationId,
  callId: string,
  branch: number,
  position: number,
): readonly CallPlace[] {
  const prefix = KEYS.callsOf(callId);
  const few = placesIn(tree, owner, { from: prefix, to: prefixEnd(prefix), limit: FEW });
  const places = few.length < FEW ? few : placesBetween(tree, owner, callId, KEYS.messagesAt(branch, position));
  return places.filter((place) => place.branch === branch && place.position === position);
}

/** The places of a call id from the first to the last message of a turn. */
function placesBetween(tree: Tree, owner: ConversationId, callId: string, turn: string): readonly CallPlace[] {
  const range = { from: turn, to: prefixEnd(turn), limit: 1 };
  const [first, last] = [false, true].map((reverse) => tree.rows.scan(owner, { ...range, reverse })[0]);
  if (!first || !last) return [];
  const from = KEYS.call(callId, sequenceOf(first));
  return placesIn(tree, owner, { from, to: KEYS.call(callId, sequenceOf(last) + 1) });
}

function sequenceOf(message: Row): number {
  return numbersIn(message.key, 1)[2] as number;
}
