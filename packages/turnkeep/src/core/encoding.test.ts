import { expect, test } from 'vitest';
import { canonical, decode, encode, sameJson } from './encoding.ts';

test('the encoding is one line of well-formed text that comes back as it was, key order included', () => {
  const value = JSON.parse('{"z":"\\u2028 \\u2029\\n","a":["\\ud800",{"__proto__":1}],"1":0.1}') as {
    readonly z: string;
  };
  const text = encode(value);
  expect(text).not.toMatch(/[\n\r\u2028\u2029]/);
  expect(text.isWellFormed()).toBe(true);
  expect(encode(decode(text))).toBe(text);
  expect(JSON.stringify(decode(text))).toBe(JSON.stringify(value));
  expect(text).toBe('{"1":0.1,"z":"\\u2028 \\u2029\\n","a":["\\ud800",{"__proto__":1}]}');
});

test('sameness is deep equality, whatever the order of keys', () => {
  expect(sameJson({ a: 1, b: { c: [1, 2], d: null } }, { b: { d: null, c: [1, 2] }, a: 1 })).toBe(true);
  expect(sameJson([1, 2], [2, 1])).toBe(false);
  expect(sameJson({ a: 1 }, { a: 1, b: null })).toBe(false);
  expect(sameJson({ a: 1 }, { a: 1, b: undefined })).toBe(true);
  expect(sameJson({ a: '1' }, { a: 1 })).toBe(false);
  expect(sameJson(undefined, undefined)).toBe(true);
  expect(sameJson('\ud800', '\ud801')).toBe(false);
  expect(sameJson({ 'a":1,"b': 1 }, { a: 1, b: 1 })).toBe(false);
});

test('equal values have equal text', () => {
  expect(canonical({ b: 1, a: [{ d: 1, c: 2 }] })).toBe('{"a":[{"c":2,"d":1}],"b":1}');
});

test('keys stand in the order of their units, be they few or many', () => {
  const keys = ['b', 'aa', '', '\u{1f600}', '\uffff', '10', '9', 'Z', 'a', '\u0000', 'ä', 'é'];
  for (const count of [2, 5, 12, 40]) {
    const given = Array.from({ length: count }, (_, at) => `${keys[at % keys.length]}${at >= keys.length ? at : ''}`);
    const object = Object.fromEntries(given.map((key) => [key, 0]));
    const expected = [...given].sort().map((key) => `${JSON.stringify(key)}:0`);
    expect(canonical(object)).toBe(`{${expected.join()}}`);
  }
});
