import type { SearchCandidates, SearchQuery } from '../../core/backend.ts';
import { fold, isBlank, matchFolded } from '../../core/fold.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { LogRecord } from '../../core/log.ts';
import { BlockReader } from '../tiers/blocks.ts';
import type { Connection, SqlRow } from '../driver/driver.ts';
import { placeCommits } from '../feed.ts';
import { storedHead } from '../commit/loader.ts';
import { foldCommits } from './search-index.ts';
import { storable, textsOf } from './search-words.ts';
import { inSession } from '../driver/session.ts';
import { loadHeads } from '../sql/load.ts';
import { findFolded, readEnds, readToScan } from '../sql/search.ts';
import { beginSnapshot, commit, enterNamespace, planAnew } from '../sql/transaction.ts';
import type { Store } from '../store.ts';

/** Commits that are looked through at a time. */
const SLICE = 128;

interface Hit {
  readonly position: number;
  readonly conversationId: ConversationId;
  readonly version: number;
}

interface Scope {
  readonly namespace: string;
  readonly folded: string;
  /** The conversations to look in, by number; `null`: all. */
  readonly only: readonly string[] | null;
  readonly limit: number;
}

/**
 * Commits that may hold a text, newest first by their place in the feed. All that were committed before the call have one:
 * they are the snapshot. What the index has is found there; the rest is looked through.
 */
export async function searchCommits(
  store: Store,
  namespace: string,
  query: SearchQuery,
  isIndexed: boolean,
): Promise<SearchCandidates> {
  const folded = fold(query.text);
  if (isBlank(folded)) return { places: [] };
  return inSession(store, async (session) => {
    await placeCommits(store, session, namespace);
    if (isIndexed) await foldCommits(store, session, namespace);
    const search = new Search(store, session, isIndexed);
    const hits = await search.run(namespace, folded, query);
    await session.run([commit()]);
    const places = hits.map(({ position, ...place }) => ({ ...place, cursor: String(position) }));
    const last = hits[query.limit - 1];
    return last ? { places, next: String(last.position) } : { places };
  });
}

/** One search, on one snapshot. */
class Search {
  readonly #store: Store;
  readonly #connection: Connection;
  readonly #isIndexed: boolean;

  constructor(store: Store, connection: Connection, isIndexed: boolean) {
    this.#store = store;
    this.#connection = connection;
    this.#isIndexed = isIndexed;
  }

  async run(namespace: string, folded: string, query: SearchQuery): Promise<readonly Hit[]> {
    // What is sought decides which index is the better one.
    const start = [beginSnapshot(), enterNamespace(namespace), planAnew()];
    const [, , , ends] = await this.#connection.run([...start, readEnds(this.#store.schema, namespace)]);
    const [last = 0, indexed = 0] = (ends?.[0] ?? []).map(Number);
    const only = query.conversationId === undefined ? null : await this.#family(namespace, query.conversationId);
    const scope = { namespace, folded, only, limit: query.limit };
    const below = query.before === undefined ? last + 1 : Number(query.before);
    const floor = this.#isIndexed ? indexed : 0;
    const hits = await this.#scan(scope, below, floor);
    if (hits.length >= query.limit || floor === 0) return hits;
    return [...hits, ...(await this.#find(scope, Math.min(below, floor + 1), query.limit - hits.length))];
  }

  /** The numbers of a conversation and of those that it inherits from. */
  async #family(namespace: string, conversation: ConversationId): Promise<readonly string[]> {
    const numbers = new Map<ConversationId, string>();
    for (let next: ConversationId | null = conversation; next !== null && !numbers.has(next);) {
      const [[row] = []]: readonly (readonly SqlRow[])[] = await this.#connection.run([
        loadHeads(this.#store.schema, namespace, [next]),
      ]);
      if (!row) break;
      const { c, head } = storedHead(row);
      numbers.set(next, c);
      next = head.source;
    }
    return [...numbers.values()];
  }

  async #scan(scope: Scope, before: number, floor: number): Promise<readonly Hit[]> {
    const hits: Hit[] = [];
    const blocks = new BlockReader(this.#store.schema, scope.namespace);
    for (let below = before; below - 1 > floor;) {
      const stretch = { above: floor, below, only: scope.only, limit: SLICE };
      const [rows = []] = await this.#connection.run([readToScan(this.#store.schema, scope.namespace, stretch)]);
      const logs = await blocks.logsOf(
        this.#connection,
        rows.map(([, , ...columns]) => columns),
      );
      for (const [at, log] of logs.entries()) {
        if (log && !holds(log, scope.folded)) continue;
        const [position, conversationId, version] = rows[at] as readonly [string, ConversationId, string]; // its columns
        hits.push({ position: Number(position), conversationId, version: Number(version) });
        if (hits.length === scope.limit) return hits;
      }
      if (rows.length < SLICE) break;
      below = Number(rows.at(-1)?.[0]);
    }
    return hits;
  }

  async #find(scope: Scope, below: number, limit: number): Promise<readonly Hit[]> {
    const stretch = { above: 0, below, only: scope.only, limit };
    const statement = findFolded(this.#store.schema, scope.namespace, patternOf(scope.folded), stretch);
    const [rows = []] = await this.#connection.run([statement]);
    return rows.map(([position, conversationId, version]) => ({
      position: Number(position),
      conversationId: conversationId as ConversationId, // a text column
      version: Number(version),
    }));
  }
}

/** A pattern of LIKE that finds the text as it is. */
function patternOf(folded: string): string {
  return `%${storable(folded).replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/** True as well where a commit cannot be read: nobody knows what it says. */
function holds(log: LogRecord, folded: string): boolean {
  const texts = textsOf(log);
  return texts === null || texts.some((text) => matchFolded(text, folded) >= 0);
}
