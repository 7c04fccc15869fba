import { abortedBy, onAbort } from '../core/abort.ts';

/** Throws `aborted` where the caller gave up. */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

/** What somebody else answers, or `aborted` as soon as the caller gives up: their answer is not waited for any more. */
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
