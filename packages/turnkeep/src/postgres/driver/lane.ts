import { TurnkeepError } from '../../core/errors.ts';
import { othersTurn, pause } from '../../platform/timers.ts';
import type { Session } from './driver.ts';
import { driverFault } from './driver-errors.ts';
import { endFailed } from './end-session.ts';
import type { Outcome } from '../commit/group.ts';
import { runGroup } from '../commit/group-runner.ts';
import type { Remembered } from '../commit/group-runner.ts';
import { OpenCommits } from '../commit/open-commits.ts';
import type { Store } from '../store.ts';
import type { WaitingCommit } from '../commit/waiting-commit.ts';

/** Groups of one namespace at the same time: one waits for the disk, one is written, and the next one is decided. */
const GROUPS = 3;
/** Conversations that are waited for in line, each on a connection of its own. */
const LINES = 2;
/** One wait in line; then it is tried again, until the commit's own deadline. */
const LINE_MS = 5_000;
/** How often the server may take a commit's transaction back before it is refused: the last times it is alone in it. */
const TRIES = 30;
const RETRY_MS = 5;
const RETRY_MAX_MS = 500;

export interface LaneOptions {
  /** How long a commit may take, waiting and trying again included. */
  readonly commitTimeoutMs: number;
  /** Hears that commits of a namespace became durable. */
  readonly wrote: (namespace: string) => void;
}

interface LaneParts {
  readonly store: Store;
  readonly options: LaneOptions;
  readonly remembered: Remembered;
  readonly namespace: string;
  readonly ended: () => void;
}

/**
 * The commits of one namespace. They share transactions: a group takes those that came first, and of each conversation at
 * most one group is at work. Where another process holds a head, its conversation's commits go on by themselves, in line.
 */
export class Lane {
  readonly #parts: LaneParts;
  readonly #open = new OpenCommits();
  #groups = 0;
  #lines = 0;

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  push(job: WaitingCommit): void {
    // Whoever takes what is ahead of it looks for it afterwards.
    if (this.#open.add(job) && this.#groups < GROUPS) this.#startGroup();
  }

  withdraw(job: WaitingCommit, reason: string): void {
    if (job.isSettled || job.state === 'at_work') return;
    this.#giveUp(job, new TurnkeepError('aborted', { reason }));
    this.#open.remove(job);
    this.#goOn();
  }

  #startGroup(): void {
    this.#groups += 1;
    void this.#work(false).finally(() => {
      this.#groups -= 1;
      this.#goOn();
    });
  }

  #startLine(): void {
    this.#lines += 1;
    void this.#work(true).finally(() => {
      this.#lines -= 1;
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#groups < GROUPS && this.#open.has(false)) this.#startGroup();
    if (this.#lines < LINES && this.#open.has(true)) this.#startLine();
    if (this.#open.isEmpty && this.#groups + this.#lines === 0) this.#parts.ended();
  }

  /** One group, or one conversation in line. */
  async #work(inLine: boolean): Promise<void> {
    // Whoever was answered a moment ago may send the next commit at once: it comes along.
    await othersTurn();
    let session: Session | undefined;
    try {
      session = await this.#parts.store.driver.connect();
    } catch (error) {
      const jobs = this.#open.take(inLine);
      this.#retry(jobs, error);
      this.#open.release(jobs);
      return;
    }
    const jobs = this.#open.take(inLine);
    if (jobs.length === 0) return session.release();
    await this.#run(session, jobs, inLine);
    this.#open.release(jobs);
  }

  async #run(session: Session, jobs: readonly WaitingCommit[], inLine: boolean): Promise<void> {
    const { store, options, remembered, namespace } = this.#parts;
    try {
      const waitMs = inLine ? Math.min(LINE_MS, this.#leftMs(jobs)) : undefined;
      const outcomes = await runGroup(store, session, remembered, { namespace, jobs, waitMs });
      session.release();
      options.wrote(namespace);
      for (const [job, outcome] of outcomes) this.#settle(job, outcome);
    } catch (error) {
      await endFailed(session, error);
      this.#retry(jobs, error);
    }
  }

  #settle(job: WaitingCommit, outcome: Outcome): void {
    switch (outcome.kind) {
      case 'done':
        return job.succeed(outcome.receipt);
      case 'failed':
        return job.refuse(outcome.error);
      case 'behind':
        return undefined;
      case 'busy':
        // In line, and still nothing to wait for: another process is about to make the conversation.
        if (job.waitsInLine) this.#rest([job], RETRY_MS);
        break;
      case 'needs':
        if (outcome.to === 'write') job.lockAlso(outcome.conversations);
        else job.lookAlso(outcome.conversations);
        break;
    }
    this.#open.putInLine(job);
    if (this.#leftMs([job]) > 0) return undefined;
    return this.#giveUp(job, new TurnkeepError('store_busy', { waitedMs: Math.round(job.waitedMs) }));
  }

  /**
   * A transaction failed as a whole. What may pass the next time is tried again, in groups of half the size: if one of
   * them makes it fail, that one is alone in the end. What is a commit's own fault is tried by each alone at once.
   */
  #retry(jobs: readonly WaitingCommit[], error: unknown): void {
    const { kind } = driverFault(error);
    const passes = kind === 'lost' || kind === 'unreachable' || kind === 'again' || kind === 'slow';
    const rest: WaitingCommit[] = [];
    for (const job of jobs) {
      if (job.isSettled) continue;
      job.tries += 1;
      const isOver =
        (!passes && jobs.length === 1) || (kind === 'again' && job.tries >= TRIES) || this.#leftMs([job]) <= 0;
      if (isOver) this.#giveUp(job, error);
      else rest.push(job);
      if (kind !== 'unreachable') job.groupLimit = passes ? Math.ceil(jobs.length / 2) : 1;
    }
    if (rest.length > 0) this.#rest(rest, restMs(Math.max(...rest.map(({ tries }) => tries))));
  }

  /** They wait again after a while, all at once. */
  #rest(jobs: readonly WaitingCommit[], durationMs: number): void {
    for (const job of jobs) job.state = 'rests';
    void pause(Math.min(durationMs, Math.max(0, this.#leftMs(jobs)))).then(() => {
      for (const job of jobs) job.state = 'waits';
      this.#goOn();
    });
  }

  #giveUp(job: WaitingCommit, error: unknown): void {
    job.giveUp(error, this.#parts.store.place);
  }

  #leftMs(jobs: readonly WaitingCommit[]): number {
    return this.#parts.options.commitTimeoutMs - Math.max(...jobs.map((job) => job.waitedMs));
  }
}

/** Longer each time, and not the same for everyone. */
function restMs(tries: number): number {
  return Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(tries, 10)) * (0.5 + (tries % 5) / 10);
}
