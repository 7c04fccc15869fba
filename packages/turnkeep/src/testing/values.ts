import { LIMITS } from '../core/limits.ts';
import type { Json } from '../core/json.ts';

/** A value that comes out as it went in; of text, so that this file can show what an editor cannot. */
function parsed(text: string): Json {
  return JSON.parse(text) as Json;
}

/** `depth` arrays around each other. */
export function nested(depth: number): Json {
  let value: Json = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}

/** What a JSON value can hold that a store likes to lose; each comes out equal, its keys in their order. */
export const KEPT: readonly (readonly [what: string, value: Json])[] = [
  ['NUL in text, and in a key', parsed('{"a\\u0000b":"c\\u0000d","e":"\\u0000"}')],
  ['text that reads like an escape', '\\u0000 \\\\u2028 \\ud800'],
  ['control characters', '\u0001\u0007\b\t\n\v\f\r\u001b\u007f\u0085'],
  ['line separators', 'a\u2028b\u2029c'],
  ['a lone high surrogate', 'x\ud83d'],
  ['a lone low surrogate', '\udd25y'],
  ['surrogates the wrong way round', '\udd25\ud83d'],
  ['lone surrogates in a key', parsed('{"\\ud83d":1,"\\ud83e":2}')],
  ['astral characters', '🔥 👨‍👩‍👧 𝔘 \u{10ffff}'],
  ['a byte order mark', '\ufeffx\ufeff'],
  ['composed and decomposed letters, apart', ['é', 'e\u0301', 'Å', 'A\u030a']],
  [
    'keys that every object has',
    parsed('{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":"x","hasOwnProperty":null}'),
  ],
  ['nothing but __proto__', parsed('{"__proto__":{"__proto__":null}}')],
  ['keys in their own order', parsed('{"z":1,"a":2,"bb":3,"ab":4,"Z":5,"":6}')],
  ['keys that differ in one byte', parsed('{"key":1,"Key":2,"key ":3,"kéy":4,"ke\\u0301y":5}')],
  [
    'numbers at the edge',
    [
      0,
      1,
      -1,
      0.1,
      1e-7,
      1e21,
      5e-324,
      1.7976931348623157e308,
      9007199254740991,
      -9007199254740991,
      2 ** 53,
      0.1 + 0.2,
    ],
  ],
  ['empty things', ['', [], {}, null, false, 0]],
  [
    'what looks like a codec’s own mark',
    parsed('{"lc":2,"type":"undefined","$ref":"#","content":"x","base64":"AA=="}'),
  ],
  [
    'text that other languages would parse',
    [
      "'; DROP TABLE messages; --",
      '%s %d ${x} {{y}}',
      '<script>&amp;</script>',
      '2026-01-01T00:00:00Z',
      'NaN',
      '1e400',
    ],
  ],
  ['nesting at its limit', nested(LIMITS.jsonDepth - 7)],
  ['a long text', 'añ🔥'.repeat(20_000)],
];

/** What is not JSON, and where in it the fault lies. */
export const REFUSED: readonly (readonly [what: string, value: () => unknown, fault: string])[] = [
  ['NaN', () => ({ a: { b: Number.NaN } }), '.a.b'],
  ['infinity', () => [1, Number.POSITIVE_INFINITY], '[1]'],
  ['a bigint', () => ({ a: [0, 10n] }), '.a[1]'],
  ['a date', () => ({ at: new Date(0) }), '.at'],
  ['a map', () => ({ m: new Map() }), '.m'],
  ['a set', () => [new Set()], '[0]'],
  ['bytes', () => ({ bytes: new Uint8Array(2) }), '.bytes'],
  ['an error', () => ({ e: new Error('x') }), '.e'],
  ['a pattern', () => ({ r: /x/ }), '.r'],
  ['an instance of a class', () => ({ c: new URLSearchParams() }), '.c'],
  ['a function', () => ({ f: () => 1 }), '.f'],
  ['a symbol', () => ({ s: Symbol('x') }), '.s'],
  ['undefined in an array', () => ({ list: [1, undefined] }), '.list[1]'],
  // oxlint-disable-next-line no-sparse-arrays
  ['a hole in an array', () => ({ list: [1, , 3] }), '.list[1]'],
  ['a key that is no plain name, on the way', () => ({ 'a b': [{ '': Number.NaN }] }), '["a b"][0][""]'],
];
