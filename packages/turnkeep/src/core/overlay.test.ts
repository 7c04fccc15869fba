import { describe, expect, test } from 'vitest';
import { MemoryNamespace } from '../memory/memory-namespace.ts';
import type { RowRange, RowValue } from './backend.ts';
import { newHead } from './head.ts';
import { Overlay } from './overlay.ts';
import { EMPTY } from './story.testkit.ts';

function base(...keys: readonly string[]): Overlay {
  const rows = new Overlay(EMPTY);
  for (const key of keys) rows.put('c', key, ['below']);
  return rows;
}

const ALL: RowRange = { from: '', to: '\u{10ffff}' };

describe('writes over a reader', () => {
  test('hide what is below, and a removal hides it too', () => {
    const over = new Overlay(base('a', 'b', 'c'));
    over.put('c', 'b', ['over']);
    over.put('c', 'c', null);
    over.put('c', 'd', ['over']);
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => over.get('c', key)?.[0])).toEqual([
      'below',
      'over',
      undefined,
      'over',
      undefined,
    ]);
    expect(over.scan('c', ALL).map(({ key, value }) => [key, value[0]])).toEqual([
      ['a', 'below'],
      ['b', 'over'],
      ['d', 'over'],
    ]);
  });

  test('a scan is in order, in both directions, and holds as many as were asked for', () => {
    const over = new Overlay(base('a', 'c', 'e', 'g'));
    for (const key of ['a', 'c']) over.put('c', key, null);
    for (const key of ['d', 'h']) over.put('c', key, ['over']);
    const keys = (range: RowRange) => over.scan('c', range).map(({ key }) => key);
    expect(keys(ALL)).toEqual(['d', 'e', 'g', 'h']);
    expect(keys({ ...ALL, limit: 2 })).toEqual(['d', 'e']);
    expect(keys({ ...ALL, reverse: true, limit: 3 })).toEqual(['h', 'g', 'e']);
    expect(keys({ from: 'd', to: 'g' })).toEqual(['d', 'e']);
    expect(keys({ from: 'a', to: 'd' })).toEqual([]);
  });

  test('one conversation’s are no other’s', () => {
    const over = new Overlay(base('a'));
    over.put('d', 'a', null);
    expect(over.get('c', 'a')).toEqual(['below']);
    expect(over.scan('c', ALL)).toHaveLength(1);
  });

  test('heads and log records are replaced', () => {
    const below = base();
    const head = newHead('c', 1, 'chain');
    below.putHead(head);
    const over = new Overlay(below);
    expect(over.head('c')).toEqual(head);
    over.putHead({ ...head, version: 3 });
    expect([over.head('c')?.version, below.head('c')?.version]).toEqual([3, 0]);
    const log = { version: 2, at: 0, header: null, headerDigest: '', nonce: null, records: [] };
    over.putLog('c', log);
    expect([over.log('c', 2), over.log('c', 1), over.log('d', 2), below.log('c', 2)]).toEqual([
      log,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('what was changed can be told, removals included', () => {
    const over = new Overlay(base('a'));
    over.put('c', 'a', null);
    over.put('d', 'b', [1]);
    expect([...over.changedRows()]).toEqual([
      { conversation: 'c', key: 'a', value: null },
      { conversation: 'd', key: 'b', value: [1] },
    ]);
  });
});

const KEYS = ['a', 'b', 'c', 'd', 'e', '\uff5e', '\u{1f600}'];

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
