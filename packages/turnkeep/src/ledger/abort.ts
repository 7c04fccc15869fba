import { TurnkeepError } from '../core/errors.ts';

/** Throws `aborted` where the caller gave up. */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new TurnkeepError('aborted', { reason: String(signal.reason) });
}
