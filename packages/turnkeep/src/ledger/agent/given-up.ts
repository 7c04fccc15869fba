import { messageOf } from './message-of.ts';
import type { EarlyEnd } from './unfinished.ts';

/** How a turn ends whose caller gave it up: a deadline that has passed is a failure, anything else is its caller's will. */
export function givenUp({ reason }: AbortSignal): {
  readonly to: EarlyEnd['to'];
  readonly code: string;
  readonly message: string;
} {
  const message = messageOf(reason);
  return isTimeout(reason)
    ? { to: 'failed', code: 'deadline', message }
    : { to: 'cancelled', code: 'cancelled', message };
}

/** True for the reason of `AbortSignal.timeout`. */
export function isTimeout(reason: unknown): reason is Error {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
