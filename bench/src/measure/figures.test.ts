import { expect, test } from 'vitest';
import { median, medianRatio, quantile } from './figures.ts';

test('a quantile is a value that was measured, whatever their order', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(quantile([4, 3, 2, 1], 0.99)).toBe(4);
  expect(quantile([], 0.5)).toBeNaN();
});

test('what was measured side by side is compared side by side', () => {
  // The second round met a slow moment: both sides did, so the ratio stands.
  expect(medianRatio([2, 20, 2], [1, 10, 1])).toBe(2);
  expect(medianRatio([2, 4], [1])).toBeNaN();
});
