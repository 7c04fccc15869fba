import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { asJson } from './json.ts';
import { parseJson } from './parse-json.ts';
import type { Json } from './json.ts';
import { LIMITS } from './limits.ts';

function refusal(value: unknown): unknown {
  try {
    return parseJson(value, 'v');
  } catch (error) {
    const { code, details, cause } = error as {
      readonly code: string;
      readonly details: object;
      readonly cause: unknown;
    };
    return { code, cause, ...details };
  }
}

describe('a value is JSON', () => {
  test('and comes back as an own copy: key order, own __proto__ keys and all text kept', () => {
    const text = '{"z":[1,null,true,"\\u0000\\ud800"],"__proto__":{"a":1},"1":{"":0}}';
    const value = JSON.parse(text) as { z: unknown[] };
    const copy = parseJson(value, 'v');
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
    value.z.push(2);
    expect(JSON.stringify(copy)).not.toBe(JSON.stringify(value));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  test('a property that holds undefined is absent, and minus zero is zero', () => {
    expect(parseJson({ a: undefined, b: 1 }, 'v')).toStrictEqual({ b: 1 });
    expect(Object.is(parseJson(-0, 'v'), 0)).toBe(true);
    expect(parseJson(Object.assign(Object.create(null) as object, { a: 1 }), 'v')).toEqual({ a: 1 });
  });

  test('of whatever realm', () => {
    const foreign: unknown = runInNewContext('({ a: [1, { b: [] }] })');
    expect(parseJson(foreign, 'v')).toEqual({ a: [1, { b: [] }] });
    expect(refusal(runInNewContext('({ a: [new Map()] })'))).toMatchObject({ path: 'v.a[0]' });
  });

  test('or it is refused where reading it throws, with the path and with what was thrown', () => {
    const thrown = new RangeError('not today');
    const getter = (name: string) =>
      Object.defineProperty({ a: 1 }, name, {
        enumerable: true,
        get() {
          throw thrown;
        },
      });
    const trap = (name: 'get' | 'ownKeys' | 'getPrototypeOf') =>
      new Proxy(
        { a: 1 },
        {
          [name]() {
            throw thrown;
          },
        },
      );
    const cases: readonly (readonly [value: unknown, path: string])[] = [
      [{ x: [1, getter('b c')] }, 'v.x[1]["b c"]'],
      [[trap('get')], 'v[0].a'],
      [{ x: trap('ownKeys') }, 'v.x'],
      [trap('getPrototypeOf'), 'v'],
    ];
    for (const [value, path] of cases) {
      expect(refusal(value)).toMatchObject({ code: 'invalid_value', path, cause: thrown });
    }
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(refusal({ x: revoked.proxy })).toMatchObject({ code: 'invalid_value', path: 'v.x' });
  });

  test('or it is refused, with the path of the part that is not', () => {
    const cases: readonly (readonly [value: unknown, path: string])[] = [
      [undefined, 'v'],
      [{ a: { b: Number.NaN } }, 'v.a.b'],
      [[1, [Number.POSITIVE_INFINITY]], 'v[1][0]'],
      [{ 'a b': 1n }, 'v["a b"]'],
      [{ a: new Date(0) }, 'v.a'],
      [[new Map()], 'v[0]'],
      [{ a: () => 0 }, 'v.a'],
      [{ a: Symbol('s') }, 'v.a'],
      [[undefined], 'v[0]'],
      [Array(2), 'v[0]'],
      [{ [Symbol('s')]: 1 }, 'v'],
      [new Proxy(new Set(), {}), 'v'],
      [{ a: ['x'].map(String), b: /b/.exec('abc') }, 'v.b.index'],
      [Object.assign([1], { 'a b': undefined }), 'v["a b"]'],
      [Object.assign([1], { [Symbol('s')]: 1 }), 'v'],
      [[new (class List extends Array {})()], 'v[0]'],
      [new Proxy(Object.assign([1], { x: 1 }), {}), 'v.x'],
    ];
    for (const [value, path] of cases) expect(refusal(value)).toMatchObject({ code: 'invalid_value', path });
  });

  test('within its depth; a value that contains itself is deeper than any', () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
    expect(parseJson(nested(LIMITS.jsonDepth), 'v')).toBeDefined();
    expect(refusal(nested(LIMITS.jsonDepth + 1))).toMatchObject({ code: 'limit_exceeded', limit: 'jsonDepth' });
    const loop: { self?: unknown } = {};
    loop.self = { loop };
    expect(refusal(loop)).toMatchObject({ code: 'limit_exceeded', limit: 'jsonDepth' });
  });
});

test('a value of an interface is JSON by its own word; what is none is refused by the compiler', () => {
  interface State {
    readonly step: number;
    readonly notes: readonly { readonly text: string; readonly by?: string | undefined }[];
  }
  const state: State = { step: 1, notes: [{ text: 'a', by: undefined }] };
  const json: Json = asJson(state);
  expect(parseJson(json, 'v')).toEqual({ step: 1, notes: [{ text: 'a' }] });
  // @ts-expect-error -- a date is no JSON
  expect(refusal(asJson({ at: new Date(0) }))).toMatchObject({ code: 'invalid_value', path: 'v.at' });
});
