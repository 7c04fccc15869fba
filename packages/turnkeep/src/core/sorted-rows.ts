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
  // Without a high unit in any key, text order is JavaScript's own, which is far faster to ask for.
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
    chunk.keys.splice(at, 0, key);
    chunk.values.splice(at, 0, value);
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

  /** The entries of a range, in its direction. */
  *range(range: RowRange): Generator<readonly [string, Value]> {
    yield* range.reverse ? this.#down(range) : this.#up(range);
  }

  *#up({ from, to }: RowRange): Generator<readonly [string, Value]> {
    let index = this.#chunkIndex(from);
    let at = this.#lower((this.#chunks[index] as Chunk<Value>).keys, from);
    for (; index < this.#chunks.length; index++, at = 0) {
      const { keys, values } = this.#chunks[index] as Chunk<Value>;
      for (; at < keys.length; at++) {
        const key = keys[at] as string;
        if (!this.#less(key, to)) return;
        yield [key, values[at] as Value];
      }
    }
  }

  *#down({ from, to }: RowRange): Generator<readonly [string, Value]> {
    let index = this.#chunkIndex(to);
    let at = this.#lower((this.#chunks[index] as Chunk<Value>).keys, to) - 1;
    for (;;) {
      const { keys, values } = this.#chunks[index] as Chunk<Value>;
      for (; at >= 0; at--) {
        const key = keys[at] as string;
        if (this.#less(key, from)) return;
        yield [key, values[at] as Value];
      }
      if (index === 0) return;
      index -= 1;
      at = (this.#chunks[index] as Chunk<Value>).keys.length - 1;
    }
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
