import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RowRange, RowValue } from './backend.ts';
import { KeptReads } from './kept-reads.ts';
import { rowsOf, SortedRows } from './sorted-rows.ts';

const key = fc
  .tuple(
    fc.constantFrom('a', 'b'),
    fc.constantFrom('', 'x', 'y', '\uff5e', '\u{1f600}'),
    fc.integer({ min: 0, max: 5 }),
  )
  .map(([table, name, number]) => `${table}${name}${number}`);
const range = fc
  .record({
    from: fc.constantFrom('a', 'ax', 'ax2', 'a\uff5e', 'b', ''),
    to: fc.constantFrom('ax3', 'ay', 'b', 'ax', 'b9', '\u{10ffff}'),
    reverse: fc.boolean(),
    limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  })
  .filter(({ from, to }) => from < to);
const step = fc.oneof(
  fc.record({ put: key, value: fc.option(fc.integer({ min: 0, max: 9 })) }),
  fc.record({ get: key }),
  fc.record({ scan: range }),
);

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** The rows of one conversation, and what is kept of them. */
class Store {
  readonly rows = new SortedRows();
  readonly kept: KeptReads;
  looks = 0;

  constructor(isNew = false) {
    this.kept = new KeptReads({ isNew });
  }

  put(at: string, value: RowValue | null): void {
    if (value === null) this.rows.delete(at);
    else this.rows.set(at, value);
    this.kept.put(at, value);
  }

  get(at: string): RowValue | undefined {
    return this.kept.value(at, () => {
      this.looks += 1;
      return this.rows.get(at);
    });
  }

  scan(asked: RowRange) {
    return this.kept.rows(asked, (wider) => {
      this.looks += 1;
      return rowsOf(this.rows, wider);
    });
  }
}

/** What a step answers, and what the rows say themselves. */
function answersOf(store: Store, each: Step): readonly [answered: unknown, there: unknown] {
  if ('get' in each) return [store.get(each.get), store.rows.get(each.get)];
  if ('scan' in each) return [store.scan(each.scan), rowsOf(store.rows, each.scan)];
  store.put(each.put, each.value === null ? null : [each.value]);
  return [undefined, undefined];
}

test('what is kept is what a look into the rows would find, whatever is put', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, isNew) => {
      const store = new Store(isNew);
      for (const each of steps) {
        const [answered, there] = answersOf(store, each);
        expect(answered).toEqual(there);
      }
    }),
    { numRuns: 400 },
  );
});

test('the newest row of a table that grows is looked for once', () => {
  const store = new Store();
  for (let at = 1; at <= 9; at++) {
    store.put(`t${at}`, [at]);
    expect(store.scan({ from: 't', to: `t${at}~`, reverse: true, limit: 1 })).toEqual([{ key: `t${at}`, value: [at] }]);
  }
  expect(store.looks).toBe(1);
});

test('of a conversation that is new, a key that was never put is not looked for', () => {
  const store = new Store(true);
  const ids = Array.from({ length: 200 }, (_, at) => `msg_${at * 7_919}`);
  for (const id of ids) {
    expect(store.get(id)).toBeUndefined();
    store.put(id, [1]);
  }
  expect(store.looks, 'but for keys that fall on the same bit').toBeLessThan(5);
  for (const id of ids) expect(store.get(id)).toEqual([1]);
});

test('of one that was there before, every key is looked for', () => {
  const store = new Store();
  store.rows.set('msg_1', [1]);
  expect([store.get('msg_1'), store.get('msg_2'), store.looks]).toEqual([[1], undefined, 2]);
});
