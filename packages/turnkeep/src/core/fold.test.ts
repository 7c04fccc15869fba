import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FOLD_RUNS, FOLD_UNICODE_VERSION } from './fold-table.ts';
import { fold, isBlank, matchFolded } from './fold.ts';

/** Every code point that the table folds, as text. */
const folding = FOLD_RUNS.flatMap(([first, last, step]) =>
  Array.from({ length: (last - first) / step + 1 }, (_, i) => String.fromCodePoint(first + i * step)),
);

const members = new Set([...folding, ...folding.map(fold)]);
const codePoints = Array.from({ length: 0x110000 }, (_, codePoint) => String.fromCodePoint(codePoint));

/** Whether this runtime's regular expressions know the same characters as the table. */
const sameUnicode = process.versions['unicode'] === FOLD_UNICODE_VERSION;

/** Random text of many scripts, cases and oddities. */
const anyText = fc.string({ unit: fc.oneof(fc.constantFrom(...folding), fc.string({ unit: 'binary', maxLength: 1 })) });

test('two code points fold to the same exactly if a regular expression with iu holds them equal', () => {
  const CASED = /[\p{Changes_When_Casefolded}\p{Changes_When_Casemapped}\p{Cased}]/u;
  const cased = codePoints.filter((text) => members.has(text) || CASED.test(text)).filter(isComparable);
  const all = cased.join('');
  const byFolding = groupByFolding(cased);
  const wrong = cased.filter((text) => {
    const equal = all.match(new RegExp(text, 'giu'));
    return equal?.join('') !== byFolding.get(fold(text))?.join('');
  });
  expect(cased.length).toBeGreaterThan(4_000);
  expect(wrong).toEqual([]);
});

test('what the table does not know is equal to nothing that it knows', () => {
  const equalToMember = new RegExp(`^[${[...members].join('')}]$`, 'iu');
  const others = codePoints.filter((text) => !members.has(text)).filter(isComparable);
  expect(others.filter((text) => equalToMember.test(text))).toEqual([]);
});

test('no code point leaves its plane or its high surrogate', () => {
  const lead = (text: string) => (text.length === 1 ? '' : text[0]);
  expect(folding.filter((text) => fold(text).length !== text.length || lead(fold(text)) !== lead(text))).toEqual([]);
});

test('folding is code point by code point', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(fold(text)).toBe(Array.from(text, (point) => fold(point)).join(''));
    }),
  );
});

test('text that the engine may lowercase folds like any other', () => {
  const slowly = (text: string) => fold(`${text}\u0100`).slice(0, -1);
  const candidates = codePoints.filter((text) => text.length === 1 || /^[\ud83c-\ud83e]/.test(text));
  const wrong = candidates.filter((text) => fold(`I${text}I`) !== slowly(`I${text}I`));
  expect(wrong).toEqual([]);
});

test('long text folds like short text', () => {
  for (const length of [4_095, 4_096, 4_097, 10_000]) {
    expect(fold(`É${'aB'.repeat(length)}`)).toBe(`é${'ab'.repeat(length)}`);
    expect(fold('𐐀'.repeat(length))).toBe('𐐨'.repeat(length));
  }
});

test.each([
  ['ASCII', 'ASCII 123 _[]', 'ascii 123 _[]'],
  ['accents, not normalised', 'ÀÉ A\u0300', 'àé a\u0300'],
  ['sharp s: no other letter is as short', 'STRASSE Straße ẞ', 'strasse straße ß'],
  ['Turkish: dotted and dotless stay apart', 'Iıİi', 'iıİi'],
  ['Greek final sigma', 'ΣΑΣ ςσ', 'σασ σσ'],
  ['Kelvin and long s', 'KkK ſS', 'kkk ss'],
  ['Cherokee folds upwards', 'ꭰᎠ', 'ᎠᎠ'],
  ['full width', 'ＡＢＣ', 'ａｂｃ'],
  ['Deseret, above the basic plane', '𐐀𐐨', '𐐨𐐨'],
  ['halves of pairs stay', '\ud801\udc00A\ud801 \udc00B', '𐐨a\ud801 \udc00b'],
  ['scripts without case', 'การประชุม 明天 🔥', 'การประชุม 明天 🔥'],
])('%s', (_, text, folded) => {
  expect(fold(text)).toBe(folded);
});

test('a match is found where a regular expression with iu finds it', () => {
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  fc.assert(
    fc.property(anyText, fc.nat(), fc.integer({ min: 1, max: 5 }), (text, from, length) => {
      const points = Array.from(text);
      const start = points.length === 0 ? 0 : from % points.length;
      const query = fold(points.slice(start, start + length).join(''));
      const expected = isBlank(query) ? -1 : text.search(new RegExp(escaped(query), 'iu'));
      expect(sameUnicode ? matchFolded(text, query) : expected).toBe(expected);
    }),
  );
});

test('half of a pair matches only where it stands alone', () => {
  expect(matchFolded('🔥', '\ud83d')).toBe(-1);
  expect(matchFolded('🔥', '\udd25')).toBe(-1);
  expect(matchFolded('🔥\ud83d', '\ud83d')).toBe(2);
  expect(matchFolded('🔥\udd25!', '\udd25')).toBe(2);
});

test('a blank query matches nothing', () => {
  for (const blank of ['', ' ', '   ', '\t\n\u2028\u00a0\u3000\ufeff']) {
    expect(isBlank(blank)).toBe(true);
    expect(matchFolded(`a ${blank} b`, blank)).toBe(-1);
  }
  expect(matchFolded('a b', ' b')).toBe(1);
});

/**
 * Runtimes differ by the characters that they know. An older one says nothing about the youngest of the table, a newer
 * one may pair a character that the table does not know: then only what the table knows is compared.
 */
function isComparable(text: string): boolean {
  return sameUnicode || (members.has(text) && /\p{Assigned}/u.test(text) && /\p{Assigned}/u.test(fold(text)));
}

function groupByFolding(texts: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const text of texts) groups.set(fold(text), [...(groups.get(fold(text)) ?? []), text]);
  return groups;
}
