import { sameJson } from '../core/encoding.ts';
import { setOwn } from '../core/json.ts';
import type { Json, JsonObject } from '../core/json.ts';

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields without those that are absent. */
export function present<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

/**
 * What to lay over `said` so that it equals `native`, key order aside: only what `said` lacks or says otherwise.
 * `undefined` where `said` says something that `native` does not.
 */
export function patchOf(said: JsonObject, native: JsonObject): JsonObject | undefined {
  if (Object.keys(said).some((key) => said[key] !== undefined && !Object.hasOwn(native, key))) return undefined;
  const patch: Record<string, Json> = {};
  for (const [key, value] of Object.entries(native)) {
    const there = ownValue(said, key);
    if (value === undefined || (there !== undefined && sameJson(there, value))) continue;
    const inner = isObject(there) && isObject(value) ? patchOf(there, value) : value;
    if (inner === undefined) return undefined;
    setOwn(patch, key, inner);
  }
  return patch;
}

/** `said` with a patch of {@link patchOf} laid over it. */
export function laidOver(said: JsonObject, patch: JsonObject): JsonObject {
  const native: Record<string, Json> = {};
  for (const [key, value] of Object.entries(said)) if (value !== undefined) setOwn(native, key, value);
  for (const [key, value] of Object.entries(patch)) {
    const there = ownValue(said, key);
    if (value !== undefined) setOwn(native, key, isObject(there) && isObject(value) ? laidOver(there, value) : value);
  }
  return native;
}

function ownValue(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
