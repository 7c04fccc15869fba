/** Milliseconds since the epoch, by the system's clock. It may go back: nothing orders by it. */
export function systemNow(): number {
  return Date.now();
}

/** Milliseconds of a clock that never goes back, from an arbitrary start. */
export function monotonicNow(): number {
  return performance.now();
}
