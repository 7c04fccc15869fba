import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { abortedBy, onAbort } from './abort.ts';

test('many who listen to one signal are one listener to it, and each is told once', () => {
  const caller = new AbortController();
  const told: number[] = [];
  const ends = Array.from({ length: 100 }, (_, at) => onAbort(caller.signal, () => told.push(at)));
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1);
  for (const end of ends.slice(2)) end();
  onAbort(caller.signal, () => told.push(100));
  caller.abort();
  caller.abort();
  ends[0]?.();
  expect(told).toEqual([0, 1, 100]);
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
  expect(onAbort(undefined, () => told.push(0))()).toBeUndefined();
});

test('a caller who gives up for a reason without words is told that it did', () => {
  expect(abortedBy(AbortSignal.abort('too late')).details).toEqual({ reason: 'too late' });
  expect(abortedBy(AbortSignal.abort(Object.create(null))).details).toEqual({ reason: 'the caller gave up' });
});
