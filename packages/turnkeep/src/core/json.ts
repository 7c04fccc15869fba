import { TurnkeepError } from './errors.ts';
import { LIMITS } from './limits.ts';

/** A JSON value. A property that holds `undefined` is absent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

export type JsonObject = { readonly [key: string]: Json | undefined };

/**
 * What `T` has to extend to be JSON, for values whose type is an interface: that has no index signature, and so is no
 * {@link Json} for the compiler. Functions, symbols, big integers and class instances with methods do not.
 */
export type JsonLike<T> = null | boolean | number | string | { readonly [Key in keyof T]: JsonPart<T[Key]> };

type JsonPart<T> = T extends Json | undefined
  ? T
  : T extends ((...args: never[]) => unknown) | symbol | bigint
    ? never
    : { readonly [Key in keyof T]: Key extends string | number ? JsonPart<T[Key]> : never };

/**
 * `value` itself, which the compiler then takes wherever JSON is asked for: for values whose type is an interface. What is
 * committed is checked then, not here.
 */
export function asJson<T extends JsonLike<T>>(value: T): Json {
  return value;
}

/**
 * An own copy of `value` as plain JSON, or `invalid_value` with the path of the part that is not JSON.
 * Key order and own `__proto__` keys are kept, `-0` becomes `0`, a property that holds `undefined` is left out.
 * Refused: `NaN`, infinities, `BigInt`, functions, symbols, class instances, holes, `undefined` and names in arrays,
 * cycles, and nesting deeper than `LIMITS.jsonDepth`.
 */
export function parseJson(value: unknown, path: string): Json {
  return copy(value, path, 0);
}

function copy(value: unknown, path: string, depth: number): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return finite(value, path);
  if (typeof value !== 'object') throw notJson(path, `${typeof value} is not a JSON value`);
  if (depth >= LIMITS.jsonDepth) {
    // A cycle ends here too: a value that contains itself is deeper than any limit.
    throw new TurnkeepError('limit_exceeded', { limit: 'jsonDepth', max: LIMITS.jsonDepth, path: shorten(path) });
  }
  return Array.isArray(value) ? copyArray(value, path, depth) : copyObject(value, path, depth);
}

function finite(value: number, path: string): number {
  if (!Number.isFinite(value)) throw notJson(path, `${value} is not a JSON number`);
  return value === 0 ? 0 : value;
}

function copyArray(value: readonly unknown[], path: string, depth: number): Json {
  if (depthOfPrototypes(value) > 2) throw notInstance(value, path);
  const out: Json[] = [];
  for (let at = 0; at < value.length; at++) out.push(copy(value[at], `${path}[${at}]`, depth + 1));
  // Without holes its names, as the match of a pattern has them, come behind its places.
  const named = Object.keys(value)[value.length];
  if (named !== undefined) throw notJson(memberPath(path, named), 'a list has no members with names');
  assertNoSymbols(value, path);
  return out;
}

function copyObject(value: object, path: string, depth: number): Json {
  if (depthOfPrototypes(value) > 1) throw notInstance(value, path);
  assertNoSymbols(value, path);
  const out: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[key];
    if (part !== undefined) setOwn(out, key, copy(part, memberPath(path, key), depth + 1));
  }
  return out;
}

/** Sets an own property also where the key is `__proto__`, which an assignment would lose. */
export function setOwn(target: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** `path.key`, or `path["key"]` where the key is not a plain name. */
export function memberPath(path: string, key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** How many prototypes a value has, up to three: an object has one, or none, and a list two, in whatever realm. */
function depthOfPrototypes(value: object): number {
  let depth = 0;
  for (let next: unknown = Object.getPrototypeOf(value); next !== null && depth < 3; depth++) {
    if (next === Object.prototype) return depth + 1;
    next = Object.getPrototypeOf(next);
  }
  return depth;
}

function assertNoSymbols(value: object, path: string): void {
  if (Object.getOwnPropertySymbols(value).length > 0) throw notJson(path, 'symbol keys are not JSON');
}

function notInstance(value: object, path: string): TurnkeepError<'invalid_value'> {
  return notJson(path, `an instance of ${className(value)} is not a JSON value`);
}

function className(value: object): string {
  const named: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof named === 'string' && named !== '' ? named : 'a class';
}

function shorten(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 200).toWellFormed()}…`;
}

function notJson(path: string, reason: string): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path: shorten(path), reason });
}
