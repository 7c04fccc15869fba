/** Something that works at an open ledger until it is told to leave. */
export interface Worker {
  /** Tells it to leave: it begins nothing more. */
  readonly leave: () => void;
  /** Settles once it has left, in whatever way. */
  readonly over: Promise<unknown>;
}

/** Who works at a ledger: a store is closed only after they have left it. */
export class AtWork {
  readonly #workers = new Set<Worker>();
  #isClosing = false;

  /** A worker that comes while the others leave is told to leave at once. */
  add(worker: Worker): void {
    this.#workers.add(worker);
    const gone = () => void this.#workers.delete(worker);
    worker.over.then(gone, gone);
    if (this.#isClosing) worker.leave();
  }

  /** Sends everybody away, and resolves when they have left. */
  async leave(): Promise<void> {
    this.#isClosing = true;
    for (const { leave } of this.#workers) leave();
    while (this.#workers.size > 0) await Promise.allSettled([...this.#workers].map(({ over }) => over));
  }
}
