import { expect, test } from 'vitest';
import type { RowRange, RowValue } from './backend.ts';
import { MemoryNamespace } from '../memory/memory-namespace.ts';
import { Overlay } from './overlay.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e', '\uff5e', '\u{1f600}'];
const ALL = { from: '', to: '\u{10ffff}' };

/** Every way to have each key below, above, removed above, or not at all would be 6^7: these are a part of them. */
function* layers(): Generator<{ below: readonly string[]; above: readonly (readonly [string, RowValue | null])[] }> {
  for (let seed = 0; seed < 200; seed++) {
    const below = KEYS.filter((_, at) => ((seed * 7 + at * 13) >> (at % 3)) % 2 === 0);
    const above = KEYS.flatMap((key, at) => {
      const what = (seed * 5 + at * 11) % 4;
      return what < 2 ? [] : [[key, what === 2 ? null : ['above']] as const];
    });
    yield { below, above };
  }
}

test('a scan answers what is above over what is below, in either direction and up to any limit', () => {
  for (const { below, above } of layers()) {
    const base = new MemoryNamespace();
    base.apply({ heads: [], edits: [], rows: below.map((key) => ({ conversation: 'talk', key, value: ['below'] })) });
    const overlay = new Overlay(base);
    for (const [key, value] of above) overlay.put('talk', key, value);
    const merged = new Map<string, RowValue | null>([...below.map((key) => [key, ['below']] as const), ...above]);
    const expected = KEYS.flatMap((key) => (merged.get(key) ? [{ key, value: merged.get(key) }] : []));
    for (const reverse of [false, true]) {
      const ordered = reverse ? expected.toReversed() : expected;
      for (const limit of [undefined, 0, 1, 2, 3, 9]) {
        const range: RowRange = { ...ALL, reverse, limit };
        expect(overlay.scan('talk', range)).toEqual(ordered.slice(0, limit));
      }
    }
  }
});
