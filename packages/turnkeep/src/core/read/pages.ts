import { TurnkeepError } from '../errors.ts';
import type { TurnId } from '../ids.ts';
import { forward } from '../tree/messages.ts';
import type { PlacedMessage, Seen } from '../tree/messages.ts';
import { pathTo } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';

/** Where a page ended. It pins the path and its last sequence, so that later commits do not disturb the reading. */
export interface PageCursor {
  readonly leaf: TurnId | null;
  readonly lastSequence: number;
  readonly owner: string;
  readonly branch: number;
  readonly position: number;
  readonly sequence: number;
}

export interface PageOptions {
  /** Absent: the active leaf. */
  readonly leaf?: TurnId | null | undefined;
  readonly after?: PageCursor | undefined;
  readonly limit: number;
  /** Own messages of later versions are left out: the conversation as it was. */
  readonly atVersion?: number | undefined;
}

export interface PlacedPage {
  /** Root first. */
  readonly messages: readonly PlacedMessage[];
  /** `null` at the end of the path. */
  readonly next: PageCursor | null;
}

/** A page of the path from the root to a leaf. */
export function placedPage(tree: Tree, options: PageOptions): PlacedPage {
  const { after, limit } = options;
  const leaf = after ? after.leaf : options.leaf === undefined ? tree.head.leaf : options.leaf;
  const lastSequence = after?.lastSequence ?? tree.head.lastSequence;
  const messages: PlacedMessage[] = [];
  for (const message of onwards(tree, leaf, { sequence: lastSequence, version: options.atVersion }, limit + 1, after)) {
    messages.push(message);
    if (messages.length > limit) break;
  }
  const page = messages.slice(0, limit);
  const last = page.at(-1);
  if (messages.length <= limit || !last) return { messages: page, next: null };
  const { owner, branch, position, sequence } = last;
  return { messages: page, next: { leaf, lastSequence, owner, branch, position, sequence } };
}

function* onwards(
  tree: Tree,
  leaf: TurnId | null,
  seen: Seen,
  step: number,
  after?: PageCursor,
): Generator<PlacedMessage> {
  let start = after;
  for (const segment of [...pathTo(tree, leaf)].reverse()) {
    if (start && (segment.owner !== start.owner || segment.branch !== start.branch)) continue;
    yield* forward(tree, segment, seen, step, start);
    start = undefined;
  }
  if (start) throw new TurnkeepError('bad_cursor', { reason: 'what it points to is not on this path' });
}
