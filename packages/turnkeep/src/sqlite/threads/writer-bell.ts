const RUNG = 0;
const EXPECTED = 1;
const WORDS = 2;

/**
 * Wakes the writer thread, which blocks while it has nothing to do: memory that it shares with its client. A thread that waits
 * for events wakes later by a tenth of what a commit takes, and could not be told of one that is only being made ready.
 */
export class WriterBell {
  /** What crosses to the thread. */
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /** How often it rang; it may start again from below zero. */
  get rung(): number {
    return Atomics.load(this.#words, RUNG);
  }

  /** How many commits were announced. */
  get expected(): number {
    return Atomics.load(this.#words, EXPECTED);
  }

  /** A message was sent. */
  ring(): void {
    Atomics.add(this.#words, RUNG, 1);
    Atomics.notify(this.#words, RUNG);
  }

  /** A commit is being made ready, for a writer that has nothing else to do. */
  announce(): void {
    Atomics.add(this.#words, EXPECTED, 1);
    this.ring();
  }

  /** Blocks until it rings, or for so many milliseconds; not at all where it rang since it had rung so often. */
  wait(rung: number, durationMs?: number): void {
    Atomics.wait(this.#words, RUNG, rung, durationMs);
  }
}
