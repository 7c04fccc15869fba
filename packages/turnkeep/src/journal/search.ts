import type { SearchCandidates, SearchPlace, SearchQuery } from '../core/backend.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { numbersIn } from '../core/keys.ts';
import { INDEX, NO_CONVERSATION } from './index-keys.ts';
import type { IndexState } from './index-state.ts';

/** Lines that one call looks at, those of other conversations included. */
const SLICE_LINES = 4_096;

/** Every commit may hold a match, newest first: core looks into each. */
export function searchCandidates(index: IndexState, namespace: NamespaceId, query: SearchQuery): SearchCandidates {
  const { conversationId, before, limit } = query;
  const owners = conversationId === undefined ? undefined : lineage(index, namespace, conversationId);
  const range = {
    from: INDEX.feed(0),
    to: before === undefined ? INDEX.feedEnd : INDEX.feed(Number(before)),
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
  return { places };
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
