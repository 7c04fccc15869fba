/**
 * Decides from its signs whether the owner of a turn is alive, on the watcher's own monotonic clock: a sign that changes
 * means alive, one that stays unchanged for the whole time to live means not. No two clocks are compared.
 */
export class BeatWatch {
  readonly #ttlMs: number;
  #first: { readonly sign: string; readonly at: number } | undefined;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  /** Looks at a sign at `now`, in milliseconds of the watcher's clock. */
  see(sign: string, now: number): 'watching' | 'lives' | 'lapsed' {
    this.#first ??= { sign, at: now };
    if (sign !== this.#first.sign) return 'lives';
    return now - this.#first.at >= this.#ttlMs ? 'lapsed' : 'watching';
  }
}
