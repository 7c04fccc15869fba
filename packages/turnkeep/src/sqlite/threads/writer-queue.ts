import { TurnkeepError } from '../../core/errors.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { sleep } from '../../platform/timers.ts';
import type { Answer, GroupWriter } from './group-writer.ts';
import { failed } from './writer-messages.ts';
import type { CommitJob, Outcome } from './writer-messages.ts';

const GROUP_COMMITS = 128;
const GROUP_LENGTH = 4_000_000;
/** Where other processes write too, they are left so long between groups. */
const YIELD_MS = 0.3;

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
 * Commits that wait for the writer thread. Each step takes the lock, makes a group of those that came first, and answers;
 * where other processes write too, it leaves them a moment.
 */
export class WriterQueue {
  readonly #options: QueueOptions;
  #waiting: Waiting[] = [];
  #exclusive: Exclusive[] = [];
  /** True where the lock was taken before there was something to write. */
  #hasBegun = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.length + this.#exclusive.length === 0;
  }

  push(jobs: readonly CommitJob[]): void {
    const since = monotonicNow();
    for (const { job, envelope } of jobs) this.#waiting.push({ job, envelope, since });
  }

  pushExclusive(job: number, work: (job: number) => Outcome): void {
    this.#exclusive.push({ job, since: monotonicNow(), work });
  }

  /** Withdraws a commit that no group has taken. */
  abort(job: number): void {
    const at = this.#waiting.findIndex((waiting) => waiting.job === job);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    this.#options.answer([failed(job, new TurnkeepError('aborted', { reason: 'withdrawn before it was written' }))]);
  }

  /** Takes the lock for a commit that is about to come, where no other process is likely to want it. */
  beginEarly(): void {
    const { writer } = this.#options;
    if (writer.othersWrote) return;
    try {
      this.#hasBegun = writer.begin();
    } catch {
      // The commit will be told.
    }
  }

  /** Lets go of a lock for which nothing came. */
  giveUp(): void {
    if (this.#hasBegun) this.#options.writer.cancel();
    this.#hasBegun = false;
  }

  /** Writes one group, or does one exclusive work. Answers `false` where another process holds the lock. */
  step(): boolean {
    if (!this.#lock()) return false;
    const { writer } = this.#options;
    const exclusive = this.#exclusive.shift();
    if (exclusive) this.#options.answer([this.#runExclusive(exclusive)]);
    else this.#writeGroup();
    if (writer.othersWrote) sleep(YIELD_MS);
    return true;
  }

  /** Takes the lock; where it cannot be had, what is past its deadline is answered. */
  #lock(): boolean {
    if (this.#hasBegun) {
      this.#hasBegun = false;
      return true;
    }
    try {
      if (this.#options.writer.begin()) return true;
      this.#refuseLate();
    } catch (error) {
      this.#refuseAll(error);
    }
    return false;
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
