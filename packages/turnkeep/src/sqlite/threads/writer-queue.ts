import { TurnkeepError } from '../../core/errors.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { othersTurn, pause, sleep } from '../../platform/timers.ts';
import type { Answer, GroupWriter } from './group-writer.ts';
import { failed } from './writer-messages.ts';
import type { CommitJob, Outcome } from './writer-messages.ts';

const GROUP_COMMITS = 128;
const GROUP_LENGTH = 4_000_000;
const YIELD_MS = 0.3;
/** Short waits for a lock that block the thread, before it looks at its messages again. */
const SPINS = 4;

interface Waiting extends CommitJob {
  readonly since: number;
}

/** Work that needs the writer for itself, between groups. */
interface Exclusive {
  readonly job: number;
  readonly since: number;
  /** Runs within a transaction that has begun, and ends it. */
  readonly work: (job: number) => Outcome;
}

export interface QueueOptions {
  readonly writer: GroupWriter;
  readonly busyTimeoutMs: number;
  readonly answer: (outcomes: readonly Outcome[]) => void;
}

/**
 * Commits that wait for the writer thread. As long as there are some it takes the lock, makes a group of those that came
 * first, and answers; then it looks at its messages and, where other processes write too, leaves them a moment.
 */
export class WriterQueue {
  readonly #options: QueueOptions;
  #waiting: Waiting[] = [];
  #exclusive: Exclusive[] = [];
  #running: Promise<void> | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  push(jobs: readonly CommitJob[]): void {
    const since = monotonicNow();
    for (const { job, envelope } of jobs) this.#waiting.push({ job, envelope, since });
    this.#start();
  }

  pushExclusive(job: number, work: (job: number) => Outcome): void {
    this.#exclusive.push({ job, since: monotonicNow(), work });
    this.#start();
  }

  /** Withdraws a commit that no group has taken. */
  abort(job: number): void {
    const at = this.#waiting.findIndex((waiting) => waiting.job === job);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    this.#options.answer([failed(job, new TurnkeepError('aborted', { reason: 'withdrawn before it was written' }))]);
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
    while (this.#waiting.length + this.#exclusive.length > 0) {
      if (await this.#lock()) this.#step();
      await othersTurn();
    }
  }

  #step(): void {
    const { writer } = this.#options;
    const exclusive = this.#exclusive.shift();
    if (exclusive) {
      this.#options.answer([this.#runExclusive(exclusive)]);
    } else if (this.#waiting.length > 0) {
      this.#writeGroup();
    } else {
      writer.cancel();
    }
    if (writer.othersWrote) sleep(YIELD_MS);
  }

  #writeGroup(): void {
    const group = this.#takeGroup();
    const answers = this.#options.writer.write(group.map(({ envelope }) => envelope));
    this.#options.answer(answers.map((answer, at) => toOutcome((group[at] as Waiting).job, answer)));
  }

  #runExclusive({ job, work }: Exclusive): Outcome {
    try {
      return work(job);
    } catch (error) {
      return failed(job, error);
    }
  }

  #takeGroup(): readonly Waiting[] {
    let length = 0;
    let count = 0;
    for (const { envelope } of this.#waiting) {
      if (count > 0 && (count >= GROUP_COMMITS || length > GROUP_LENGTH)) break;
      length += envelope.length;
      count += 1;
    }
    const group = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return group;
  }

  /** Takes the lock; `false` when nobody waits for it any more. What is past its deadline is answered meanwhile. */
  async #lock(): Promise<boolean> {
    for (let spin = 1; this.#waiting.length + this.#exclusive.length > 0; spin++) {
      try {
        if (this.#options.writer.begin()) return true;
      } catch (error) {
        this.#refuseAll(error);
        return false;
      }
      this.#refuseLate();
      if (spin % SPINS === 0) await pause(1);
      else sleep(YIELD_MS);
    }
    return false;
  }

  #refuseLate(): void {
    const now = monotonicNow();
    const isLate = ({ since }: { readonly since: number }) => now - since >= this.#options.busyTimeoutMs;
    const late = [...this.#waiting.filter(isLate), ...this.#exclusive.filter(isLate)];
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => !isLate(waiting));
    this.#exclusive = this.#exclusive.filter((waiting) => !isLate(waiting));
    this.#options.answer(
      late.map(({ job, since }) => failed(job, new TurnkeepError('store_busy', { waitedMs: Math.round(now - since) }))),
    );
  }

  #refuseAll(error: unknown): void {
    const jobs = [...this.#waiting, ...this.#exclusive];
    this.#waiting = [];
    this.#exclusive = [];
    this.#options.answer(jobs.map(({ job }) => failed(job, error)));
  }
}

function toOutcome(job: number, answer: Answer): Outcome {
  return answer instanceof Error
    ? failed(job, answer)
    : { job, receipt: JSON.stringify(answer), replayed: answer.replayed };
}
