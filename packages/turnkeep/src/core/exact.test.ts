import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isExact, parseExact, textAt } from './exact.ts';

test('numbers that come back equal are exact, whatever their spelling', () => {
  for (const text of [
    '0',
    '-0',
    '19.90',
    '1e2',
    '100',
    '5e-324',
    '9007199254740992',
    '1E+3',
    '0.1',
    '-12.5e-3',
    '1000000000000000000000',
  ]) {
    expect([text, isExact(text)]).toEqual([text, true]);
  }
});

test('numbers that do not are found with their paths', () => {
  const text =
    '{"id":"1","snowflake":2512292042121000001,"a":[0,{"max":9007199254740993}],"huge":1e400,"dec":0.10000000000000000555,"price":19.90,"s":"9007199254740993"}';
  expect(parseExact(text).inexact).toEqual([
    { path: ['snowflake'], text: '2512292042121000001' },
    { path: ['a', 1, 'max'], text: '9007199254740993' },
    { path: ['huge'], text: '1e400' },
    { path: ['dec'], text: '0.10000000000000000555' },
  ]);
});

test('what JavaScript writes, it reads exactly', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const exact = parseExact(JSON.stringify(value, null, 1));
      expect(exact.inexact).toEqual([]);
      expect(exact.hasRepeatedKeys).toBe(false);
    }),
  );
});

test('a number is exact just if its decimal value is', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (value) => {
      expect(isExact(String(value))).toBe(isSameDecimal(value));
    }),
  );
});

// Past 2^53 a double prints the shortest digits that find it again: those are what comes back.
function isSameDecimal(value: bigint): boolean {
  const [digits = '', exponent = '0'] = String(Number(value)).split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, Number(exponent) - fraction.length)) === value;
}

test('a key that stands twice is told', () => {
  expect(parseExact('{"a":1,"b":{"a":2,"a":3}}').hasRepeatedKeys).toBe(true);
  expect(parseExact('{"__proto__":1,"b":{"__proto__":2}}').hasRepeatedKeys).toBe(false);
});

test('the text of a value is found at its path', () => {
  const text = '{"a" : [ {"b":"x\\"{,"} , 12345678901234567890 ], "c": {"d": null} }';
  expect(textAt(text, ['a', 0, 'b'])).toBe('"x\\"{,"');
  expect(textAt(text, ['a', 1])).toBe('12345678901234567890');
  expect(textAt(text, ['a', 0])).toBe('{"b":"x\\"{,"}');
  expect(textAt(text, ['c'])).toBe('{"d": null}');
  expect(textAt(text, ['c', 'd'])).toBe('null');
  expect(textAt(text, ['e'])).toBeUndefined();
});

test('depth is counted without recursion', () => {
  expect(parseExact('[[{"a":[]}]]').depth).toBe(4);
  expect(parseExact(`${'['.repeat(50_000)}${']'.repeat(50_000)}`).depth).toBe(50_000);
});
