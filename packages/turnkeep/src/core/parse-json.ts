import { TurnkeepError } from './errors.ts';
import { memberPath, setOwn } from './json.ts';
import type { Json } from './json.ts';
import { LIMITS } from './limits.ts';

/**
 * An own copy of `value` as plain JSON, or `invalid_value` with the path of the part that is not JSON.
 * Key order and own `__proto__` keys are kept, `-0` becomes `0`, a property that holds `undefined` is left out.
 * Refused: `NaN`, infinities, `BigInt`, functions, symbols, class instances, holes, `undefined` and names in arrays,
 * cycles, nesting deeper than `LIMITS.jsonDepth`, and what throws when it is read (`cause` is what it threw).
 */
export function parseJson(value: unknown, path: string): Json {
  const at: Place = { root: path, steps: [] };
  try {
    return copy(value, at);
  } catch (error) {
    if (error instanceof TurnkeepError) throw error;
    throw unreadable(pathOf(at), error); // a getter or a proxy of the caller's
  }
}

/** The refusal of a value that cannot be read because its own code threw. */
export function unreadable(path: string, cause: unknown): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path, reason: 'reading it threw an error' }, { cause });
}

/** What is wrong with a value that must be an object of fields; `undefined` if it is one. */
export function objectProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'expected an object';
  if (Array.isArray(value)) return 'expected an object, not a list';
  return depthOfPrototypes(value) > 1 ? `expected an object, not an instance of ${className(value)}` : undefined;
}

/** The place that is being copied; its path is only written out for an error. */
interface Place {
  readonly root: string;
  readonly steps: (string | number)[];
}

function copy(value: unknown, at: Place): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return finite(value, at);
  if (typeof value !== 'object') throw notJson(at, `${typeof value} is not a JSON value`);
  if (at.steps.length >= LIMITS.jsonDepth) {
    // A cycle ends here too: a value that contains itself is deeper than any limit.
    throw new TurnkeepError('limit_exceeded', { limit: 'jsonDepth', max: LIMITS.jsonDepth, path: pathOf(at) });
  }
  return Array.isArray(value) ? copyArray(value, at) : copyObject(value, at);
}

/** `undefined` if that is the part's value. */
function copyPart(whole: object, at: Place, step: string | number): Json | undefined {
  at.steps.push(step);
  const value = (whole as Record<string | number, unknown>)[step];
  const part = value === undefined ? undefined : copy(value, at);
  at.steps.pop();
  return part;
}

function finite(value: number, at: Place): number {
  if (!Number.isFinite(value)) throw notJson(at, `${value} is not a JSON number`);
  return value === 0 ? 0 : value;
}

function copyArray(value: readonly unknown[], at: Place): Json {
  if (depthOfPrototypes(value) > 2) throw notInstance(value, at);
  const out: Json[] = [];
  for (let index = 0; index < value.length; index++) {
    const part = copyPart(value, at, index);
    if (part === undefined) throw notJson(within(at, index), 'undefined is not a JSON value');
    out.push(part);
  }
  // If it has no holes, named members (as the match of a pattern has) come after its indexes.
  const named = Object.keys(value)[value.length];
  if (named !== undefined) throw notJson(within(at, named), 'a list has no members with names');
  assertNoSymbols(value, at);
  return out;
}

function copyObject(value: object, at: Place): Json {
  if (depthOfPrototypes(value) > 1) throw notInstance(value, at);
  assertNoSymbols(value, at);
  const out: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const part = copyPart(value, at, key);
    if (part !== undefined) setOwn(out, key, part);
  }
  return out;
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

function assertNoSymbols(value: object, at: Place): void {
  if (Object.getOwnPropertySymbols(value).length > 0) throw notJson(at, 'symbol keys are not JSON');
}

function notInstance(value: object, at: Place): TurnkeepError<'invalid_value'> {
  return notJson(at, `an instance of ${className(value)} is not a JSON value`);
}

function className(value: object): string {
  const named: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof named === 'string' && named !== '' ? named : 'a class';
}

function within({ root, steps }: Place, step: string | number): Place {
  return { root, steps: [...steps, step] };
}

function pathOf({ root, steps }: Place): string {
  const path = steps.reduce<string>(
    (above, step) => (typeof step === 'number' ? `${above}[${step}]` : memberPath(above, step)),
    root,
  );
  return path.length <= 200 ? path : `${path.slice(0, 200).toWellFormed()}…`;
}

function notJson(at: Place, reason: string): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path: pathOf(at), reason });
}
