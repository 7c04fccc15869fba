import { messageOf } from './message-of.ts';
import type { EarlyEnd } from './unfinished.ts';

/** How a turn ends that its caller gave up: failed if a deadline has passed, otherwise cancelled. */
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
