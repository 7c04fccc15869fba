/** What is written is counted by windows of this length. */
export const WINDOW_MS = 100;
/** Pages of a window from which on it belongs to a burst: some 100 commits a second, each alone. */
const BURST_PAGES = 80;
/** What goes on for longer is no burst any more: nobody lets it by. */
const BURST_MS = 2_000;

/** How fast a store is written to: what can wait lets a burst of commits by. */
export class WriteRate {
  readonly #now: () => number;
  #window = Number.NEGATIVE_INFINITY;
  #pages = 0;
  #pagesBefore = 0;
  #burstFrom: number | undefined;

  /** `now` never goes back, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  wrote(pages: number): void {
    this.#turn();
    this.#pages += pages;
    if (this.#pages >= BURST_PAGES) this.#burstFrom ??= this.#window;
  }

  /** Nothing was written in this window and the one before. */
  isQuiet(): boolean {
    this.#turn();
    return this.#pages === 0 && this.#pagesBefore === 0;
  }

  isBurst(): boolean {
    this.#turn();
    return this.#burstFrom !== undefined && this.#now() - this.#burstFrom < BURST_MS;
  }

  /** Begins a new window where the last one is over. */
  #turn(): void {
    const passed = Math.floor((this.#now() - this.#window) / WINDOW_MS);
    if (passed < 1) return;
    this.#pagesBefore = passed === 1 ? this.#pages : 0;
    this.#pages = 0;
    this.#window = passed === 1 ? this.#window + WINDOW_MS : this.#now();
    if (this.#pagesBefore < BURST_PAGES) this.#burstFrom = undefined;
  }
}
