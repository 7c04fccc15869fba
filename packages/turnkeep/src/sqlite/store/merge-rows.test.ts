import { expect, test } from 'vitest';
import type { RowValue } from '../../core/backend.ts';
import { mergeRows } from './merge-rows.ts';

type Put = readonly [string, RowValue | null];

const FOLDED = ['b', 'd', 'f', '\u{1f600}'].map((key) => ({ key, value: ['folded'] }));
const PUTS: readonly Put[] = [
  ['a', ['put']],
  ['d', ['put']],
  ['e', null],
  ['f', null],
  ['\uff5e', ['put']],
];

function keys(puts: readonly Put[], folded: typeof FOLDED, isWhole: boolean, limit?: number, reverse = false) {
  const rows = mergeRows(puts, folded, isWhole, { from: '', to: '\u{10ffff}', limit, reverse });
  return rows?.map(({ key, value }) => `${key} ${(value as readonly string[]).join()}`);
}

test('what was put stands over what was folded, in the order of UTF-8', () => {
  expect(keys(PUTS, FOLDED, true)).toEqual(['a put', 'b folded', 'd put', '\uff5e put', '\u{1f600} folded']);
});

test('backwards too', () => {
  const reversed = keys(PUTS.toReversed(), FOLDED.toReversed(), true, undefined, true);
  expect(reversed).toEqual(keys(PUTS, FOLDED, true)?.toReversed());
});

test('a limit ends it', () => {
  expect(keys(PUTS, FOLDED, true, 0)).toEqual([]);
  expect(keys(PUTS, FOLDED, true, 1)).toEqual(['a put']);
  expect(keys(PUTS, FOLDED, true, 3)).toEqual(['a put', 'b folded', 'd put']);
  expect(keys(PUTS, FOLDED, true, 9)).toHaveLength(5);
});

test('it says when more folded rows are needed', () => {
  expect(keys(PUTS, FOLDED.slice(0, 3), false, 3)).toEqual(['a put', 'b folded', 'd put']);
  expect(keys(PUTS, FOLDED.slice(0, 3), false, 4)).toBeUndefined();
  expect(keys([['b', null]], FOLDED.slice(0, 1), false, 1)).toBeUndefined();
});

test('without folded rows, only puts', () => {
  expect(keys(PUTS, [], true)).toEqual(['a put', 'd put', '\uff5e put']);
});
