import { expect, test } from 'vitest';
import { checksum, minus, plus } from './checksum.ts';

test('does not mind the order of members, nor members without a value', () => {
  expect(checksum({ a: 1, b: { c: 2, d: 3 } })).toBe(checksum({ b: { d: 3, c: 2, e: undefined }, a: 1 }));
});

test('tells apart what looks alike', () => {
  const values = [
    [''],
    [],
    [[]],
    ['', ''],
    [null],
    [false],
    [true],
    [0],
    ['0'],
    [1],
    [2 ** 32],
    [2 ** 32 + 1],
    [2 ** 53 - 1],
    [-1],
    [0.5],
    ['a', 'b'],
    ['ab'],
    [['a'], 'b'],
    [{}],
    [{ a: 1, b: 2 }],
    [{ a: 2, b: 1 }],
    [{ a: { b: 1 } }],
    ['a', 1],
    ['\ud800'],
    ['\udc00'],
  ];
  expect(new Set(values.map((value) => checksum(...value))).size).toBe(values.length);
});

test('is a whole number below 2^52, another one for each of many rows, and half of its bits change with one', () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => checksum(`m10${at.toString(36)}`, [`msg_${at}`, at, 0, 0]));
  expect(new Set(rows).size).toBe(rows.length);
  expect(rows.every((sum) => Number.isSafeInteger(sum) && sum >= 0 && sum < 2 ** 52)).toBe(true);
  const changed = rows.slice(1).reduce((bits, sum, at) => bits + bitsIn(sum, rows[at] ?? 0), 0) / (rows.length - 1);
  expect(Math.abs(changed - 26)).toBeLessThan(0.1);
});

function bitsIn(left: number, right: number): number {
  return (BigInt(left) ^ BigInt(right)).toString(2).replaceAll('0', '').length;
}

test('adds up in whatever order, and what is taken off is gone', () => {
  const values = [2 ** 52 - 1, 0, 1, 2 ** 51, 2 ** 51 + 3, checksum('a'), checksum('b')];
  const sum = values.reduce(plus, 0);
  expect(values.toReversed().reduce(plus, 0)).toBe(sum);
  expect(values.reduce(minus, sum)).toBe(0);
  expect(minus(0, 1)).toBe(2 ** 52 - 1);
});
