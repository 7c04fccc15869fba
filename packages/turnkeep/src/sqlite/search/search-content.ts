import { assert } from '../../core/errors.ts';
import { fold, isBlank } from '../../core/fold.ts';
import { queryTerms } from '../../core/trigram.ts';
import type { Database, Statement } from '../driver/driver.ts';
import { writeTexts } from './search-build.ts';
import { mergeLevels, rewrite } from './search-merge.ts';
import { searchSegment } from './search-query.ts';
import { type Segment, SegmentTable } from './search-segments.ts';
import { type FoldedDoc, TailTable } from './search-tail.ts';
import { inSnapshot, inTransaction } from './search-transaction.ts';

export interface SearchDoc {
  /** An integer from 1 to 2^53 − 1. */
  readonly docId: number;
  /** `null` where it cannot be read: the document is then a candidate of every search. */
  readonly text: string | null;
}

/** What a batch covers: the documents of all log rows after one up to another. */
export interface LogSpan {
  readonly after: number;
  readonly position: number;
  /** What the log row at that position is known by, whatever becomes of its words. */
  readonly mark: string;
}

/** The highest log row of an index. */
export type LogEnd = Omit<LogSpan, 'after'>;

export interface CandidatePage {
  /** Only documents below this id. */
  readonly before?: number | undefined;
  /** Candidates, at most. */
  readonly limit: number;
}

export interface Candidates {
  /** Highest first. Fewer than the limit means that there are no more. */
  readonly docIds: readonly number[];
  /** The position that they hold for: what the log has after it is not among them, and is for the caller to scan. */
  readonly position: number;
}

/** Documents of the tail, and bytes of their text, before it becomes a segment. */
const TAIL_DOCS = 128;
const TAIL_BYTES = 256 * 1024;

export const STATE_TABLES = `
  CREATE TABLE state (
    store TEXT NOT NULL, unicode TEXT NOT NULL, position INTEGER NOT NULL, mark TEXT NOT NULL, highest INTEGER NOT NULL,
    removals INTEGER NOT NULL, scrubbed INTEGER NOT NULL
  );
  CREATE TABLE removed (doc INTEGER PRIMARY KEY);
  CREATE TABLE unreadable (doc INTEGER PRIMARY KEY);
`;

interface State {
  readonly position: number;
  /** The highest document id that was ever added. */
  readonly highest: number;
  /** Calls of `remove`, and how many of them have left no word in the files. */
  readonly removals: number;
  readonly scrubbed: number;
}

/**
 * What the file of a search index holds; `SearchIndex` says what its methods do.
 *
 * The newest documents stand in the tail, as folded text that a search goes through. When the tail is full it becomes a
 * segment: for each three code points in a row, which of its documents have them. Segments are merged, 12 to 1, twice;
 * then they hold 18,432 documents and stay. A search goes through tail and segments from the newest on and stops when
 * it has enough. To remove documents is to write their segment again without them, for which no text is needed.
 *
 * The table `removed` has the documents that were removed and are still in a segment, or are yet to be added; the table
 * `unreadable` those without a text, which every search has among its candidates.
 */
export class SearchContent {
  readonly #database: Database;
  readonly #segments: SegmentTable;
  readonly #tail: TailTable;
  readonly #state: Statement;
  readonly #end: Statement;
  readonly #setPosition: Statement;
  readonly #countRemoval: Statement;
  readonly #setScrubbed: Statement;
  readonly #removed: Statement;
  readonly #insertRemoved: Statement;
  readonly #deleteRemoved: Statement;
  readonly #unreadable: Statement;
  readonly #insertUnreadable: Statement;
  readonly #deleteUnreadable: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#segments = new SegmentTable(database);
    this.#tail = new TailTable(database);
    this.#state = database.prepare('SELECT position, highest, removals, scrubbed FROM state');
    this.#end = database.prepare('SELECT position, mark FROM state');
    this.#setPosition = database.prepare('UPDATE state SET position = ?, mark = ?, highest = ?');
    this.#countRemoval = database.prepare('UPDATE state SET removals = removals + 1');
    this.#setScrubbed = database.prepare('UPDATE state SET scrubbed = ?');
    this.#removed = database.prepare('SELECT doc FROM removed WHERE doc > ? AND doc <= ?');
    this.#insertRemoved = database.prepare('INSERT OR IGNORE INTO removed (doc) VALUES (?)');
    this.#deleteRemoved = database.prepare('DELETE FROM removed WHERE doc > ? AND doc <= ?');
    this.#unreadable = database.prepare('SELECT doc FROM unreadable WHERE doc <= ? ORDER BY doc DESC');
    this.#insertUnreadable = database.prepare('INSERT INTO unreadable (doc) VALUES (?)');
    this.#deleteUnreadable = database.prepare('DELETE FROM unreadable WHERE doc = ?');
  }

  position(): number {
    return this.#readState().position;
  }

  end(): LogEnd {
    const [position, mark] = this.#end.get() as unknown as readonly [number, string]; // there is one such row
    return { position, mark };
  }

  add(docs: readonly SearchDoc[], span: LogSpan): boolean {
    const outcome = inTransaction(this.#database, () => this.#addSpan(docs, span));
    // A merge writes up to 20 MB: without this the WAL would stay as large. Never mind if a reader prevents it.
    if (outcome === 'added_segments') this.#emptyWal();
    return outcome !== 'outrun';
  }

  candidates(query: string, { before = Infinity, limit }: CandidatePage): Candidates {
    const highest = Math.min(before - 1, Number.MAX_SAFE_INTEGER);
    return inSnapshot(this.#database, () => {
      const docIds: number[] = [];
      if (limit > 0 && !isBlank(query)) {
        for (const docId of this.#candidatesOf(query, highest)) if (docIds.push(docId) === limit) break;
      }
      return { docIds, position: this.position() };
    });
  }

  remove(docIds: readonly number[]): void {
    inTransaction(this.#database, () => {
      for (const docId of docIds) {
        const isApart = this.#tail.delete(docId) || this.#deleteUnreadable.run(docId) > 0;
        if (!isApart) this.#insertRemoved.run(docId);
      }
      this.#countRemoval.run();
    });
  }

  scrub(): boolean {
    const { removals, scrubbed, highest } = this.#readState();
    if (scrubbed >= removals) return false;
    if (inTransaction(this.#database, () => this.#scrubSegment(highest))) return true;
    // The words are overwritten in the file; the WAL has them as well.
    const isEmptied = this.#emptyWal();
    if (isEmptied) this.#setScrubbed.run(removals);
    return !isEmptied;
  }

  close(): void {
    this.#database.close();
  }

  /**
   * Moves what is in the WAL to the main file and cuts the WAL to nothing. Does not wait: answers `false` while another
   * connection needs it.
   */
  #emptyWal(): boolean {
    const patience = this.#database.pragma('busy_timeout');
    this.#database.pragma('busy_timeout = 0');
    try {
      return this.#database.pragma('wal_checkpoint(TRUNCATE)') === 0;
    } finally {
      this.#database.pragma(`busy_timeout = ${String(patience)}`);
    }
  }

  #readState(): State {
    const row = (this.#state.get() ?? []) as readonly number[]; // integer columns
    const [position = 0, highest = 0, removals = 0, scrubbed = 0] = row;
    return { position, highest, removals, scrubbed };
  }

  #addSpan(docs: readonly SearchDoc[], { after, position, mark }: LogSpan): 'added' | 'added_segments' | 'outrun' {
    const state = this.#readState();
    if (state.position !== after) return 'outrun';
    const highest = highestOf(docs, state.highest);
    const removed = this.#removedAfter(state.highest, highest);
    const kept: FoldedDoc[] = [];
    for (const { docId, text } of docs) {
      if (removed.has(docId)) continue;
      if (text === null) this.#insertUnreadable.run(docId);
      else kept.push({ docId, folded: fold(text) });
    }
    const isTailEnough = this.#fitsTail(kept);
    const rest = isTailEnough ? kept : this.#addSegments([...this.#tail.takeAll(), ...kept]);
    for (const doc of rest) this.#tail.add(doc);
    this.#deleteRemoved.run(state.highest, highest);
    this.#setPosition.run(position, mark, highest);
    return isTailEnough ? 'added' : 'added_segments';
  }

  #fitsTail(added: readonly FoldedDoc[]): boolean {
    const { docs, bytes } = this.#tail.size();
    const addedBytes = added.reduce((sum, { folded }) => sum + Buffer.byteLength(folded), 0);
    return docs + added.length < TAIL_DOCS && bytes + addedBytes < TAIL_BYTES;
  }

  /** Makes segments of documents as long as they fill one; answers what is left. */
  #addSegments(docs: readonly FoldedDoc[]): readonly FoldedDoc[] {
    let start = 0;
    let units = 0;
    for (const [at, { folded }] of docs.entries()) {
      units += folded.length;
      if (at + 1 - start < TAIL_DOCS && units < TAIL_BYTES) continue;
      this.#addSegment(docs.slice(start, at + 1));
      start = at + 1;
      units = 0;
    }
    return docs.slice(start);
  }

  #addSegment(docs: readonly FoldedDoc[]): void {
    const docIds = Float64Array.from(docs, ({ docId }) => docId);
    const texts = docs.map(({ folded }) => folded);
    this.#segments.insert(0, docIds, (writer) => writeTexts(writer, texts));
    mergeLevels(this.#segments);
  }

  /** Highest first. */
  *#candidatesOf(query: string, docId: number): Generator<number> {
    const unreadable = this.#unreadable.all(docId).map(([doc]) => doc as number); // an integer column
    let at = 0;
    for (const found of this.#matching(query, docId)) {
      for (; (unreadable[at] ?? 0) > found; at++) yield unreadable[at] as number;
      yield found;
    }
    yield* unreadable.slice(at);
  }

  *#matching(query: string, docId: number): Generator<number> {
    yield* this.#tail.matching(fold(query), docId);
    const ranges = queryTerms(query);
    for (const segment of this.#segments.newest(docId)) {
      const removed = this.#removedAfter(segment.first - 1, segment.last);
      for (const found of searchSegment(this.#segments, segment, ranges)) {
        if (found <= docId && !removed.has(found)) yield found;
      }
    }
  }

  /** Writes the newest segment again that has removed documents; `false` when none has. */
  #scrubSegment(highest: number): boolean {
    const segment = this.#newestToScrub();
    const [after, last] = segment === undefined ? [0, highest] : [segment.first - 1, segment.last];
    if (segment !== undefined) rewrite(this.#segments, [segment], segment.level, this.#removedAfter(after, last));
    this.#deleteRemoved.run(after, last);
    return segment !== undefined;
  }

  #newestToScrub(): Segment | undefined {
    for (const segment of this.#segments.newest(Number.MAX_SAFE_INTEGER)) {
      if (this.#removedAfter(segment.first - 1, segment.last).size > 0) return segment;
    }
    return undefined;
  }

  #removedAfter(docId: number, last: number): ReadonlySet<number> {
    return new Set(this.#removed.all(docId, last).map(([doc]) => doc as number)); // an integer column
  }
}

function highestOf(docs: readonly SearchDoc[], before: number): number {
  let highest = before;
  for (const { docId } of docs) {
    assert(Number.isSafeInteger(docId) && docId > highest, `document ${docId} is added after ${highest}`);
    highest = docId;
  }
  return highest;
}
