/** What is written is counted by windows of this length. */
export const WINDOW_MS = 100;
/** What goes on for longer is no burst any more: nobody lets it by. */
const BURST_MS = 2_000;

export interface WriteRateOptions {
  /** Never goes back, in milliseconds. */
  readonly now: () => number;
  /** So much in a window makes it part of a burst: what 100 commits a second, each alone, come to. In the unit of `wrote`. */
  readonly burst: number;
}

/** How fast a store is written to: what can wait lets a burst of commits by. */
export class WriteRate {
  readonly #now: () => number;
  readonly #burst: number;
  #window = Number.NEGATIVE_INFINITY;
  #amount = 0;
  #amountBefore = 0;
  #burstFrom: number | undefined;

  constructor({ now, burst }: WriteRateOptions) {
    this.#now = now;
    this.#burst = burst;
  }

  /** So much was written just now: pages, bytes, or whatever is counted. */
  wrote(amount: number): void {
    this.#turn();
    this.#amount += amount;
    if (this.#amount >= this.#burst) this.#burstFrom ??= this.#window;
  }

  /** Nothing was written in this window and the one before. */
  isQuiet(): boolean {
    this.#turn();
    return this.#amount === 0 && this.#amountBefore === 0;
  }

  isBurst(): boolean {
    this.#turn();
    return this.#burstFrom !== undefined && this.#now() - this.#burstFrom < BURST_MS;
  }

  /** Begins a new window where the last one is over. */
  #turn(): void {
    const passed = Math.floor((this.#now() - this.#window) / WINDOW_MS);
    if (passed < 1) return;
    this.#amountBefore = passed === 1 ? this.#amount : 0;
    this.#amount = 0;
    this.#window = passed === 1 ? this.#window + WINDOW_MS : this.#now();
    if (this.#amountBefore < this.#burst) this.#burstFrom = undefined;
  }
}
