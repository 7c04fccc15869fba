import type { RowReader, WriteSet } from '../core/backend.ts';
import { collectErased } from '../core/collect.ts';
import type { ConversationId } from '../core/ids.ts';
import type { Database, Statement } from './driver.ts';
import type { GroupWriter } from './group-writer.ts';
import type { StoreReader } from './store-reader.ts';

/** What one step of a collection did. */
export interface CollectStep {
  readonly rows: number;
  readonly more: boolean;
}

/** Collects what erased conversations of a namespace still hold, one write set a step, each a transaction of its own. */
export class Collector {
  readonly #writer: GroupWriter;
  readonly #next: Statement;
  readonly #begun = new Map<string, Iterator<WriteSet>>();

  constructor(database: Database, writer: GroupWriter) {
    this.#writer = writer;
    this.#next = database.prepare('SELECT id FROM heads WHERE n = ? AND uncollected = 1 ORDER BY id LIMIT 1');
  }

  /** Within the transaction that the writer began. A step that fails begins its conversation anew. */
  step(namespace: string): CollectStep {
    const n = this.#writer.reader.namespace(namespace);
    try {
      return this.#writer.maintain((writer) => {
        const sets = n === undefined ? undefined : (this.#begun.get(namespace) ?? this.#begin(n));
        if (n === undefined || sets === undefined) return { rows: 0, more: false };
        this.#begun.set(namespace, sets);
        const set = sets.next();
        if (set.done === true) this.#begun.delete(namespace);
        else writer.apply(n, set.value);
        return { rows: set.done === true ? 0 : set.value.rows.length, more: true };
      });
    } catch (error) {
      this.#begun.delete(namespace);
      throw error;
    }
  }

  #begin(n: number): Iterator<WriteSet> | undefined {
    const id = this.#next.get(n)?.[0] as ConversationId | undefined; // the id column
    if (id === undefined) return undefined;
    return collectErased(freshRows(this.#writer.reader, n), id)[Symbol.iterator]();
  }
}

/** Rows as they are at each call, across transactions. */
function freshRows(reader: StoreReader, n: number): RowReader {
  return {
    head: (id) => reader.rows(n).head(id),
    get: (id, key) => reader.rows(n).get(id, key),
    scan: (id, range) => reader.rows(n).scan(id, range),
    log: (id, version) => reader.rows(n).log(id, version),
    heads: (query) => reader.rows(n).heads(query),
  };
}
