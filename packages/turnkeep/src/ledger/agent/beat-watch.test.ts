import { expect, test } from 'vitest';
import { BeatWatch } from './beat-watch.ts';

test('a sign that was seen unchanged for the whole time to live is that of nobody', () => {
  const watch = new BeatWatch(1_000);
  expect([0, 500, 999, 1_000].map((at) => watch.see('token 1, beat 4', 5_000 + at))).toEqual([
    'watching',
    'watching',
    'watching',
    'lapsed',
  ]);
});

test('one that changes lives, however late it does', () => {
  const watch = new BeatWatch(1_000);
  expect(watch.see('token 1, beat 4', 0)).toBe('watching');
  expect(watch.see('token 1, beat 5', 1)).toBe('lives');
  expect(new BeatWatch(1_000).see('token 2, beat 1', 9_999)).toBe('watching');
});
