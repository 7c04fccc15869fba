import { isBlank, fold } from '../core/fold.ts';
import { TurnkeepError, isTurnkeepError } from '../core/errors.ts';
import type { ConversationId, NamespaceId, TurnId } from '../core/ids.ts';
import { Bodies } from '../core/read/bodies.ts';
import { hitsOfCommit } from '../core/read/search.ts';
import type { RecordHits, SearchDamage, SearchHit, SearchScope } from '../core/read/search.ts';
import type { RowReader, SearchCandidates, SearchPlace } from '../core/backend.ts';
import { assertNotErased } from '../core/rules/fork.ts';
import { assertNotAborted } from '../core/abort.ts';
import type { Access } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import { abortSignal, anything, assertChecked, assertPageLimit, assertQuery, idOrNull } from './given.ts';
import type { Checks } from './given.ts';

export interface SearchOptions {
  /** The most hits of one page; 20 when absent. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ConversationSearch extends SearchOptions {
  /** Only the path to this leaf; all paths when absent. */
  readonly leaf?: TurnId | null | undefined;
}

/** Hits, newest commit first. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** Where words are damaged, so that nobody knows whether they match. */
  readonly damage: readonly SearchDamage[];
  /** `null` at the end. */
  readonly next: string | null;
}

// Limits and cursors are checked elsewhere, with their own errors.
const SEARCH: Checks<SearchOptions> = { limit: anything, after: anything, signal: abortSignal };
const SEARCH_ONE: Checks<ConversationSearch> = { ...SEARCH, leaf: idOrNull };

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
  assertQuery(text, 'text');
  if (conversationId === undefined) assertChecked(options, SEARCH);
  else assertChecked(options, SEARCH_ONE);
  const { limit = 20 } = options;
  assertPageLimit(limit);
  const cursor = options.after === undefined ? undefined : parseCursor(options.after);
  if (isBlank(text)) return { hits: [], next: null, damage: [] };
  const hits: SearchHit[] = [];
  const damage: SearchDamage[] = [];
  const foldedQuery = fold(text);
  let before = cursor && String(cursor.taken ? cursor.commit + 1 : cursor.commit);
  for (;;) {
    assertNotAborted(options.signal);
    const query = { text, conversationId, before, limit: CANDIDATES };
    const found = await access.backend.search(namespace, query, options.signal);
    // A reading may run several times until everything that it asks for is loaded, so it begins anew each time.
    const page = await access.read(namespace, (rows) => {
      const bodies = new Bodies(rows, access.surroundings.sha256);
      return new Page(limit - hits.length, cursor).filled(bodies, found, foldedQuery, scopeOf(rows));
    });
    hits.push(...page.hits);
    damage.push(...page.damage);
    if (page.next !== null || found.next === undefined) return { hits, next: page.next, damage };
    before = found.next;
  }
}

/**
 * Where a page ended: after a commit, or within one; then records down to `record` are done, and so many hits of that
 * record.
 */
interface Cursor {
  readonly commit: number;
  readonly taken?: { readonly record: number; readonly hits: number } | undefined;
}

/** Each backend means a place of its own by it; all are whole numbers. */
const CURSOR = /^(\d{1,16})(?:\.(\d{1,9})\.(\d{1,9}))?$/;

function parseCursor(text: string): Cursor {
  const [, commit, record, hits] = (typeof text === 'string' && CURSOR.exec(text)) || [];
  if (!Number.isSafeInteger(Number(commit ?? NaN) + 1))
    throw new TurnkeepError('bad_cursor', { reason: 'it is not a cursor of a search' });
  const taken = record === undefined ? undefined : { record: Number(record), hits: Number(hits) };
  return { commit: Number(commit), taken };
}

function cursorText({ commit, taken }: Cursor): string {
  return taken ? `${commit}.${taken.record}.${taken.hits}` : String(commit);
}

/** A page, or the rest of one, while it fills. */
class Page {
  readonly #limit: number;
  readonly #start: Cursor | undefined;
  readonly #hits: SearchHit[] = [];
  readonly #damage: SearchDamage[] = [];

  constructor(limit: number, start: Cursor | undefined) {
    this.#limit = limit;
    this.#start = start;
  }

  /** Adds the hits among candidates; `next` is where the next page starts once this one is full. */
  filled(bodies: Bodies, found: SearchCandidates, foldedQuery: string, scope: SearchScope): SearchPage {
    const next = this.#fill(bodies, found, foldedQuery, scope);
    return { hits: this.#hits, next, damage: this.#damage };
  }

  #fill(bodies: Bodies, found: SearchCandidates, foldedQuery: string, scope: SearchScope): string | null {
    for (const [at, place] of found.places.entries()) {
      const commit = Number(place.cursor);
      const taken = this.#addCommit(
        place,
        hitsOfCommit(bodies, place.conversationId, place.version, foldedQuery, scope),
      );
      if (taken) return cursorText({ commit, taken });
      const isLast = at + 1 === found.places.length && found.next === undefined;
      if (this.#hits.length === this.#limit && !isLast) return cursorText({ commit });
    }
    return null;
  }

  /** Adds the hits of a commit that the page before did not have; returns what was taken if not all of them fit. */
  #addCommit(place: SearchPlace, records: Iterable<RecordHits>): Cursor['taken'] {
    const before = this.#start?.commit === Number(place.cursor) ? this.#start.taken : undefined;
    try {
      for (const { record, hits, damage } of records) {
        if (before && record > before.record) continue;
        const first = before?.record === record ? before.hits : 0;
        const room = this.#limit - this.#hits.length;
        this.#hits.push(...hits.slice(first, first + room));
        if (damage) this.#damage.push(damage);
        if (hits.length > first + room) return { record, hits: first + room };
      }
    } catch (error) {
      if (!isTurnkeepError(error, 'corrupt')) throw error;
      const { conversationId, version } = place;
      this.#damage.push({ conversationId, version, reason: error.details.reason });
    }
    return undefined;
  }
}
