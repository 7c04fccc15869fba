import { TurnkeepError, isTurnkeepError } from '../core/errors.ts';
import { errorCode } from './files/file-system.ts';

/** A failure of the file system in the store's words. What is ours already stays as it is. */
export function storeError(error: unknown, place: string): TurnkeepError {
  if (isTurnkeepError(error)) return error;
  const code = errorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new TurnkeepError('store_full', { place }, { cause: error });
  const reason = error instanceof Error ? error.message : String(error);
  return new TurnkeepError('store_unavailable', { place, reason }, { cause: error });
}

/** The index has a damaged place. It is derived: it is built anew from the segments and the reading begins again. */
export class IndexDamage extends Error {
  readonly place: string;
  readonly reason: string;

  constructor(place: string, reason: string) {
    super(`${place}: ${reason}`);
    this.name = 'IndexDamage';
    this.place = place;
    this.reason = reason;
  }
}
