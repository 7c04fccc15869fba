import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SNIPPET_UNITS, snippet } from './snippet.ts';

const FAMILY = '👨‍👩‍👧';

/** A text out of small pieces, and a span of whole pieces in it. */
const textAndSpan = fc
  .array(fc.constantFrom('a', ' ', '明', '🔥', FAMILY, 'e\u0301', 'กำ', '👍🏽', '\ud83d', '\0', 'ß'), { maxLength: 300 })
  .chain((pieces) =>
    fc.tuple(fc.constant(pieces), fc.nat(pieces.length), fc.nat(pieces.length)).map(([all, a, b]) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const at = all.slice(0, from).join('').length;
      return { text: all.join(''), at, length: all.slice(from, to).join('').length };
    }),
  );

test('a snippet is a piece of the text that holds the match, or its beginning, within the limit', () => {
  fc.assert(
    fc.property(textAndSpan, ({ text, at, length }) => {
      const piece = snippet(text, at, length);
      expect(piece.text).toBe(text.slice(piece.start, piece.start + piece.text.length));
      expect(piece.text.length).toBeLessThanOrEqual(SNIPPET_UNITS);
      expect(piece.start).toBeLessThanOrEqual(at);
      const shown = piece.start + piece.text.length;
      expect(shown).toBeGreaterThanOrEqual(Math.min(at + length, at + SNIPPET_UNITS - FAMILY.length));
    }),
  );
});

test('no edge cuts a pair, a mark from its letter, or a joined emoji', () => {
  const whole = /^(?!\p{Mark}|\u200d|\p{Emoji_Modifier}|[\udc00-\udfff])/u;
  fc.assert(
    fc.property(textAndSpan, ({ text, at, length }) => {
      const { start, text: piece } = snippet(text, at, length);
      for (const edge of [start, start + piece.length]) {
        expect(text.slice(edge)).toMatch(whole);
        expect(text.slice(0, edge).endsWith('\u200d')).toBe(false);
      }
    }),
  );
});

test('a short text is shown whole', () => {
  expect(snippet('aaaa🔥', 4, 2)).toEqual({ text: 'aaaa🔥', start: 0 });
});

test('the context is spent on the side that has any', () => {
  const text = 'x'.repeat(1_000);
  expect(snippet(text, 0, 1)).toEqual({ text: 'x'.repeat(SNIPPET_UNITS), start: 0 });
  expect(snippet(text, 999, 1)).toEqual({ text: 'x'.repeat(SNIPPET_UNITS), start: 1_000 - SNIPPET_UNITS });
  const middle = snippet(text, 500, 2);
  expect(500 - middle.start).toBe((SNIPPET_UNITS - 2) / 2);
});

test('heaps of marks are cut, at the limit, between whole code points', () => {
  const heap = `a${'\u0301'.repeat(1_000)}`;
  expect(snippet(heap, 500, 1).text.length).toBe(SNIPPET_UNITS);
  const fires = '🔥\u200d'.repeat(500);
  expect(snippet(fires, 600, 2).text).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
});
