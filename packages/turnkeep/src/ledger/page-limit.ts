import { TurnkeepError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

/** Throws unless `limit` is a whole number from 1 to `LIMITS.pageRows`. */
export function assertPageLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1)
    throw new TurnkeepError('invalid_value', { path: 'limit', reason: 'a whole number from 1 on' });
  if (limit <= LIMITS.pageRows) return;
  throw new TurnkeepError('limit_exceeded', { limit: 'pageRows', max: LIMITS.pageRows, actual: limit, path: 'limit' });
}
