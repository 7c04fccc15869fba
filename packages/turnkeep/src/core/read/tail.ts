import type { TurnId } from '../ids.ts';
import { backward } from '../tree/messages.ts';
import type { PlacedMessage } from '../tree/messages.ts';
import { pathTo } from '../tree/path.ts';
import type { Segment, Tree } from '../tree/path.ts';

/** A message of a path, and how many turns of the path lead to its own, that one included; 0 in the root. */
export interface TailMessage extends PlacedMessage {
  readonly depth: number;
}

export interface TailOptions {
  readonly leaf: TurnId | null;
  /** Later messages are not seen, so that a reading in steps stays one reading. */
  readonly lastSequence: number;
  /** The oldest message that was read before; absent: from the leaf on. */
  readonly before?: PlacedMessage | undefined;
  /** The most messages to return. */
  readonly limit: number;
}

/** The messages of a path from its leaf towards its root, newest first. Its cost follows `limit` and the number of branches. */
export function placedTail(tree: Tree, options: TailOptions): readonly TailMessage[] {
  const { leaf, lastSequence, limit } = options;
  const segments = [...pathTo(tree, leaf)];
  const found: TailMessage[] = [];
  let { before } = options;
  for (const [at, segment] of segments.entries()) {
    if (before && !holds(segment, before)) continue;
    const turnsBefore = segments.slice(at + 1).reduce((turns, older) => turns + older.position, 0);
    for (const message of backward(tree, segment, { sequence: lastSequence }, limit, before)) {
      found.push({ ...message, depth: turnsBefore + message.position });
      if (found.length === limit) return found;
    }
    before = undefined;
  }
  return found;
}

function holds(segment: Segment, message: PlacedMessage): boolean {
  return segment.owner === message.owner && segment.branch === message.branch;
}
