import { TurnkeepError } from '../core/errors.ts';

/** Throws `invalid_value` where a caller without types gives something else than an object. */
export function assertObject(value: unknown, path: string): asserts value is object {
  if (typeof value === 'object' && value !== null) return;
  throw new TurnkeepError('invalid_value', { path, reason: 'an object is asked for' });
}
