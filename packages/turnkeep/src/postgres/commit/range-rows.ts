import { compareKeys } from '../../core/backend.ts';
import type { RowRange } from '../../core/backend.ts';
import { rowsOf } from '../tiers/row-pack.ts';
import type { PackedRow, RowPack } from '../tiers/row-pack.ts';

/** Rows that a pack mostly has, at least. */
const ROWS_A_PACK = 64;
/** How many times more packs are loaded where those that were did not do. */
const MORE = 8;

/** What was loaded of a range. */
export interface LoadedRange {
  /** Rows that are not packed: as many as the range's limit at most. */
  readonly rows: readonly PackedRow[];
  /** The packs that may hold more, in the direction of the range: as many as `mostPacks` at most. */
  readonly packs: readonly RowPack[];
  readonly mostPacks: number;
}

/** How many packs a range mostly takes, at the `attempt`-th try from 0. */
export function packsFor({ limit }: RowRange, attempt: number): number {
  if (limit === undefined) return Number.MAX_SAFE_INTEGER;
  return (1 + Math.ceil(limit / ROWS_A_PACK)) * MORE ** attempt;
}

/**
 * The rows of a range, in its direction, as many as its limit at most; `undefined` where it takes more packs to know. A row
 * that is not packed stands for the packed one of its key. Throws `corrupt` where a pack is none.
 */
export function mergedRows(range: RowRange, { rows, packs, mostPacks }: LoadedRange): readonly PackedRow[] | undefined {
  const { from, to, reverse = false, limit = Infinity } = range;
  const unpacked = new Set(rows.map(({ key }) => key));
  const packed = packs
    .flatMap(rowsOf)
    .filter(({ key }) => compareKeys(from, key) <= 0 && compareKeys(key, to) < 0 && !unpacked.has(key));
  const direction = reverse ? -1 : 1;
  const merged = [...rows, ...packed].toSorted((left, right) => direction * compareKeys(left.key, right.key));
  const last = packs.at(-1);
  if (!last || packs.length < mostPacks) return merged.slice(0, limit);
  // Behind the last pack there may be others.
  const edge = reverse ? last.first : last.last;
  const known = merged.filter(({ key }) => direction * compareKeys(key, edge) <= 0);
  return known.length >= limit ? known.slice(0, limit) : undefined;
}
