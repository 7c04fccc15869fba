import { abortedBy } from '../core/abort.ts';
import type { Envelope } from '../core/backend.ts';
import { TurnkeepError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Receipt } from '../core/receipt.ts';
import { othersTurn } from '../platform/timers.ts';

/** What became of a commit: its receipt, or why there is none. */
export type Answer = Receipt | Error;

/** Writes one group of commits and answers each, in order. It does not throw. */
export type WriteGroup = (group: readonly Envelope[]) => Promise<readonly Answer[]>;

interface Waiting {
  readonly envelope: Envelope;
  readonly settle: (answer: Answer) => void;
  readonly signal: AbortSignal | undefined;
}

const GROUP_COMMITS = 128;
const GROUP_LENGTH = 4_000_000;

/** Commits that wait for the writer, in groups of those that came first; between two groups, work that needs it alone. */
export class CommitQueue {
  readonly #writeGroup: WriteGroup;
  #waiting: Waiting[] = [];
  #exclusive: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;

  constructor(writeGroup: WriteGroup) {
    this.#writeGroup = writeGroup;
  }

  push(envelope: Envelope, signal: AbortSignal | undefined): Promise<Receipt> {
    if (this.#waiting.length >= LIMITS.queuedCommits) {
      throw new TurnkeepError('overloaded', { queued: this.#waiting.length });
    }
    return new Promise((resolve, reject) => {
      const settle = (answer: Answer) => (answer instanceof Error ? reject(answer) : resolve(answer));
      this.#waiting.push({ envelope, settle, signal });
      this.#start();
    });
  }

  /** `busy` while commits wait for the group that is being written. */
  get load(): 'idle' | 'busy' {
    return this.#waiting.length > 0 ? 'busy' : 'idle';
  }

  /** Runs `work` while no group is written. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#exclusive.push(() => work().then(resolve, reject));
      this.#start();
    });
  }

  /** Resolves when all that was pushed is answered. */
  async drained(): Promise<void> {
    while (this.#running) await this.#running;
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#waiting.length + this.#exclusive.length > 0) this.#start();
    });
  }

  async #run(): Promise<void> {
    // What is pushed in this step of the event loop belongs to the first group.
    await Promise.resolve();
    while (this.#waiting.length + this.#exclusive.length > 0) {
      await this.#exclusive.shift()?.();
      await this.#step(this.#take());
    }
  }

  async #step(group: readonly Waiting[]): Promise<void> {
    if (group.length === 0) return;
    const answers = await this.#writeGroup(group.map(({ envelope }) => envelope));
    for (const [at, { settle }] of group.entries()) settle(answers[at] ?? new Error('a commit was not answered'));
    // Those who were answered may have a next commit at hand: it belongs to the next group. One alone waits for nobody.
    if (group.length === 1 && this.#waiting.length === 0) return;
    await othersTurn();
    if (this.#waiting.length > 0) await othersTurn();
  }

  /** The next group. What was given up before it is written is answered at once. */
  #take(): readonly Waiting[] {
    const group: Waiting[] = [];
    let taken = 0;
    let length = 0;
    for (const waiting of this.#waiting) {
      if (group.length >= GROUP_COMMITS || length > GROUP_LENGTH) break;
      taken += 1;
      if (waiting.signal?.aborted === true) {
        waiting.settle(abortedBy(waiting.signal));
        continue;
      }
      group.push(waiting);
      length += waiting.envelope.length;
    }
    this.#waiting = this.#waiting.slice(taken);
    return group;
  }
}
