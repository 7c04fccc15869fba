import { compareKeys } from '../../core/backend.ts';
import type { Row, RowRange, RowValue } from '../../core/backend.ts';

type Put = readonly [key: string, value: RowValue | null];

/**
 * The rows of a range: those that were put since the fold over the folded ones, both in the range's direction. Answers
 * nothing where the folded rows ended too early to tell; `isWhole` says that they are all there are in the range.
 */
export function mergeRows(
  puts: readonly Put[],
  folded: readonly Row[],
  isWhole: boolean,
  range: RowRange,
): readonly Row[] | undefined {
  const rows: Row[] = [];
  const limit = range.limit ?? Infinity;
  let at = 0;
  for (const row of folded) {
    const { key } = row;
    for (let put = puts[at]; put && rows.length < limit && isBefore(put[0], key, range); put = puts[++at])
      take(rows, put);
    if (rows.length >= limit) return rows;
    const over = puts[at];
    if (over?.[0] === key) {
      take(rows, over);
      at += 1;
    } else {
      rows.push(row);
    }
  }
  if (!isWhole && rows.length < limit) return undefined;
  for (; at < puts.length && rows.length < limit; at++) take(rows, puts[at] as Put);
  return rows;
}

function take(rows: Row[], [key, value]: Put): void {
  if (value !== null) rows.push({ key, value });
}

function isBefore(left: string, right: string, range: RowRange): boolean {
  const order = compareKeys(left, right);
  return range.reverse ? order > 0 : order < 0;
}
