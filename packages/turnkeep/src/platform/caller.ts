import { TurnkeepError } from '../core/errors.ts';

/**
 * An error of ours with the stack of the call that waits for it: made in a thread that writes, or for a group of commits, it
 * knows nothing of the line that called. What is no error of ours keeps its own.
 */
export function calledFrom(error: unknown): unknown {
  if (error instanceof TurnkeepError) Error.captureStackTrace(error, calledFrom);
  return error;
}
