import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fold } from './fold.ts';
import { queryTerms, termOf, textCodes } from './trigram.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 12 });

/** The terms of a text: three codes from each code point on, zeros behind the last one. */
function termsOf(text: string): number[] {
  const codes = textCodes(fold(text));
  return Array.from(codes, (code, i) => termOf(code, codes[i + 1] ?? 0, codes[i + 2] ?? 0));
}

const hasAll = (text: string, query: string) =>
  queryTerms(query).every(({ first, last }) => termsOf(text).some((term) => term >= first && term <= last));

test('a text that contains a query has a term of each of its ranges', () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, (before, query, after) => {
      fc.pre(!/[\ud800-\udbff]$/.test(before) || !/^[\udc00-\udfff]/.test(query));
      fc.pre(!/[\ud800-\udbff]$/.test(query) || !/^[\udc00-\udfff]/.test(after));
      expect(hasAll(before + query + after, query)).toBe(true);
    }),
  );
});

test('each code point has a code of its own in the basic plane, NUL and half pairs aside, and among emoji', () => {
  const codeOf = (codePoint: number) => textCodes(String.fromCodePoint(codePoint))[0];
  const basic = Array.from({ length: 0xd800 - 1 }, (_, i) => i + 1);
  expect(basic.filter((codePoint) => codeOf(codePoint) !== codePoint)).toEqual([]);
  const emoji = Array.from({ length: 0x700 }, (_, i) => 0x1f000 + i);
  expect(new Set(emoji.map(codeOf)).size).toBe(emoji.length);
  const all = Array.from({ length: 0x110000 }, (_, codePoint) => codeOf(codePoint));
  expect(all.filter((code) => code === undefined || code === 0)).toEqual([]);
});

test('codes are one for each code point', () => {
  expect([...textCodes('aé三')]).toEqual([0x61, 0xe9, 0x4e09]);
  expect(textCodes('🔥👨‍👩')).toHaveLength(4);
  expect([...textCodes('\0\ud83d\udd25\ud83d')]).toEqual([0xfffd, 0xdd25, 0xfffd]);
});

test('short queries are ranges, longer ones exact terms, and long ones not all of them', () => {
  expect(queryTerms('')).toEqual([]);
  expect(queryTerms('A')).toEqual([{ first: termOf(0x61, 0, 0), last: termOf(0x61, 0xffff, 0xffff) }]);
  expect(queryTerms('ab')).toEqual([{ first: termOf(0x61, 0x62, 0), last: termOf(0x61, 0x62, 0xffff) }]);
  expect(queryTerms('aBc')).toEqual([{ first: termOf(0x61, 0x62, 0x63), last: termOf(0x61, 0x62, 0x63) }]);
  expect(queryTerms('abababab')).toHaveLength(2);
  const long = Array.from({ length: 500 }, (_, i) => String.fromCharCode(0x4e00 + i)).join('');
  expect(queryTerms(long)).toHaveLength(12);
  expect(Number.isSafeInteger(termOf(0xffff, 0xffff, 0xffff))).toBe(true);
});
