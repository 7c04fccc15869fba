import type { RowReader, ScratchPlace } from '../../core/backend.ts';
import type { NamespaceId, TurnId } from '../../core/ids.ts';
import { KEYS } from '../../core/keys.ts';
import { isTerminal } from '../../core/rules/turn-states.ts';
import { ownTurn } from '../../core/tree/path.ts';
import type { Access } from '../access.ts';
import { turnOfDraft } from '../agent/draft.ts';
import { attemptOfBeat } from '../agent/lease.ts';

/**
 * Removes what erased conversations and ended turns left beside the log: a process that ends right after its turn leaves its
 * draft behind, whose words no redaction finds.
 */
export async function sweepScratch(access: Access, namespace: NamespaceId): Promise<void> {
  const { scratch } = access.backend;
  const places = await scratch.list(namespace);
  const gone = await access.read(namespace, (rows) => places.filter((place) => isLeft(rows, place)));
  for (const place of gone) await scratch.remove(place);
}

function isLeft(rows: RowReader, place: ScratchPlace): boolean {
  const head = rows.head(place.conversationId);
  if (!head) return false;
  if (head.erasedAt !== null) return true;
  const turnId = turnOfDraft(place.key) ?? turnOfBeat(rows, place);
  const turn = turnId === undefined ? undefined : ownTurn({ rows, head }, turnId);
  return turn !== undefined && isTerminal(turn.row.state);
}

function turnOfBeat(rows: RowReader, { conversationId, key }: ScratchPlace): TurnId | undefined {
  const attempt = attemptOfBeat(key);
  if (attempt === undefined) return undefined;
  return rows.get(conversationId, KEYS.attempt(attempt))?.[0] as TurnId | undefined;
}
