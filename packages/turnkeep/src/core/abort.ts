import { TurnkeepError } from './errors.ts';

/** The refusal of a call whose caller gave up, with the words of the reason, if it has any. */
export function abortedBy(signal: AbortSignal | undefined): TurnkeepError<'aborted'> {
  return new TurnkeepError('aborted', { reason: reasonOf(signal) });
}

/** Why a caller gave up, in words. A reason is whatever its caller gave: some have none, and must harm nobody who listens. */
export function reasonOf(signal: AbortSignal | undefined): string {
  try {
    return String(signal?.reason);
  } catch {
    return 'the caller gave up';
  }
}
