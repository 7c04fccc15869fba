import type { Envelope } from '../core/backend.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { ConversationId } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import type { Receipt } from '../core/receipt.ts';
import { afterPoll, pause } from '../platform/timers.ts';
import type { Session } from './driver.ts';
import { endFailed } from './end-session.ts';
import { driverFault } from './driver-errors.ts';
import type { Outcome } from './group.ts';
import { runGroup } from './group-runner.ts';
import type { Remembered } from './group-runner.ts';
import { KnownIds } from './known-ids.ts';
import { RecentConversations } from './recent-conversations.ts';
import type { Store } from './store.ts';
import { WaitingCommit } from './waiting-commit.ts';

const GROUP_COMMITS = 64;
const GROUP_LENGTH = 4_000_000;
/** Groups of one namespace at the same time: while one waits for the disk, the next one is decided. */
const GROUPS = 2;
/** Commits that wait in line for a busy head, each on a connection of its own. */
const LINES = 2;
/** One wait in line; then it is tried again, until the commit's own deadline. */
const LINE_MS = 5_000;
/** How often the server may take a transaction back before its commits are refused. */
const TRIES = 30;
const RETRY_MS = 5;
const RETRY_MAX_MS = 500;

export interface QueueOptions {
  /** How long a commit may take, waiting and trying again included. */
  readonly commitTimeoutMs: number;
  /** Hears that commits of a namespace became durable. */
  readonly wrote: (namespace: string) => void;
}

/**
 * Commits that wait. Those of one namespace share transactions: a group takes those that came first, and of each
 * conversation at most one group is at work. One whose head is held by another process goes on by itself, in line for it.
 */
export class CommitQueue {
  readonly #store: Store;
  readonly #options: QueueOptions;
  readonly #remembered: Remembered = { ids: new KnownIds(), recent: new RecentConversations() };
  readonly #lanes = new Map<string, Lane>();
  #count = 0;
  #drained: (() => void) | undefined;

  constructor(store: Store, options: QueueOptions) {
    this.#store = store;
    this.#options = options;
  }

  async commit(envelope: Envelope, signal: AbortSignal | undefined): Promise<Receipt> {
    if (this.#count >= LIMITS.queuedCommits) throw new TurnkeepError('overloaded', { queued: this.#count });
    const job = new WaitingCommit(envelope);
    const lane = this.#lane(envelope.commit.namespace);
    const abort = (): void => lane.withdraw(job, String(signal?.reason));
    signal?.addEventListener('abort', abort);
    this.#count += 1;
    lane.push(job);
    try {
      return await job.answer;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#count -= 1;
      if (this.#count === 0) this.#drained?.();
    }
  }

  /** Resolves when everything is answered. */
  async drained(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
  }

  #lane(namespace: string): Lane {
    let lane = this.#lanes.get(namespace);
    if (!lane) {
      const ended = (): unknown => this.#lanes.delete(namespace);
      lane = new Lane({ store: this.#store, options: this.#options, remembered: this.#remembered, namespace, ended });
      this.#lanes.set(namespace, lane);
    }
    return lane;
  }
}

interface LaneParts {
  readonly store: Store;
  readonly options: QueueOptions;
  readonly remembered: Remembered;
  readonly namespace: string;
  readonly ended: () => void;
}

/** The commits of one namespace. */
class Lane {
  readonly #parts: LaneParts;
  #waiting: WaitingCommit[] = [];
  /** Conversations that a group is at work on, and what it locks besides. */
  readonly #taken = new Set<ConversationId>();
  #groups = 0;
  #lines = 0;
  /** Commits that rest until they are tried again. */
  #resting = 0;

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  push(job: WaitingCommit): void {
    this.#waiting.push(job);
    this.#start();
  }

  withdraw(job: WaitingCommit, reason: string): void {
    const at = this.#waiting.indexOf(job);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    job.giveUp(new TurnkeepError('aborted', { reason }), this.#parts.store.place);
    this.#endIfIdle();
  }

  #start(): void {
    if (this.#groups < GROUPS && this.#waiting.some((job) => !job.waitsInLine && this.#isFree(job))) {
      this.#groups += 1;
      void this.#work(false).finally(() => {
        this.#groups -= 1;
        this.#goOn();
      });
    }
    if (this.#lines < LINES && this.#waiting.some((job) => job.waitsInLine && this.#isFree(job))) {
      this.#lines += 1;
      void this.#work(true).finally(() => {
        this.#lines -= 1;
        this.#goOn();
      });
    }
  }

  #goOn(): void {
    this.#start();
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#waiting.length + this.#groups + this.#lines + this.#resting === 0) this.#parts.ended();
  }

  /** One group, or one commit in line. */
  async #work(inLine: boolean): Promise<void> {
    // Whoever was answered a moment ago may send the next commit at once: it comes along.
    await new Promise<void>((resolve) => {
      afterPoll(resolve);
    });
    let session: Session | undefined;
    try {
      session = await this.#parts.store.driver.connect();
    } catch (error) {
      const jobs = this.#take(inLine);
      this.#release(jobs);
      this.#retry(jobs, error);
      return;
    }
    const jobs = this.#take(inLine);
    if (jobs.length === 0) return session.release();
    await this.#run(session, jobs, inLine);
  }

  async #run(session: Session, jobs: readonly WaitingCommit[], inLine: boolean): Promise<void> {
    const { store, options, remembered, namespace } = this.#parts;
    try {
      const waitMs = inLine ? Math.min(LINE_MS, this.#leftMs(jobs)) : undefined;
      const outcomes = await runGroup(store, session, remembered, { namespace, jobs, waitMs });
      session.release();
      this.#release(jobs);
      options.wrote(namespace);
      for (const [job, outcome] of outcomes) this.#settle(job, outcome);
    } catch (error) {
      await endFailed(session, error);
      this.#release(jobs);
      this.#retry(jobs, error);
    }
  }

  #settle(job: WaitingCommit, outcome: Outcome): void {
    switch (outcome.kind) {
      case 'done':
        return job.succeed(outcome.receipt);
      case 'failed':
        return job.refuse(outcome.error);
      case 'busy':
        job.waitsInLine = true;
        break;
      case 'needs':
        job.waitsInLine = true;
        for (const id of outcome.conversations) job.alsoLock.add(id);
        break;
    }
    return this.#again(job, new TurnkeepError('store_busy', { waitedMs: Math.round(job.waitedMs) }));
  }

  /** A transaction failed as a whole: what may pass the next time is tried again, what may be one commit's fault alone. */
  #retry(jobs: readonly WaitingCommit[], error: unknown): void {
    const { kind } = driverFault(error);
    const passes = kind === 'lost' || kind === 'unreachable' || kind === 'again' || kind === 'slow';
    for (const job of jobs) {
      if (job.isSettled) continue;
      const tryAlone = !passes && jobs.length > 1 && !job.isAlone;
      job.tries += 1;
      if (tryAlone) job.isAlone = true;
      if (!passes && !tryAlone) job.giveUp(error, this.#parts.store.place);
      else if (kind === 'again' && job.tries >= TRIES) job.giveUp(error, this.#parts.store.place);
      else this.#again(job, error);
    }
  }

  #again(job: WaitingCommit, error: unknown): void {
    if (this.#leftMs([job]) <= 0) return job.giveUp(error, this.#parts.store.place);
    if (job.tries === 0) return this.push(job);
    this.#resting += 1;
    const restMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(job.tries, 10), this.#leftMs([job]));
    void pause(restMs * (0.5 + (job.tries % 5) / 10)).then(() => {
      this.#resting -= 1;
      this.push(job);
    });
    return undefined;
  }

  #take(inLine: boolean): readonly WaitingCommit[] {
    const taken: WaitingCommit[] = [];
    let length = 0;
    const passed = new Set<ConversationId>();
    for (const job of this.#waiting) {
      const [first] = taken;
      const fits = !first || (taken.length < GROUP_COMMITS && length < GROUP_LENGTH && !job.isAlone);
      // In line stands one conversation, with all its commits.
      const belongs = inLine && first ? job.conversation === first.conversation : job.waitsInLine === inLine;
      // A commit does not overtake an earlier one of its conversation.
      if (!fits || !belongs || !this.#isFree(job) || passed.has(job.conversation)) {
        passed.add(job.conversation);
        continue;
      }
      taken.push(job);
      length += job.envelope.length;
      if (job.isAlone) break;
    }
    const set = new Set(taken);
    this.#waiting = this.#waiting.filter((job) => !set.has(job));
    for (const id of taken.flatMap(({ locks }) => locks)) this.#taken.add(id);
    return taken;
  }

  #isFree(job: WaitingCommit): boolean {
    return !job.locks.some((id) => this.#taken.has(id));
  }

  #release(jobs: readonly WaitingCommit[]): void {
    for (const id of jobs.flatMap(({ locks }) => locks)) this.#taken.delete(id);
  }

  #leftMs(jobs: readonly WaitingCommit[]): number {
    return this.#parts.options.commitTimeoutMs - Math.max(...jobs.map((job) => job.waitedMs));
  }
}
