import { expect, test } from 'vitest';
import { compareKeys } from './backend.ts';
import { afterSeparator, beforeSeparator, KEYS, numberKey, numbersIn, prefixEnd, TABLES } from './keys.ts';

const NUMBERS = [0, 1, 9, 10, 35, 36, 37, 1_295, 1_296, 46_655, 46_656, 2 ** 31, 2 ** 32, 2 ** 53 - 1];

test('numbers in keys sort as numbers do, and are read back', () => {
  const keys = NUMBERS.map(numberKey);
  expect(keys.toSorted(compareKeys)).toEqual(keys);
  expect(NUMBERS.map((number) => numbersIn(`x${numberKey(number)}`, 1)[0])).toEqual(NUMBERS);
  expect(numbersIn(`xy${keys.join('')}`, 2)).toEqual(NUMBERS);
});

test('messages sort by branch, then position, then sequence', () => {
  const places = [
    [0, 0, 1],
    [0, 0, 100],
    [0, 1, 2],
    [0, 40, 3],
    [1, 0, 1],
    [36, 2, 9],
  ] as const;
  const keys = places.map(([branch, position, sequence]) => KEYS.message(branch, position, sequence));
  expect(keys.toSorted(compareKeys)).toEqual(keys);
  expect(keys.map((key) => numbersIn(key, 1))).toEqual(places);
});

test('a range over a prefix holds all keys of the prefix and no others, whatever the ids', () => {
  const ids = ['a', 'ab', 'a\ufffd', 'a\u{10fffd}', 'b'];
  for (const id of ids) {
    const from = KEYS.callsOf(id);
    const inside = ids.filter((other) => {
      const key = KEYS.call(other, 5);
      return compareKeys(key, from) >= 0 && compareKeys(key, prefixEnd(from)) < 0;
    });
    expect(inside).toEqual([id]);
  }
  const messages = KEYS.messagesAt(0, 1);
  expect(compareKeys(KEYS.message(0, 1, 2 ** 53 - 1), prefixEnd(messages))).toBeLessThan(0);
  expect(compareKeys(KEYS.message(0, 2, 0), prefixEnd(messages))).toBeGreaterThan(0);
});

test('a range over a prefix holds ids of the highest code points too', () => {
  const id = '\u{10ffff}\u{10ffff}x';
  for (const [key, prefix] of [
    [KEYS.messageId(id), TABLES.messageIds],
    [KEYS.entry(0, `commitment:${id}`, 1, 1, 0), KEYS.entriesLike(0, 'commitment:')],
    [KEYS.pendingWrite('k', 1, id), KEYS.pendingWritesOf('k', 1)],
    [KEYS.fork(id), ''],
  ] as const) {
    expect(compareKeys(key, prefix)).toBeGreaterThan(0);
    expect(compareKeys(key, prefixEnd(prefix))).toBeLessThan(0);
  }
  expect(compareKeys(KEYS.turnId('a'), prefixEnd(TABLES.messageIds))).toBeGreaterThan(0);
});

test('an id before a number is not read as one, and no two ids share a range', () => {
  expect(KEYS.child('t1', 2).startsWith(KEYS.children('t'))).toBe(false);
  expect(KEYS.checkpoint('k1', 2).startsWith(KEYS.checkpointsOf('k'))).toBe(false);
  expect(KEYS.entry(1, 'task:1', 2, 3, 4).startsWith(KEYS.entriesOf(1, 'task:'))).toBe(false);
  expect(KEYS.entry(1, 'task:1', 2, 3, 4).startsWith(KEYS.entriesLike(1, 'task:'))).toBe(true);
  expect(KEYS.children(null)).not.toBe(KEYS.children('n'));
});

test('the parts of a key are found around its separator', () => {
  const key = KEYS.entry(3, 'commitment:c', 1, 22, 0);
  expect(numbersIn(afterSeparator(key), 0)).toEqual([1, 22, 0]);
  expect(beforeSeparator(key, KEYS.entriesLike(3, '').length)).toBe('commitment:c');
});

test('each table has a letter of its own', () => {
  expect(new Set(Object.values(TABLES)).size).toBe(Object.keys(TABLES).length);
});

test('every key is of a table: rows of none would be left behind by an erasure', () => {
  const letters = new Set<string>(Object.values(TABLES));
  const stray = Object.entries(KEYS).filter(([, key]) => {
    // Whatever a key is made of, its first letter is the same.
    const text = typeof key === 'string' ? key : (key as (...parts: readonly unknown[]) => string)(1, 1, 1, 1, 1);
    return !letters.has(text.charAt(0));
  });
  expect(stray.map(([name]) => name)).toEqual([]);
});

test('keys sort by code point, as their bytes do', () => {
  const keys = ['a', 'aa', 'b', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f525}', '\u{10ffff}'];
  const bytes = keys.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  expect(keys.toReversed().sort(compareKeys)).toEqual(bytes);
  expect(bytes).toEqual(keys);
});
