import type { RowReader, WriteSet } from '../../core/backend.ts';
import { collectErased } from '../../core/collect.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { Database, Statement } from '../driver/driver.ts';
import type { GroupWriter } from '../threads/group-writer.ts';
import type { StoreReader } from './store-reader.ts';

/** What one step of a collection did. */
export interface CollectStep {
  readonly rows: number;
  readonly more: boolean;
  /** The conversation that the collection is to go past: what is left of it cannot be read. */
  readonly past?: string | undefined;
}

interface Begun {
  readonly id: ConversationId;
  readonly sets: Iterator<WriteSet>;
}

/** Collects what erased conversations of a namespace still hold, one write set a step, each a transaction of its own. */
export class Collector {
  readonly #writer: GroupWriter;
  readonly #next: Statement;
  readonly #begun = new Map<string, Begun>();

  constructor(database: Database, writer: GroupWriter) {
    this.#writer = writer;
    this.#next = database.prepare(
      'SELECT id FROM heads WHERE n = ? AND id > ? AND uncollected = 1 ORDER BY id LIMIT 1',
    );
  }

  /**
   * Within the transaction that the writer began, a step of a conversation whose id comes after `after`. A step that fails
   * begins its conversation anew; one that ends at what cannot be read keeps what the steps before it removed.
   */
  step(namespace: string, after: string): CollectStep {
    try {
      return this.#writer.maintain((writer) => {
        const n = this.#writer.reader.namespace(namespace);
        const begun = n === undefined ? undefined : (this.#begun.get(namespace) ?? this.#begin(n, after));
        if (n === undefined || begun === undefined) return { rows: 0, more: false };
        this.#begun.set(namespace, begun);
        const set = begun.sets.next();
        if (set.done === true) this.#begun.delete(namespace);
        else writer.apply(n, set.value);
        return { rows: set.done === true ? 0 : set.value.rows.length, more: true };
      });
    } catch (error) {
      const begun = this.#begun.get(namespace);
      this.#begun.delete(namespace);
      if (begun && isTurnkeepError(error, 'corrupt')) return { rows: 0, more: true, past: begun.id };
      throw error;
    }
  }

  #begin(n: number, after: string): Begun | undefined {
    const id = this.#next.get(n, after)?.[0] as ConversationId | undefined; // the id column
    if (id === undefined) return undefined;
    return { id, sets: collectErased(freshRows(this.#writer.reader, n), id)[Symbol.iterator]() };
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
