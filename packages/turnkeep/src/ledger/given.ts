import { TurnkeepError } from '../core/errors.ts';
import { memberPath } from '../core/json.ts';

/** Throws `invalid_value` for an option that is none: a misspelt one would be a promise that nobody keeps. */
export function assertOptions(options: unknown, known: ReadonlySet<string>): void {
  assertObject(options, 'options');
  const unknown = Object.keys(options).find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new TurnkeepError('invalid_value', { path: memberPath('options', unknown), reason: 'no option is called so' });
}

/** Throws `invalid_value` where a caller without types gives something else than an object. */
export function assertObject(value: unknown, path: string): asserts value is object {
  if (typeof value === 'object' && value !== null) return;
  throw new TurnkeepError('invalid_value', { path, reason: 'an object is asked for' });
}
