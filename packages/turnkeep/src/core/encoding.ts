import type { Json, JsonObject } from './json.ts';

const LINE_SEPARATORS = /[\u2028\u2029]/g;

/**
 * Core's one encoding of a value: JSON in one line, key order kept, lone surrogates and the line separators U+2028 and
 * U+2029 escaped, so that it is well-formed text that no reader splits into lines. Digests are taken over it.
 */
export function encode(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\u2028') && !text.includes('\u2029')) return text;
  return text.replace(LINE_SEPARATORS, (mark) => (mark === '\u2028' ? '\\u2028' : '\\u2029'));
}

/** Reads what {@link encode} wrote. */
export function decode(text: string): Json {
  return JSON.parse(text) as Json;
}

/** The value as text with sorted keys: equal values give equal text. It is compared and fingerprinted, never stored. */
export function canonical(value: Json | undefined): string {
  if (value === undefined) return 'null';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return Array.isArray(value) ? canonicalArray(value as readonly Json[]) : canonicalObject(value as JsonObject);
}

function canonicalArray(items: readonly Json[]): string {
  let text = '[';
  for (const item of items) text += text.length === 1 ? canonical(item) : `,${canonical(item)}`;
  return `${text}]`;
}

function canonicalObject(object: JsonObject): string {
  let text = '{';
  for (const key of sortedKeys(object)) {
    const member = object[key];
    if (member === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${canonical(member)}`;
  }
  return `${text}}`;
}

const FEW_KEYS = 12;

/** In the order of UTF-16 units. A few keys are sorted by hand: `sort` would take as long as everything else. */
function sortedKeys(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] as string;
    let at = next;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}

/** Deep equality, whatever the order of keys. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  return left === right || canonical(left) === canonical(right);
}
