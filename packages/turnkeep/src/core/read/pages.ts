import { TurnkeepError } from '../errors.ts';
import type { TurnId } from '../ids.ts';
import { forward } from '../tree/messages.ts';
import type { PlacedMessage, Seen } from '../tree/messages.ts';
import { pathTo } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import { assertLeafOfCursor } from './cursor-leaf.ts';

/** What a reading keeps to from its first page on, so that later commits do not disturb it. */
export interface PagePin {
  readonly leaf: TurnId | null;
  readonly lastSequence: number;
  /** `null`: the conversation as it is. */
  readonly atVersion: number | null;
}

/** Where a page ended, and what its reading is pinned to. */
export interface PageCursor extends PagePin {
  readonly owner: string;
  readonly branch: number;
  readonly position: number;
  readonly sequence: number;
}

export interface PageOptions {
  /** Absent: the active leaf. A cursor overrides it. */
  readonly leaf?: TurnId | null | undefined;
  readonly after?: PageCursor | undefined;
  readonly limit: number;
  /** Own messages of later versions are left out: the conversation as it was. A cursor overrides it. */
  readonly atVersion?: number | undefined;
}

export interface PlacedPage {
  /** Root first. */
  readonly messages: readonly PlacedMessage[];
  readonly pin: PagePin;
  /** `null` at the end of the path. */
  readonly next: PageCursor | null;
}

/** A page of the path from the root to a leaf. */
export function placedPage(tree: Tree, options: PageOptions): PlacedPage {
  const { after, limit } = options;
  const pin = after ? pinOf(after) : newPin(tree, options);
  if (after) assertLeafOfCursor(tree, after.leaf);
  const seen = { sequence: pin.lastSequence, version: pin.atVersion ?? undefined };
  const messages: PlacedMessage[] = [];
  for (const message of onwards(tree, pin.leaf, seen, limit + 1, after)) {
    messages.push(message);
    if (messages.length > limit) break;
  }
  const page = messages.slice(0, limit);
  const last = page.at(-1);
  if (messages.length <= limit || !last) return { messages: page, pin, next: null };
  const { owner, branch, position, sequence } = last;
  return { messages: page, pin, next: { ...pin, owner, branch, position, sequence } };
}

function pinOf({ leaf, lastSequence, atVersion }: PageCursor): PagePin {
  return { leaf, lastSequence, atVersion };
}

function newPin({ head }: Tree, { leaf, atVersion }: PageOptions): PagePin {
  return {
    leaf: leaf === undefined ? head.leaf : leaf,
    lastSequence: head.lastSequence,
    atVersion: atVersion ?? null,
  };
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
