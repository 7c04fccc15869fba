/**
 * Decides whether the owner of a turn lives by what is seen of it, on the watcher's own clock that never goes back: a sign
 * that changes is a life, one that was seen unchanged for the whole time to live is none. No two clocks are compared.
 */
export class BeatWatch {
  readonly #ttlMs: number;
  #first: { readonly sign: string; readonly at: number } | undefined;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  /** Takes a look at `now`, in milliseconds of the watcher's clock. */
  see(sign: string, now: number): 'watching' | 'lives' | 'lapsed' {
    this.#first ??= { sign, at: now };
    if (sign !== this.#first.sign) return 'lives';
    return now - this.#first.at >= this.#ttlMs ? 'lapsed' : 'watching';
  }
}
