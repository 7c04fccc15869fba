import { array, assert, boolean, constantFrom, integer, nat, option, property, record, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareKeys } from '../../core/backend.ts';
import type { RowRange } from '../../core/backend.ts';
import { KEYS, numberKey } from '../../core/keys.ts';
import { mergedRows, packsFor } from '../commit/range-rows.ts';
import { mayBePacked, rowsOf, withRows } from './row-pack.ts';
import type { PackedRow, RowPack } from './row-pack.ts';

const LONGEST = 5_120;

/** Keys of three tables, in no order, from few that come again. */
const keys = record({ table: constantFrom('M', 'm', 'tü'), number: nat(400) }).map(
  ({ table, number }) => `${table}${numberKey(number)}`,
);
const batches = array(
  array(tuple(keys, nat(120)), { maxLength: 150 }).map((rows) => [
    ...new Map(rows.map(([key, length]) => [key, { key, value: JSON.stringify(['x'.repeat(length)]) }])).values(),
  ]),
  { maxLength: 12 },
);

/** The table of packs, and what is put into it. */
class Packs {
  readonly packs = new Map<string, RowPack>();
  readonly rows = new Map<string, PackedRow>();

  add(rows: readonly PackedRow[]): void {
    const sorted = rows.toSorted((left, right) => compareKeys(left.key, right.key));
    const before = sorted.flatMap(
      ({ key }) => this.sorted().findLast(({ first }) => compareKeys(first, key) <= 0) ?? [],
    );
    for (const pack of withRows([...new Set(before)], sorted)) this.packs.set(pack.first, pack);
    for (const row of rows) this.rows.set(row.key, row);
  }

  sorted(): readonly RowPack[] {
    return [...this.packs.values()].toSorted((left, right) => compareKeys(left.first, right.first));
  }
}

describe('rows that are packed', () => {
  it('are all there, in packs that do not overlap, of one table each, and not too long', () => {
    assert(
      property(batches, (all) => {
        const store = new Packs();
        for (const rows of all) {
          store.add(rows);
          let before = '';
          for (const pack of store.sorted()) {
            const packed = rowsOf(pack);
            expect(compareKeys(before, pack.first)).toBeLessThan(0);
            expect(new Set(packed.map(({ key }) => key[0]))).toEqual(new Set([pack.first[0]]));
            expect(packed.at(-1)?.key).toBe(pack.last);
            expect(compareKeys(pack.first, packed[0]?.key ?? '')).toBeLessThanOrEqual(0);
            expect(pack.body.length).toBeLessThan(LONGEST * 1.1);
            before = pack.last;
          }
          const expected = [...store.rows.values()].toSorted((left, right) => compareKeys(left.key, right.key));
          expect(store.sorted().flatMap(rowsOf)).toEqual(expected);
        }
      }),
    );
  });

  it('fill their packs where they come in order', () => {
    const store = new Packs();
    for (let at = 0; at < 4_000; at += 100)
      store.add(
        Array.from({ length: 100 }, (_, more) => ({ key: KEYS.message(0, 1, at + more), value: '["id",1,0,0]' })),
      );
    const lengths = store.sorted().map(({ body }) => body.length);
    expect(lengths.slice(0, -1).every((length) => length > LONGEST * 0.95)).toBe(true);
  });

  it.each([
    ['no JSON', '["cut'],
    ['empty', ''],
    ['no array', '{}'],
    ['with what separates rows', '["\u001e"]'],
  ])('are not those whose value is %s', (_, value) => {
    expect(mayBePacked({ key: 'm1', value })).toBe(false);
    expect(mayBePacked({ key: 'm1', value: '["as it was written"]' })).toBe(true);
  });

  it('are corrupt where the text is no pack', () => {
    for (const body of ['m1', '\u001em1', 'x\u001em1\u001f[]', '\u001e\u001f[]'])
      expect(() => rowsOf({ first: 'm1', last: 'm1', body })).toThrow(
        expect.objectContaining({ code: 'corrupt' }) as Error,
      );
  });
});

describe('the rows of a range', () => {
  const ranges = record({
    bounds: tuple(keys, keys),
    reverse: boolean(),
    limit: option(integer({ min: 1, max: 60 }), { nil: undefined }),
  });

  it('are those of packs and those that are not packed, which stand for them, in one order', () => {
    assert(
      property(batches, array(keys, { maxLength: 60 }), ranges, (all, loose, { bounds, reverse, limit }) => {
        const store = new Packs();
        for (const rows of all) store.add(rows);
        const unpacked = new Map(loose.map((key) => [key, { key, value: '["newer"]' }]));
        const [from = '', to = ''] = bounds.toSorted(compareKeys);
        const range: RowRange = { from, to, reverse, limit };
        const inOrder = (rows: Iterable<PackedRow>) => {
          const within = [...rows].filter(({ key }) => compareKeys(from, key) <= 0 && compareKeys(key, to) < 0);
          const sorted = within.toSorted((left, right) => compareKeys(left.key, right.key));
          return (reverse ? sorted.toReversed() : sorted).slice(0, limit);
        };
        const expected = inOrder(new Map([...store.rows, ...unpacked]).values());
        const overlapping = store
          .sorted()
          .filter(({ first, last }) => compareKeys(first, to) < 0 && compareKeys(from, last) <= 0);
        const packs = reverse ? overlapping.toReversed() : overlapping;
        for (const mostPacks of [1, 2, 3, packsFor(range, 0), packsFor(range, 3)]) {
          const found = mergedRows(range, {
            rows: inOrder(unpacked.values()),
            packs: packs.slice(0, mostPacks),
            mostPacks,
          });
          // Where there may be more packs it may say so instead.
          expect(found ?? (mostPacks > packs.length ? [] : expected)).toEqual(expected);
        }
      }),
    );
  });
});
