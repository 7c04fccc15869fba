import { TurnkeepError } from '../errors.ts';
import type { TurnId } from '../ids.ts';
import { findInherited, ownTurn } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';

/** Throws `bad_cursor` if the leaf of a cursor is not a turn of this conversation: the cursor is another conversation's. */
export function assertLeafOfCursor(tree: Tree, leaf: TurnId | null): void {
  if (leaf === null || ownTurn(tree, leaf) || findInherited(tree, leaf)) return;
  throw new TurnkeepError('bad_cursor', { reason: `it reads to turn ${leaf}, which is not of this conversation` });
}
