import { onAbort } from '../core/abort.ts';

/** Runs `work` once the events that are at hand have been handled, and what they set off. */
export function afterPoll(work: () => void): void {
  setImmediate(work);
}

/** Resolves once the others have had their turn: see {@link afterPoll}. */
export function othersTurn(): Promise<void> {
  return new Promise((resolve) => {
    afterPoll(resolve);
  });
}

/** Resolves after so many milliseconds, or once the signal is aborted. */
export function pause(durationMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(end, durationMs);
    const forget = onAbort(signal, end);
  });
}

/** Runs `work` again and again, this long apart, until the answer is called. */
export function repeat(intervalMs: number, work: () => void): () => void {
  const timer = setInterval(work, intervalMs);
  return () => clearInterval(timer);
}

/** Runs `work` once, this much later, unless the answer is called before. It keeps no process alive. */
export function after(durationMs: number, work: () => void): () => void {
  const timer = setTimeout(work, durationMs);
  timer.unref();
  return () => clearTimeout(timer);
}

/** Blocks this thread. */
export function sleep(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}
