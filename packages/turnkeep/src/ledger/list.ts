import { TurnkeepError } from '../core/errors.ts';

/** Throws `invalid_value` unless `value` is an array: the changes that are made of it are checked by their commit. */
export function assertList(value: unknown, path: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw new TurnkeepError('invalid_value', { path, reason: 'a list is asked for' });
}
