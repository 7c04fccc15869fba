import { isTurnkeepError } from '../../core/errors.ts';
import { searchTexts } from '../../core/search-text.ts';
import { sha256 } from '../../platform/hash.ts';
import type { Database, SqlRow, Statement } from '../driver/driver.ts';
import type { SearchDoc } from '../search/search-content.ts';
import type { SearchIndex } from '../search/search-index.ts';
import type { StoreReader } from './store-reader.ts';
import { RECORDS } from './store-schema.ts';

/** Commits, and characters of their texts, that one step takes at most. */
const STEP_COMMITS = 128;
const STEP_LENGTH = 512 * 1024;
const STALE_STEP = 1_000;

/** Brings what the log has to the search index, a step at a time, and takes out what the log no longer has. */
export class IndexFeeder {
  readonly #reader: StoreReader;
  readonly #next: Statement;
  readonly #stale: Statement;
  readonly #settle: Statement;
  readonly #newest: Statement;
  readonly #row: Statement;
  readonly #newestRow: Statement;

  /** `beside` may write; it settles what was taken out. */
  constructor(database: Database, beside: Database, reader: StoreReader) {
    this.#reader = reader;
    this.#next = database.prepare(`SELECT pos FROM log WHERE pos > ? ORDER BY pos LIMIT ${STEP_COMMITS}`);
    this.#newest = database.prepare('SELECT max(pos) FROM log');
    const row = 'SELECT c, version, at FROM log WHERE pos = ?';
    this.#row = database.prepare(row);
    // It reads no older snapshot: what the index has was in the log before.
    this.#newestRow = beside.prepare(row);
    this.#stale = database.prepare(`SELECT record FROM stale WHERE record > ? ORDER BY record LIMIT ${STALE_STEP}`);
    this.#settle = beside.prepare('DELETE FROM stale WHERE record >= ? AND record <= ?');
  }

  /**
   * False where the log has another row where the index ends, or none: somebody has put an older file in the store's place
   * since, and what the log says from here on would be passed over.
   */
  isOfThisLog(index: SearchIndex): boolean {
    const { position, mark } = index.end();
    return position === 0 || markOf(this.#newestRow.get(position)) === mark;
  }

  /** Commits that the index does not have. */
  lag(index: SearchIndex): number {
    return Math.max(0, ((this.#newest.get()?.[0] as number | null) ?? 0) - index.position());
  }

  /** Adds the next commits: `ended` when there are none, `raced` when another process added them first. */
  step(index: SearchIndex): 'added' | 'raced' | 'ended' {
    const after = index.position();
    const docs: SearchDoc[] = [];
    let length = 0;
    let position = after;
    for (const [pos] of this.#next.all(after)) {
      if (length > STEP_LENGTH) break;
      position = pos as number; // an integer column
      for (const doc of this.docsAt(position)) {
        docs.push(doc);
        length += doc.text?.length ?? 0;
      }
    }
    if (position === after) return 'ended';
    return index.add(docs, { after, position, mark: markOf(this.#row.get(position)) }) ? 'added' : 'raced';
  }

  /** Takes out records whose words went. Answers whether there may be more. */
  removeStale(index: SearchIndex): boolean {
    const records = this.#stale.all(0).map((row) => row[0] as number); // an integer column
    const [first] = records;
    const last = records.at(-1);
    if (first === undefined || last === undefined) return false;
    index.remove(records);
    // Between them there may be newer ones, which were not taken out: they are settled by their own step.
    if (records.length === last - first + 1) this.#settle.run(first, last);
    else for (const record of records) this.#settle.run(record, record);
    return true;
  }

  /** What of a commit is searched, one document a record; one for the commit where it cannot be read. */
  docsAt(pos: number): readonly SearchDoc[] {
    try {
      const log = this.#reader.logAt(pos);
      const texts = log ? searchTexts(log, sha256) : [];
      return texts.map(({ record, text }) => ({ docId: pos * RECORDS + record, text }));
    } catch (error) {
      if (!isTurnkeepError(error, 'corrupt')) throw error;
      return [{ docId: pos * RECORDS, text: null }];
    }
  }
}

/** A row that cools, or whose words go, keeps these. */
function markOf(row: SqlRow | undefined): string {
  return row?.join(' ') ?? '';
}
