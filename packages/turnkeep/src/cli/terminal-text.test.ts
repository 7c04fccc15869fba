import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DANGEROUS } from './cli.testkit.ts';
import { jsonText } from './json-text.ts';
import { clip, columnsOf, counted, padEnd, padStart, safeLine, safeText } from './terminal-text.ts';

/** Text in which what a terminal obeys is frequent. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\u001b[31m',
        '\u009b',
        '\u0000',
        '\r',
        '\n',
        '\t',
        '\u202e',
        '\u2028',
        '\ud800',
        '\udc00',
        '👩‍👩‍👧',
        '漢',
        'e\u0301',
        'a',
      ),
      fc.string({ unit: 'binary' }),
    ),
  )
  .map((pieces) => pieces.join(''));

test('no text makes a terminal do anything', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(safeText(text)).not.toMatch(DANGEROUS);
      expect(safeText(text).isWellFormed()).toBe(true);
      expect(safeLine(text)).not.toMatch(/[\n\t]/);
      expect(clip(safeLine(text), 20)).not.toMatch(DANGEROUS);
    }),
  );
});

test('what is shown as a sign says what stood there', () => {
  expect(safeText('a\u001b[31mb\u007f\u009bc\u202ed\ud800')).toBe('a␛[31mb␡<U+009B>c<U+202E>d<U+D800>');
  expect(safeText('one\r\ntwo\rthree\tfour')).toBe('one\ntwo␍three\tfour');
  expect(safeLine('  one\n two\u2028three\t')).toBe('one two three');
});

test('JSON is safe on a terminal and parses equal', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(jsonText({ [text]: text })).not.toMatch(DANGEROUS);
      expect(JSON.parse(jsonText({ [text]: text }))).toEqual({ [text]: text });
    }),
  );
});

test('columns count wide characters twice and marks not at all', () => {
  const columns = ['abc', 'é', 'e\u0301', '漢字', 'ｆｕ', '한', '👍', '👍🏽', '👩‍👩‍👧', '🇩🇪', '❤️', 'שלום', 'a\u200bb'].map(
    columnsOf,
  );
  expect(columns).toEqual([3, 1, 1, 4, 4, 2, 2, 2, 2, 2, 2, 4, 2]);
});

test('a clipped line fits and ends in an ellipsis', () => {
  expect(clip('short', 5)).toBe('short');
  expect(clip('longer', 5)).toBe('long…');
  expect(clip('漢字漢字', 8)).toBe('漢字漢字');
  expect(clip('漢字漢字', 7)).toBe('漢字漢…');
  expect(clip('漢字漢字', 6)).toBe('漢字…');
  fc.assert(
    fc.property(hostile, fc.integer({ min: 1, max: 40 }), (text, columns) => {
      expect(columnsOf(clip(safeLine(text), columns))).toBeLessThanOrEqual(columns);
    }),
  );
});

test('a letter under a heap of marks is bounded, and so is a long line', () => {
  expect(clip(`a${'\u0301'.repeat(100_000)}b`, 10).length).toBeLessThan(100);
  expect(clip('x'.repeat(10_000_000), 10)).toBe('xxxxxxxxx…');
});

test('filling up goes by columns', () => {
  expect(padEnd('漢', 4)).toBe('漢  ');
  expect(padStart('漢', 4)).toBe('  漢');
  expect(counted(1, 'turn')).toBe('1 turn');
  expect(counted(1_234_567, 'branch', 'branches')).toBe('1,234,567 branches');
});
