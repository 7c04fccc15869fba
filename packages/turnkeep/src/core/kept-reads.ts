import { compareKeys } from './backend.ts';
import type { Row, RowRange, RowValue } from './backend.ts';
import { BoundedMap } from './bounded-map.ts';
import { KeyFilter } from './key-filter.ts';
import { prefixEnd } from './keys.ts';

const KEPT_VALUES = 64;
/** For each table, so that ranges asked for once do not displace those of other tables. */
const KEPT_RANGES = 16;
/** Longer ranges are not worth keeping. */
const KEPT_LENGTH = 16;

interface KeptRange {
  readonly range: RowRange & { readonly limit: number };
  /** True for all keys that begin like the range's start. */
  readonly isPrefix: boolean;
  /** The first rows of the range, in its direction. */
  rows: readonly Row[];
}

/**
 * What was read of one conversation's rows, for a backend whose every write passes here. Commits ask for the same few
 * rows and ranges again and again. They are kept here, and updated by every write, so that they need no look into the store.
 */
export class KeptReads {
  readonly #values = new BoundedMap<string, RowValue>(KEPT_VALUES);
  /** By table, which is a key's first letter: a write only affects the ranges of its own table. */
  readonly #ranges = new Map<string, BoundedMap<string, KeptRange>>();
  readonly #everPut: KeyFilter | undefined;

  /** `isNew`: the conversation has no rows yet, so every row that it gets passes here. */
  constructor({ isNew }: { readonly isNew: boolean }) {
    this.#everPut = isNew ? new KeyFilter() : undefined;
  }

  /**
   * The value of a key; `look` reads it. A missing row is not remembered: nearly always it was asked for as the id of
   * something that a commit brings, which is not asked for again.
   */
  value(key: string, look: () => RowValue | undefined): RowValue | undefined {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#everPut?.mayHave(key) === false) return undefined;
    const found = look();
    if (found !== undefined) this.#values.set(key, found);
    return found;
  }

  /** The rows of a range; `look` reads them, or those of a wider range. */
  rows(range: RowRange, look: (asked: RowRange) => readonly Row[]): readonly Row[] {
    const { from, to, reverse, limit } = range;
    if (limit === undefined || limit > KEPT_LENGTH || from === '' || from[0] !== to[0]) return look(range);
    if (!reverse || !to.startsWith(from)) return this.#rowsOf({ ...range, limit }, look);
    // Ranges with the same start end at a different place each time, mostly at the newest row.
    const rows = this.#rowsOf({ ...range, to: prefixEnd(from), limit }, look);
    const [newest] = rows;
    return newest === undefined || compareKeys(newest.key, to) < 0 ? rows : this.#rowsOf({ ...range, limit }, look);
  }

  #rowsOf(range: KeptRange['range'], look: (asked: RowRange) => readonly Row[]): readonly Row[] {
    const { from, limit } = range;
    const table = from.slice(0, 1);
    let ranges = this.#ranges.get(table);
    if (!ranges) this.#ranges.set(table, (ranges = new BoundedMap(KEPT_RANGES)));
    const name = nameOf(range);
    const known = ranges.get(name);
    if (known && known.range.limit >= limit)
      return known.rows.length <= limit ? known.rows : known.rows.slice(0, limit);
    const rows = look(range);
    ranges.set(name, { range, isPrefix: range.to === prefixEnd(from), rows });
    return rows;
  }

  /** A row was written; `null` where it was removed. */
  put(key: string, value: RowValue | null): void {
    this.#everPut?.add(key);
    if (value === null) this.#values.delete(key);
    else if (this.#values.get(key) !== undefined) this.#values.set(key, value);
    const ranges = this.#ranges.get(key.slice(0, 1));
    if (!ranges) return;
    for (const kept of ranges.values()) {
      if (!isWithin(key, kept)) continue;
      const rows = value === null ? without(kept, key) : withRow(kept, { key, value });
      if (rows) kept.rows = rows;
      else ranges.delete(nameOf(kept.range));
    }
  }
}

function isWithin(key: string, { range, isPrefix }: KeptRange): boolean {
  if (isPrefix) return key.startsWith(range.from);
  return compareKeys(key, range.from) >= 0 && compareKeys(key, range.to) < 0;
}

function nameOf({ from, to, reverse }: RowRange): string {
  return `${reverse ? '-' : '+'}${from}\n${to}`;
}

/** `undefined` if the row that moves up is not known. */
function without({ range, rows }: KeptRange, key: string): readonly Row[] | undefined {
  const left = rows.filter((row) => row.key !== key);
  if (left.length === rows.length) return rows;
  return rows.length < range.limit ? left : undefined;
}

function withRow({ range, rows }: KeptRange, put: Row): readonly Row[] {
  const direction = range.reverse ? -1 : 1;
  const at = rows.findIndex((row) => direction * compareKeys(row.key, put.key) >= 0);
  if (at < 0) return rows.length < range.limit ? [...rows, put] : rows;
  const isSame = rows[at]?.key === put.key;
  return rows.toSpliced(at, isSame ? 1 : 0, put).slice(0, range.limit);
}
