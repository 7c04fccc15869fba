import { TurnkeepError } from '../core/errors.ts';
import { idProblem, utf8Length } from '../core/ids.ts';
import { memberPath } from '../core/json.ts';
import { LIMITS } from '../core/limits.ts';
import { objectProblem, parseJson, unreadable } from '../core/parse-json.ts';

/** What is wrong with a value; `undefined` if it fits. */
export type Check = (value: unknown) => string | undefined;

/** A check for every option of a call. */
export type Checks<Options> = { readonly [Name in keyof Options]-?: Check };

/** For a value that is checked where it is used, with its own error. */
export const anything: Check = () => undefined;
export const anObject: Check = (value) =>
  typeof value === 'object' && value !== null ? undefined : 'expected an object';
export const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'expected true or false');
export const text: Check = (value) => (typeof value === 'string' ? undefined : 'expected a text');
export const list: Check = (value) => (Array.isArray(value) ? undefined : 'expected a list');
export const callback: Check = (value) => (typeof value === 'function' ? undefined : 'expected a function');
export const idOrNull: Check = (value) => (value === null ? undefined : idProblem(value));
export const count: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'expected a whole number from 0 on';
export const duration: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= LIMITS.ttlMs
    ? undefined
    : `expected whole milliseconds from 1 to ${LIMITS.ttlMs}`;
export const abortSignal: Check = (value) => (value instanceof AbortSignal ? undefined : 'expected an AbortSignal');

export function oneOf(...known: readonly string[]): Check {
  return (value) => (known.includes(value as string) ? undefined : `one of ${known.join(', ')}`);
}

function noOption(path: string, name: string): TurnkeepError<'invalid_value'> {
  return new TurnkeepError('invalid_value', { path: memberPath(path, name), reason: 'no option is called so' });
}

/**
 * Throws `invalid_value` for an option that does not fit its check, or that is unknown: a misspelt one would be silently
 * ignored.
 */
export function assertChecked<Options>(options: unknown, checks: Checks<Options>, path: string = 'options'): void {
  assertMembers(membersOf(options, path), checks, path);
}

/** As {@link assertChecked}, for the own members of what may also be an instance of a class. */
export function assertMembers<Options>(given: object, checks: Checks<Options>, path: string): void {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(checks, name)) throw noOption(path, name);
    const reason = value === undefined ? undefined : checks[name as keyof Options](value);
    if (reason !== undefined) throw new TurnkeepError('invalid_value', { path: memberPath(path, name), reason });
  }
}

/**
 * A copy of the fields that a caller gives, overridden by those that the call itself sets (`kind` above all). Throws
 * `invalid_value` for anything but a plain object: a list, a date or a promise would count as one without fields.
 */
export function withFields<Given extends object, const Said extends object>(
  given: Given,
  path: string,
  said: Said,
): Omit<Given, keyof Said> & Said {
  return { ...(membersOf(given, path) as Given), ...said };
}

/** As {@link withFields}, but a deep copy: for calls that await something before they send it. */
export function ownFields<Given extends object>(given: Given, path: string): Given {
  assertObject(given, path);
  return parseJson(given, path) as unknown as Given;
}

/** The members of a plain object, each read once; throws `invalid_value` for anything else, and if reading one throws. */
function membersOf(value: unknown, path: string): { readonly [name: string]: unknown } {
  assertObject(value, path);
  let at = path;
  try {
    const members: [name: string, value: unknown][] = [];
    for (const name of Reflect.ownKeys(value)) {
      if (typeof name === 'symbol') throw noOption(path, name.toString());
      at = memberPath(path, name);
      members.push([name, (value as { readonly [name: string]: unknown })[name]]);
    }
    return Object.fromEntries(members);
  } catch (error) {
    throw error instanceof TurnkeepError ? error : unreadable(at, error);
  }
}

/** Throws `invalid_value` with what a check finds wrong. */
export function assertFits(value: unknown, check: Check, path: string): void {
  const reason = check(value);
  if (reason !== undefined) throw new TurnkeepError('invalid_value', { path, reason });
}

/** Throws `invalid_value` if a caller without types passes anything but a plain object. */
export function assertObject(value: unknown, path: string): asserts value is object {
  let reason: string | undefined;
  try {
    reason = objectProblem(value);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (reason !== undefined) throw new TurnkeepError('invalid_value', { path, reason });
}

/** A copy of a list, or `invalid_value`. The commit checks the changes that are made of its items. */
export function ownList<Item>(value: readonly Item[], path: string): readonly Item[] {
  try {
    if (Array.isArray(value)) return Array.from(value as readonly Item[]);
  } catch (error) {
    throw unreadable(path, error);
  }
  throw new TurnkeepError('invalid_value', { path, reason: 'expected a list' });
}

/** As {@link ownList}, but a deep copy: for calls that await something before they send it. */
export function deepList<Item>(value: readonly Item[], path: string): readonly Item[] {
  return parseJson(ownList(value, path), path) as unknown as readonly Item[];
}

/** Throws unless a query is a text of at most `LIMITS.queryBytes`. */
export function assertQuery(query: unknown, path: string): asserts query is string {
  assertFits(query, text, path);
  const actual = utf8Length(query as string); // as was just checked
  if (actual <= LIMITS.queryBytes) return;
  throw new TurnkeepError('limit_exceeded', { limit: 'queryBytes', max: LIMITS.queryBytes, actual, path });
}

/** Throws unless `limit` is a whole number from 1 to `LIMITS.pageRows`. */
export function assertPageLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1)
    throw new TurnkeepError('invalid_value', { path: 'limit', reason: 'a whole number from 1 on' });
  if (limit <= LIMITS.pageRows) return;
  throw new TurnkeepError('limit_exceeded', { limit: 'pageRows', max: LIMITS.pageRows, actual: limit, path: 'limit' });
}
