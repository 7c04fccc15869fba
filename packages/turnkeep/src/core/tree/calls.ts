import { KEYS, afterSeparator, numbersIn, prefixEnd } from '../keys.ts';
import type { ConversationId } from '../ids.ts';
import type { Segment, Tree } from './path.ts';

/** A tool call or a tool result, where it stands. */
export interface CallPlace {
  readonly owner: ConversationId;
  readonly kind: 'call' | 'result';
  readonly branch: number;
  readonly position: number;
  readonly sequence: number;
  readonly version: number;
}

/** Every place of a conversation where a call id is called or answered, by sequence. */
export function callPlaces(tree: Tree, owner: ConversationId, callId: string): readonly CallPlace[] {
  const prefix = KEYS.callsOf(callId);
  return tree.rows.scan(owner, { from: prefix, to: prefixEnd(prefix) }).map((row) => {
    const [kind, branch, position, version] = row.value as readonly ['call' | 'result', number, number, number];
    const sequence = numbersIn(afterSeparator(row.key), 0)[0] as number;
    return { owner, kind, branch, position, sequence, version };
  });
}

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
    if (!places) known.set(segment.owner, (places = callPlaces(tree, segment.owner, callId)));
    const seen = places.filter((place) => place.kind === kind && isSeen(segment, place)).sort(byPlace);
    const place = seen.at(-1);
    if (place) return { segment, place };
  }
  return undefined;
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

/** The places of a call id in one turn of a conversation. */
export function ownCallsOf(
  tree: Tree,
  owner: ConversationId,
  callId: string,
  branch: number,
  position: number,
): readonly CallPlace[] {
  return callPlaces(tree, owner, callId).filter((place) => place.branch === branch && place.position === position);
}
