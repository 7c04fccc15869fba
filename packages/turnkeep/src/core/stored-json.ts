import { TurnkeepError } from './errors.ts';

/** JSON of ours out of a database's row; `corrupt` where it is none any more: databases check no bytes. */
export function parseStored(text: string, table: string, key: string | number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = `table ${table}, ${key}`;
    throw new TurnkeepError('corrupt', { place, reason: 'what stands there is not JSON' }, { cause: error });
  }
}
