import { expect, test } from 'vitest';
import { compareKeys } from './backend.ts';
import { rowsOf, SortedRows } from './sorted-rows.ts';

const ALL = { from: '', to: '\u{10ffff}' };

test('a range ends after every key of the basic plane, with or without astral keys beside them', () => {
  const rows = new SortedRows();
  for (const key of ['a', '\ud7ff', '\ue000', '～', '\uffff']) rows.set(key, []);
  expect(rowsOf(rows, ALL).map(({ key }) => key)).toEqual(['a', '\ud7ff', '\ue000', '～', '\uffff']);
  expect(rowsOf(rows, { ...ALL, reverse: true, limit: 1 }).map(({ key }) => key)).toEqual(['\uffff']);
  rows.set('🔥', []);
  expect(rowsOf(rows, ALL).map(({ key }) => key)).toEqual(['a', '\ud7ff', '\ue000', '～', '\uffff', '🔥']);
});

test('keys keep the order of their code points however they come in', () => {
  const keys = ['b', '🔥', '～', 'a', '\u{10000}', '\ufffd', 'aa', '\u{10ffff}a'.slice(0, 2), 'ﬁ', 'fi'];
  const rows = new SortedRows();
  for (const key of keys) rows.set(key, [key]);
  expect(rowsOf(rows, { from: '', to: '\u{10ffff}\u{10ffff}' }).map(({ key }) => key)).toEqual(
    keys.toSorted(compareKeys),
  );
  for (const key of keys) expect(rows.get(key)).toEqual([key]);
});
