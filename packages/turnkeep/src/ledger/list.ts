import { TurnkeepError } from '../core/errors.ts';
import { parseJson, unreadable } from '../core/parse-json.ts';

/** An own copy of a list, or `invalid_value`: the changes that are made of its items are checked by their commit. */
export function ownList<Item>(value: readonly Item[], path: string): readonly Item[] {
  try {
    if (Array.isArray(value)) return Array.from(value as readonly Item[]);
  } catch (error) {
    throw unreadable(path, error);
  }
  throw new TurnkeepError('invalid_value', { path, reason: 'expected a list' });
}

/** As {@link ownList}, copied through and through: for what is awaited for before it is sent. */
export function deepList<Item>(value: readonly Item[], path: string): readonly Item[] {
  return parseJson(ownList(value, path), path) as unknown as readonly Item[];
}
