import { TurnkeepError } from './errors.ts';

/** Parses our JSON from a database row; `corrupt` if it is no longer JSON, since databases do not check bytes. */
export function parseStored(text: string, table: string, key: string | number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = `table ${table}, ${key}`;
    throw new TurnkeepError('corrupt', { place, reason: 'what stands there is not JSON' }, { cause: error });
  }
}
