import type { Json, JsonObject } from '../core/json.ts';

/** Deep equality whatever the order of keys, without making text of either value: two names of one text cost nothing. */
export function equalJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) return equalLists(left, right);
  return equalObjects(left as JsonObject, right as JsonObject);
}

function equalLists(left: Json, right: Json): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item: Json, at) => equalJson(item, right[at] as Json));
}

function equalObjects(left: JsonObject, right: JsonObject): boolean {
  const keys = (value: JsonObject) => Object.keys(value).filter((key) => value[key] !== undefined);
  const names = keys(left);
  return (
    names.length === keys(right).length &&
    names.every((key) => Object.hasOwn(right, key) && equalJson(left[key], right[key]))
  );
}
