import { TurnkeepError } from './errors.ts';

/** The refusal of a call whose caller gave up, with the words of the reason, if it has any. */
export function abortedBy(signal: AbortSignal | undefined): TurnkeepError<'aborted'> {
  return new TurnkeepError('aborted', { reason: reasonOf(signal) });
}

/** Why a caller gave up, in words. A reason is whatever the caller gave; one that cannot be put into words must not break the listeners. */
export function reasonOf(signal: AbortSignal | undefined): string {
  try {
    return String(signal?.reason);
  } catch {
    return 'the caller gave up';
  }
}

/** Throws `aborted` if the caller gave up. */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

const LISTENERS = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` once when the caller gives up, unless the returned function is called first. Calls that share a signal
 * share one listener on it: beyond ten, Node.js would warn of a leak.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => undefined;
  const listeners = LISTENERS.get(signal) ?? listenersOf(signal);
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function listenersOf(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
    listeners.clear();
  };
  signal.addEventListener('abort', tell, { once: true });
  LISTENERS.set(signal, listeners);
  return listeners;
}

/** Waits for an answer, or throws `aborted` as soon as the caller gives up. */
export async function orAborted<Answer>(answer: Promise<Answer>, signal: AbortSignal | undefined): Promise<Answer> {
  if (!signal) return answer;
  let forget = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const giveUp = () => reject(abortedBy(signal));
    if (signal.aborted) giveUp();
    else forget = onAbort(signal, giveUp);
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    forget();
  }
}
