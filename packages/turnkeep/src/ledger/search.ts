import { isBlank, fold } from '../core/fold.ts';
import { TurnkeepError } from '../core/errors.ts';
import { utf8Length } from '../core/ids.ts';
import type { ConversationId, NamespaceId, TurnId } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { Bodies } from '../core/read/bodies.ts';
import { hitsOfCommit } from '../core/read/search.ts';
import type { SearchHit, SearchScope } from '../core/read/search.ts';
import type { RowReader, SearchCandidates } from '../core/backend.ts';
import { assertNotErased } from '../core/rules/fork.ts';
import { assertNotAborted } from './abort.ts';
import type { Access } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import { assertPageLimit } from './page-limit.ts';

export interface SearchOptions {
  /** Hits of one page, 20 when absent; more where those of its last commit are. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ConversationSearch extends SearchOptions {
  /** Only the path to this leaf; absent: all paths. */
  readonly leaf?: TurnId | null | undefined;
}

/** Hits, newest commit first. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** `null` at the end. */
  readonly next: string | null;
}

const CANDIDATES = 256;

/** Finds a literal text in every conversation of a namespace. */
export async function searchNamespace(
  access: Access,
  namespace: NamespaceId,
  text: string,
  options: SearchOptions,
): Promise<SearchPage> {
  return search(access, namespace, text, options, undefined, () => ({ kind: 'namespace' }));
}

export async function searchConversation(
  access: ConversationAccess,
  text: string,
  options: ConversationSearch,
): Promise<SearchPage> {
  const { conversationId, namespace } = access;
  return search(access.access, namespace, text, options, conversationId, (rows) => {
    const head = rows.head(conversationId);
    if (!head) throw new TurnkeepError('conversation_not_found', { conversationId });
    assertNotErased(head);
    const tree = { rows, head };
    return options.leaf === undefined ? { kind: 'conversation', tree } : { kind: 'path', tree, leaf: options.leaf };
  });
}

async function search(
  access: Access,
  namespace: NamespaceId,
  text: string,
  options: SearchOptions,
  conversationId: ConversationId | undefined,
  scopeOf: (rows: RowReader) => SearchScope,
): Promise<SearchPage> {
  assertQuery(text);
  const { limit = 20 } = options;
  assertPageLimit(limit);
  if (isBlank(text)) return { hits: [], next: null };
  const hits: SearchHit[] = [];
  const foldedQuery = fold(text);
  let before = options.after;
  if (before !== undefined) assertSearchCursor(before);
  for (;;) {
    assertNotAborted(options.signal);
    const query = { text, conversationId, before, limit: CANDIDATES };
    const found = await access.backend.search(namespace, query, options.signal);
    const page = await access.read(namespace, (rows) =>
      verified(rows, access, found, foldedQuery, scopeOf(rows), limit - hits.length),
    );
    hits.push(...page.hits);
    if (page.resume !== undefined) return { hits, next: page.resume };
    if (found.next === undefined) return { hits, next: null };
    before = found.next;
    if (hits.length >= limit) return { hits, next: before };
  }
}

interface VerifiedPage {
  readonly hits: readonly SearchHit[];
  /** Where to go on, if the page was full before the candidates were through. */
  readonly resume?: string | undefined;
}

/** The hits among candidates, whole commits at a time, until the page is full. */
function verified(
  rows: RowReader,
  access: Access,
  found: SearchCandidates,
  foldedQuery: string,
  scope: SearchScope,
  room: number,
): VerifiedPage {
  const bodies = new Bodies(rows, access.surroundings.sha256);
  const hits: SearchHit[] = [];
  for (const [at, place] of found.places.entries()) {
    hits.push(...hitsOfCommit(bodies, place.conversationId, place.version, foldedQuery, scope));
    const more = at + 1 < found.places.length || found.next !== undefined;
    if (hits.length >= room && more) return { hits, resume: place.cursor };
  }
  return { hits };
}

/** Each backend has a place of its own in mind, and all of them are whole numbers. */
function assertSearchCursor(cursor: string): void {
  if (typeof cursor === 'string' && /^\d{1,16}$/.test(cursor) && Number.isSafeInteger(Number(cursor))) return;
  throw new TurnkeepError('bad_cursor', { reason: 'it is not a cursor of a search' });
}

function assertQuery(text: string): void {
  if (typeof text !== 'string')
    throw new TurnkeepError('invalid_value', { path: 'text', reason: 'a text is asked for' });
  const actual = utf8Length(text);
  if (actual <= LIMITS.queryBytes) return;
  throw new TurnkeepError('limit_exceeded', { limit: 'queryBytes', max: LIMITS.queryBytes, actual, path: 'text' });
}
