import { compareKeys } from '../../core/backend.ts';
import type { Row, RowRange, RowValue } from '../../core/backend.ts';
import { prefixEnd } from '../../core/keys.ts';
import { SortedRows } from '../../core/sorted-rows.ts';

/** Keys from `from` to `to` (exclusive). */
export interface KeySpan {
  readonly from: string;
  readonly to: string;
}

const UNKNOWN: unique symbol = Symbol('unknown');

/** What is known of one conversation's rows: single ones, some that are not there, and ranges that are known whole. */
export class KnownRows {
  static readonly unknown: typeof UNKNOWN = UNKNOWN;
  readonly #rows = new SortedRows();
  readonly #absent = new Set<string>();
  /** Of these keys every row is known. */
  #spans: readonly KeySpan[] = [];

  /** Of a conversation without rows. */
  static none(): KnownRows {
    const known = new KnownRows();
    known.putRange({ from: '', to: prefixEnd('') }, []);
    return known;
  }

  /** `undefined` where there is no such row. */
  get(key: string): RowValue | undefined | typeof UNKNOWN {
    const value = this.#rows.get(key);
    if (value !== undefined || this.#absent.has(key)) return value;
    return this.#spanAround(key) ? undefined : UNKNOWN;
  }

  /** The rows of a range, as far as its limit; unknown where that is not known for certain. */
  scan(range: RowRange): readonly Row[] | typeof UNKNOWN {
    if (compareKeys(range.from, range.to) >= 0) return [];
    const span = range.reverse ? this.#spanBelow(range.to) : this.#spanAround(range.from);
    if (!span) return UNKNOWN;
    const from = later(span.from, range.from);
    const to = earlier(span.to, range.to);
    const rows: Row[] = [];
    for (const [key, value] of this.#rows.range({ from, to, reverse: range.reverse })) {
      if (rows.length === range.limit) return rows;
      rows.push({ key, value });
    }
    const isWhole = range.reverse ? from === range.from : to === range.to;
    return isWhole || rows.length === range.limit ? rows : UNKNOWN;
  }

  /** A row that was looked up; `undefined` where there was none. */
  put(key: string, value: RowValue | undefined): void {
    if (value === undefined) {
      this.#rows.delete(key);
      this.#absent.add(key);
    } else {
      this.#absent.delete(key);
      this.#rows.set(key, value);
    }
  }

  /** How much is kept. */
  get size(): number {
    return this.#rows.size + this.#absent.size + this.#spans.length;
  }

  /** The answer to a range: fewer rows than its limit mean that there are no more. */
  putRange(range: RowRange, rows: readonly Row[]): void {
    for (const { key, value } of rows) this.#rows.set(key, value);
    const last = rows.at(-1)?.key;
    if (last === undefined || rows.length < (range.limit ?? Infinity)) this.#add(range);
    else if (range.reverse) this.#add({ from: last, to: range.to });
    else this.#add({ from: range.from, to: `${last}\u0000` });
  }

  /**
   * The keys nearest to the start of a scan of which nothing is known: with nothing there, the scan knows more.
   * `undefined` where rows are known among them.
   */
  gap({ from, to, reverse }: RowRange): KeySpan | undefined {
    const gap = reverse ? this.#gapBelow(from, to) : this.#gapFrom(from, to);
    for (const _row of this.#rows.range(gap)) return undefined;
    return gap;
  }

  #gapBelow(from: string, to: string): KeySpan {
    const end = this.#spanBelow(to)?.from ?? to;
    let start = from;
    for (const span of this.#spans) if (compareKeys(span.to, end) <= 0) start = later(start, span.to);
    return { from: start, to: end };
  }

  #gapFrom(from: string, to: string): KeySpan {
    const start = this.#spanAround(from)?.to ?? from;
    let end = to;
    for (const span of this.#spans) if (compareKeys(span.from, start) >= 0) end = earlier(end, span.from);
    return { from: start, to: end };
  }

  #spanAround(key: string): KeySpan | undefined {
    return this.#spans.find(({ from, to }) => compareKeys(from, key) <= 0 && compareKeys(key, to) < 0);
  }

  #spanBelow(end: string): KeySpan | undefined {
    return this.#spans.find(({ from, to }) => compareKeys(from, end) < 0 && compareKeys(end, to) <= 0);
  }

  #add({ from, to }: KeySpan): void {
    let merged: KeySpan = { from, to };
    const apart = this.#spans.filter((span) => {
      const touches = compareKeys(span.from, merged.to) <= 0 && compareKeys(merged.from, span.to) <= 0;
      if (touches) merged = { from: earlier(span.from, merged.from), to: later(span.to, merged.to) };
      return !touches;
    });
    this.#spans = [...apart, merged];
  }
}

function earlier(left: string, right: string): string {
  return compareKeys(left, right) <= 0 ? left : right;
}

function later(left: string, right: string): string {
  return compareKeys(left, right) >= 0 ? left : right;
}
