import { chainStart } from './digest.ts';
import type { Sha256 } from './digest.ts';
import { newHead } from './head.ts';
import type { Head } from './head.ts';
import type { ConversationId } from './ids.ts';

/**
 * Rows of a namespace that belong to no single conversation stand on a shelf: a head without commits, under an id that no
 * caller can name (ids have no control characters). A commit that writes to one writes to it as to any other conversation
 * beside its own: under its lock, in its own write set. Shelves are listed by the seam alone.
 */
const MARK = '\u0001';

export const SHELVES = {
  /** Sums of usage, over all conversations. */
  usage: `${MARK}usage` as ConversationId,
  /** Where the memories of the namespace are, and what they were made of. */
  memories: `${MARK}memories` as ConversationId,
  /** Attachments, and who refers to them. */
  attachments: `${MARK}attachments` as ConversationId,
} as const;

export function isShelf(conversationId: ConversationId): boolean {
  return conversationId.startsWith(MARK);
}

/** A shelf without rows. */
export function newShelf(shelf: ConversationId, now: number, sha256: Sha256): Head {
  return { ...newHead(shelf, now, chainStart(sha256, shelf)), rowSum: undefined };
}
