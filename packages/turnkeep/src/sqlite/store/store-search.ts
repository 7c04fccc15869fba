import type { SearchCandidates, SearchQuery } from '../../core/backend.ts';
import { fold, isBlank, matchFolded } from '../../core/fold.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import { searchTexts } from '../../core/search-text.ts';
import { sha256 } from '../../platform/hash.ts';
import type { Database, SqlRow, Statement } from '../driver/driver.ts';
import type { Candidates } from '../search/search-content.ts';
import type { SearchIndex } from '../search/search-index.ts';
import type { StoreReader } from './store-reader.ts';
import { RECORDS } from './store-schema.ts';

/** A conversation with fewer commits than this is scanned: faster than to pick its commits from all that a text hits. */
const SCANNED_COMMITS = 2_000;
/** Commits that are read between two looks at the clock and at messages. */
const SLICE = 64;

/** Where a search stands: the commits that it looks through, newest first, and what it found. */
interface Hit {
  readonly pos: number;
  readonly conversationId: ConversationId;
  readonly version: number;
}

interface Scope {
  readonly n: number;
  readonly folded: string;
  /** Only these conversations, by number. */
  readonly only: ReadonlySet<number> | undefined;
  readonly limit: number;
}

/** Searches a store: by its index where the index reaches, and by reading what the log has above it. */
export class StoreSearch {
  readonly #database: Database;
  readonly #reader: StoreReader;
  readonly #index: () => SearchIndex | undefined;
  readonly #newest: Statement;
  readonly #places: Statement;
  readonly #placeOf: Statement;
  readonly #count: Statement;

  /** `index` answers nothing while there is none. */
  constructor(database: Database, reader: StoreReader, index: () => SearchIndex | undefined) {
    this.#database = database;
    this.#reader = reader;
    this.#index = index;
    const columns = 'log.pos, heads.id, log.version, log.c';
    const joined = 'FROM log CROSS JOIN heads ON heads.c = log.c';
    this.#newest = database.prepare(
      `SELECT ${columns} ${joined} WHERE log.n = ? AND log.pos < ? AND log.pos > ? ORDER BY log.pos DESC LIMIT ${SLICE}`,
    );
    this.#places = database.prepare('SELECT pos FROM places WHERE c = ? AND pos < ?');
    this.#placeOf = database.prepare(`SELECT ${columns} ${joined} WHERE log.pos = ? AND log.n = ?`);
    this.#count = database.prepare('SELECT sum(version) FROM heads WHERE c = ?');
  }

  /** Answers a page of candidates, in steps between which the thread may do something else; each reads one snapshot. */
  *search(namespace: string, query: SearchQuery): Generator<void, SearchCandidates> {
    const steps = this.#search(namespace, query);
    for (;;) {
      const step = this.#snapshot(() => steps.next());
      if (step.done === true) return step.value;
      yield;
    }
  }

  /** Where a commit stands may change with any commit: a head and the places of its commits are read together. */
  #snapshot<Result>(read: () => Result): Result {
    this.#database.exec('BEGIN');
    try {
      this.#reader.renew();
      return read();
    } finally {
      // What fails to be read may have ended it.
      if (this.#database.inTransaction()) this.#database.exec('COMMIT');
    }
  }

  *#search(namespace: string, query: SearchQuery): Generator<void, SearchCandidates> {
    const n = this.#reader.namespace(namespace);
    const folded = fold(query.text);
    if (n === undefined || isBlank(folded)) return { places: [] };
    const only = query.conversationId === undefined ? undefined : this.#family(n, query.conversationId);
    const scope: Scope = { n, folded, only, limit: query.limit };
    const before = query.before === undefined ? Number.MAX_SAFE_INTEGER : Number(query.before);
    const hits =
      only && this.#commitsOf(only) <= SCANNED_COMMITS
        ? yield* this.#scanOwn(scope, only, before)
        : yield* this.#searchAll(scope, before);
    const places = hits.map(({ pos, conversationId, version }) => ({ conversationId, version, cursor: String(pos) }));
    const last = hits[query.limit - 1];
    return last ? { places, next: String(last.pos) } : { places };
  }

  /** A conversation and those that it inherits from. */
  #family(n: number, id: ConversationId): ReadonlySet<number> {
    const family = new Set<number>();
    for (let next: ConversationId | null = id; next !== null;) {
      const conversation = this.#reader.conversation(n, next);
      if (!conversation || family.has(conversation.c)) break;
      family.add(conversation.c);
      next = conversation.head.source;
    }
    return family;
  }

  #commitsOf(only: ReadonlySet<number>): number {
    let sum = 0;
    for (const c of only) sum += (this.#count.get(c)?.[0] as number | null) ?? 0;
    return sum;
  }

  *#scanOwn(scope: Scope, only: ReadonlySet<number>, before: number): Generator<void, readonly Hit[]> {
    const positions = [...only].flatMap((c) => this.#positionsOf(c, before)).sort((left, right) => right - left);
    const hits: Hit[] = [];
    for (const [at, pos] of positions.entries()) {
      if (at % SLICE === SLICE - 1) yield;
      if (hits.length >= scope.limit) break;
      const hit = this.#matchesAt(pos, scope.folded) ? this.#hitAt(pos, scope) : undefined;
      if (hit) hits.push(hit);
    }
    return hits;
  }

  #positionsOf(c: number, before: number): readonly number[] {
    const unfolded = this.#reader.conversationAt(c)?.unfolded ?? [];
    const folded = this.#places.all(c, before).map((row) => row[0] as number); // an integer column
    return [...folded, ...unfolded.filter((pos) => pos < before)];
  }

  /** An index that is damaged costs time, never an answer: then the whole log is read. Upkeep builds a new one. */
  #candidates(scope: Scope, before: number | undefined): Candidates | undefined {
    try {
      return this.#index()?.candidates(scope.folded, { before, limit: scope.limit });
    } catch {
      return undefined;
    }
  }

  /** The index is asked first: what it does not have yet is then in the log for certain. */
  *#searchAll(scope: Scope, before: number): Generator<void, readonly Hit[]> {
    const indexed = this.#candidates(scope, docBefore(before));
    const hits = yield* this.#scanAbove(scope, before, indexed?.position ?? 0);
    let docIds = indexed?.docIds;
    while (docIds && hits.length < scope.limit) {
      this.#addDocs(scope, docIds, hits);
      if (docIds.length < scope.limit) break;
      yield;
      docIds = this.#candidates(scope, docIds.at(-1))?.docIds;
      if (!docIds) return yield* this.#scanAbove(scope, before, 0);
    }
    return hits;
  }

  #addDocs(scope: Scope, docIds: readonly number[], hits: Hit[]): void {
    for (const docId of docIds) {
      const pos = Math.floor(docId / RECORDS);
      if (hits.length >= scope.limit) return;
      if (hits.at(-1)?.pos === pos) continue;
      const hit = this.#hitAt(pos, scope);
      if (hit) hits.push(hit);
    }
  }

  *#scanAbove(scope: Scope, before: number, position: number): Generator<void, Hit[]> {
    const hits: Hit[] = [];
    for (let below = before; ;) {
      const rows = this.#newest.all(scope.n, below, position);
      for (const row of rows) {
        const hit =
          hits.length < scope.limit && this.#isWithin(row, scope) && this.#matchesAt(row[0] as number, scope.folded);
        if (hit) hits.push(toHit(row));
      }
      if (rows.length < SLICE || hits.length >= scope.limit) return hits;
      below = rows.at(-1)?.[0] as number; // the page is full
      yield;
    }
  }

  #hitAt(pos: number, scope: Scope): Hit | undefined {
    const row = this.#placeOf.get(pos, scope.n);
    return row && this.#isWithin(row, scope) ? toHit(row) : undefined;
  }

  #isWithin(row: SqlRow, { only }: Scope): boolean {
    return only === undefined || only.has(row[3] as number);
  }

  /** True as well where a commit cannot be read: nobody knows what it says. */
  #matchesAt(pos: number, folded: string): boolean {
    try {
      const log = this.#reader.logAt(pos);
      const texts = log ? searchTexts(log, sha256) : [];
      return texts.some(({ text }) => text === null || matchFolded(text, folded) >= 0);
    } catch (error) {
      if (!isTurnkeepError(error, 'corrupt')) throw error;
      return true;
    }
  }
}

function docBefore(before: number): number | undefined {
  return before > Number.MAX_SAFE_INTEGER / RECORDS ? undefined : before * RECORDS;
}

function toHit(row: SqlRow): Hit {
  const [pos, conversationId, version] = row as [number, ConversationId, number]; // the columns of the statement
  return { pos, conversationId, version };
}
