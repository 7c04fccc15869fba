import { TurnkeepError } from '../core/errors.ts';
import { utf8Length } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { assertFits, text } from './given.ts';

/** Throws unless a query is a text of at most `LIMITS.queryBytes`. */
export function assertQuery(query: unknown, path: string): asserts query is string {
  assertFits(query, text, path);
  const actual = utf8Length(query as string); // as was just checked
  if (actual <= LIMITS.queryBytes) return;
  throw new TurnkeepError('limit_exceeded', { limit: 'queryBytes', max: LIMITS.queryBytes, actual, path });
}
