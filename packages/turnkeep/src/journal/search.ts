import type { SearchCandidates, SearchPlace, SearchQuery } from '../core/backend.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { numbersIn } from '../core/keys.ts';
import { assertCertain, doubtful } from './doubts.ts';
import type { Doubt } from './doubts.ts';
import { INDEX, NO_CONVERSATION } from './index-keys.ts';
import type { IndexState } from './index-state.ts';
import type { StoreParts } from './store-parts.ts';

/** Lines that one call looks at, those of other conversations included. */
const SLICE_LINES = 4_096;

/**
 * Every commit may hold a match, newest first: core looks into each. A page ends behind lines that are lost; who goes on
 * from there is told (`corrupt`).
 */
export function searchCandidates(
  { index, folds }: StoreParts,
  namespace: NamespaceId,
  query: SearchQuery,
): SearchCandidates {
  const { conversationId, limit } = query;
  const { doubts } = folds.state;
  const owners = conversationId === undefined ? undefined : lineage(index, namespace, conversationId);
  for (const owner of owners ?? []) assertCertain(doubts, owner);
  const before = query.before === undefined ? Infinity : Number(query.before);
  const gap = owners ? undefined : newestBelow(doubts, before);
  const range = {
    from: INDEX.feed(gap ? gap.to + 1 : 0),
    to: before === Infinity ? INDEX.feedEnd : INDEX.feed(before),
    reverse: true,
  };
  const places: SearchPlace[] = [];
  let seen = 0;
  for (const { key, value } of index.entries(namespace, NO_CONVERSATION, range)) {
    if (places.length >= limit || seen >= SLICE_LINES) return { places, next: String(lineNumber(key) + 1) };
    seen += 1;
    const [conversation, version] = value as readonly [ConversationId, number];
    if (owners && !owners.has(conversation)) continue;
    places.push({ conversationId: conversation, version, cursor: String(lineNumber(key)) });
  }
  if (gap && places.length === 0) throw doubtful(gap);
  return gap ? { places, next: String(gap.to + 1) } : { places };
}

/** Of the lost lines below a number those that a search from there meets first. */
function newestBelow(doubts: readonly Doubt[], before: number): Doubt | undefined {
  const below = doubts.filter(({ from }) => from < before);
  return below.toSorted((left, right) => right.to - left.to)[0];
}

export function lineNumber(key: string): number {
  return numbersIn(key, 1)[0] as number; // a feed's key is a letter and a number
}

/** A conversation and those that it inherits from. */
function lineage(index: IndexState, namespace: NamespaceId, start: ConversationId): ReadonlySet<ConversationId> {
  const owners = new Set<ConversationId>();
  for (let next: ConversationId | null = start; next !== null;) {
    owners.add(next);
    next = index.head(namespace, next)?.source ?? null;
  }
  return owners;
}
