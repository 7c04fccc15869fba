import { expect, test } from 'vitest';
import { compare, confirmed, renewed } from './baseline.ts';
import type { MeasuredBar } from './findings.ts';

const bar = (name: string, ratio: number, limit: MeasuredBar['limit']): MeasuredBar => ({
  name,
  says: name,
  ratio,
  limit,
  workload: 'one',
  holds: true,
});
const baseline = { cost: { ratio: 2, tolerance: 1.5 }, rate: { ratio: 6, tolerance: 1.5 } };

test('a cost may rise and a rate may fall by the tolerance, and not further', () => {
  const verdicts = (cost: number, rate: number) =>
    compare(baseline, [[bar('cost', cost, { atMost: 9 }), bar('rate', rate, { better: 'higher' })]]).map(
      ({ passes }) => passes,
    );
  expect(verdicts(3, 4)).toEqual([true, true]);
  expect(verdicts(3.1, 3.9)).toEqual([false, false]);
  expect(verdicts(0.1, 60)).toEqual([true, true]);
});

test('the median of the runs counts: one noisy run is no regression', () => {
  const runs = [9, 2, 2].map((ratio) => [bar('cost', ratio, { atMost: 9 })]);
  expect(compare({ cost: baseline.cost }, runs)).toMatchObject([{ ratio: 2, worse: 1, passes: true }]);
});

test('what was worse passes where a second measurement finds it as it was, and only there', () => {
  const found = (cost: number, rate: number) =>
    compare(baseline, [[bar('cost', cost, { atMost: 9 }), bar('rate', rate, { better: 'higher' })]]);
  const passing = (first: readonly [number, number], second: readonly [number, number]) =>
    confirmed(found(...first), found(...second)).map(({ passes }) => passes);
  expect(passing([90, 6], [2, 6])).toEqual([true, true]);
  expect(passing([90, 6], [4, 6])).toEqual([false, true]);
  expect(passing([2, 6], [90, 1])).toEqual([true, true]);
  expect(confirmed(found(90, 6), []).map(({ passes }) => passes)).toEqual([false, true]);
});

test('what is not measured any more does not pass', () => {
  expect(compare({ cost: baseline.cost }, [[]])).toMatchObject([{ worse: Infinity, passes: false }]);
  expect(compare({ cost: baseline.cost }, [[bar('cost', Number.NaN, { atMost: 9 })]])).toMatchObject([
    { passes: false },
  ]);
});

test('a renewed baseline keeps its tolerances', () => {
  expect(renewed({ cost: baseline.cost }, [[bar('cost', 1.23456, { atMost: 9 })]])).toEqual({
    cost: { ratio: 1.23, tolerance: 1.5 },
  });
});
