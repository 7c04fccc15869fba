import { compareKeys } from '../core/backend.ts';
import type { Row, RowRange, RowValue } from '../core/backend.ts';
import type { SqlRow } from './driver.ts';

type Put = readonly [key: string, value: RowValue | null];

/** The rows of a range: those that were put since the fold over the folded ones, both in the range's direction. */
export function mergeRows(puts: readonly Put[], folded: IterableIterator<SqlRow>, range: RowRange): readonly Row[] {
  const rows: Row[] = [];
  const limit = range.limit ?? Infinity;
  let at = 0;
  const takePut = () => {
    const [key, value] = puts[at] as Put; // called with one left
    at += 1;
    if (value !== null) rows.push({ key, value });
  };
  for (const row of folded) {
    const key = row[0] as string; // the key column
    while (at < puts.length && rows.length < limit && isBefore((puts[at] as Put)[0], key, range)) takePut();
    if (rows.length >= limit) return rows;
    if (at < puts.length && (puts[at] as Put)[0] === key) takePut();
    else rows.push({ key, value: JSON.parse(row[1] as string) as RowValue }); // we wrote it
    if (rows.length >= limit) return rows;
  }
  while (at < puts.length && rows.length < limit) takePut();
  return rows;
}

function isBefore(left: string, right: string, range: RowRange): boolean {
  const order = compareKeys(left, right);
  return range.reverse ? order > 0 : order < 0;
}
