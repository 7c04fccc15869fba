import { TurnkeepError, isTurnkeepError } from '../../core/errors.ts';
import { driverFault } from '../driver/driver-errors.ts';

/** What a driver's error means to a caller of ours, where nothing was written. Other mistakes come back as they are. */
export function storeError(error: unknown, place: string): Error {
  if (isTurnkeepError(error)) return error;
  const { kind, code, message } = driverFault(error);
  const reason = `${message} (${code})`;
  switch (kind) {
    case 'busy':
      return new TurnkeepError('store_busy', { waitedMs: 0 }, { cause: error });
    case 'full':
      return new TurnkeepError('store_full', { place }, { cause: error });
    case 'corrupt':
      return new TurnkeepError('corrupt', { place, reason }, { cause: error });
    case 'not_a_database':
      return new TurnkeepError('store_foreign', { place, reason }, { cause: error });
    case 'readonly':
    case 'io':
    case 'cant_open':
      return new TurnkeepError('store_unavailable', { place, reason }, { cause: error });
    case 'constraint':
      return new TurnkeepError('corrupt', { place, reason }, { cause: error });
    case 'other':
      break;
  }
  return error instanceof Error ? error : new Error(String(error));
}
