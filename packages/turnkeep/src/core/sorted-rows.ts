import { compareKeys } from './backend.ts';
import type { Row, RowRange, RowValue } from './backend.ts';

const CHUNK = 256;
// From the first surrogate on, the order of units is not that of code points, nor that of a range's end.
const HIGH_UNIT = /[\ud800-\uffff]/;

interface Chunk<Value> {
  readonly keys: string[];
  readonly values: Value[];
}

/** Rows in key order, in chunks, so that an insert moves little whatever the number of rows. */
export class SortedRows<Value = RowValue> {
  readonly #chunks: Chunk<Value>[] = [{ keys: [], values: [] }];
  // As long as no key has a high unit, text order is JavaScript's own, which is far faster.
  #plain = true;
  size = 0;

  get(key: string): Value | undefined {
    const chunk = this.#chunkFor(key);
    const at = this.#lower(chunk.keys, key);
    return chunk.keys[at] === key ? chunk.values[at] : undefined;
  }

  set(key: string, value: Value): void {
    if (this.#plain && HIGH_UNIT.test(key)) this.#plain = false;
    const index = this.#chunkIndex(key);
    const chunk = this.#chunks[index] as Chunk<Value>;
    const at = this.#lower(chunk.keys, key);
    if (chunk.keys[at] === key) {
      chunk.values[at] = value;
      return;
    }
    insert(chunk.keys, at, key);
    insert(chunk.values, at, value);
    this.size += 1;
    if (chunk.keys.length > CHUNK) this.#split(index);
  }

  delete(key: string): boolean {
    const index = this.#chunkIndex(key);
    const chunk = this.#chunks[index] as Chunk<Value>;
    const at = this.#lower(chunk.keys, key);
    if (chunk.keys[at] !== key) return false;
    chunk.keys.splice(at, 1);
    chunk.values.splice(at, 1);
    this.size -= 1;
    if (chunk.keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(index, 1);
    return true;
  }

  /** The entries of a range, in its direction; good until the rows change. */
  range(range: RowRange): Iterable<readonly [string, Value]> {
    return new Entries(range.reverse === true ? this.#down(range) : this.#up(range));
  }

  /** A generator would also do, but take several times as long for the few entries that most ranges hold. */
  #up({ from, to }: RowRange): () => readonly [string, Value] | undefined {
    let index = this.#chunkIndex(from);
    let chunk = this.#chunks[index] as Chunk<Value>;
    let at = this.#lower(chunk.keys, from);
    return () => {
      while (at >= chunk.keys.length) {
        const next = this.#chunks[++index];
        if (!next) return undefined;
        chunk = next;
        at = 0;
      }
      const key = chunk.keys[at] as string;
      return this.#less(key, to) ? [key, chunk.values[at++] as Value] : undefined;
    };
  }

  #down({ from, to }: RowRange): () => readonly [string, Value] | undefined {
    let index = this.#chunkIndex(to);
    let chunk = this.#chunks[index] as Chunk<Value>;
    let at = this.#lower(chunk.keys, to) - 1;
    return () => {
      while (at < 0) {
        const next = this.#chunks[--index];
        if (!next) return undefined;
        chunk = next;
        at = chunk.keys.length - 1;
      }
      const key = chunk.keys[at] as string;
      return this.#less(key, from) ? undefined : [key, chunk.values[at--] as Value];
    };
  }

  #less(left: string, right: string): boolean {
    return this.#plain ? left < right : compareKeys(left, right) < 0;
  }

  #chunkFor(key: string): Chunk<Value> {
    return this.#chunks[this.#chunkIndex(key)] as Chunk<Value>;
  }

  /** The last chunk whose first key is not above `key`. */
  #chunkIndex(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const first = (this.#chunks[middle] as Chunk<Value>).keys[0];
      if (first !== undefined && this.#less(key, first)) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  #lower(keys: readonly string[], key: string): number {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#less(keys[middle] as string, key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #split(index: number): void {
    const chunk = this.#chunks[index] as Chunk<Value>;
    const half = chunk.keys.length >> 1;
    const upper = { keys: chunk.keys.splice(half), values: chunk.values.splice(half) };
    this.#chunks.splice(index + 1, 0, upper);
  }
}

/** So few items are moved one by one: `splice` would create a list of those that it removes. */
const FEW = 32;

function insert<Item>(items: Item[], at: number, item: Item): void {
  if (items.length - at > FEW) {
    items.splice(at, 0, item);
    return;
  }
  items.push(item);
  for (let to = items.length - 1; to > at; to--) items[to] = items[to - 1] as Item;
  items[at] = item;
}

/** The values that a step returns, until it returns nothing. */
class Entries<Entry> implements IterableIterator<Entry, undefined> {
  readonly #step: () => Entry | undefined;

  constructor(step: () => Entry | undefined) {
    this.#step = step;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Entry, undefined> {
    const value = this.#step();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  }
}

/** The rows of a range, at most `range.limit`. */
export function rowsOf(rows: SortedRows, range: RowRange): readonly Row[] {
  const out: Row[] = [];
  const limit = range.limit ?? Infinity;
  for (const [key, value] of rows.range(range)) {
    if (out.length >= limit) break;
    out.push({ key, value });
  }
  return out;
}
