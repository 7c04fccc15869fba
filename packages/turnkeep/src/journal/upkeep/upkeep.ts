/** Work that rewrites segments: one after the other. */
export class Upkeep {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
