import { onAbort, reasonOf } from '../../core/abort.ts';
import type { Envelope } from '../../core/backend.ts';
import { TurnkeepError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Receipt } from '../../core/receipt.ts';
import type { Remembered } from './group-runner.ts';
import { KnownIds } from './known-ids.ts';
import { KnownParents } from './known-parents.ts';
import { Lane } from '../driver/lane.ts';
import type { LaneOptions } from '../driver/lane.ts';
import { RecentConversations } from './recent-conversations.ts';
import type { Store } from '../store.ts';
import { WaitingCommit } from './waiting-commit.ts';

/** Commits that wait, a lane for each namespace. */
export class CommitQueue {
  readonly #store: Store;
  readonly #options: LaneOptions;
  readonly #remembered: Remembered = {
    ids: new KnownIds(),
    winding: new KnownIds(),
    parents: new KnownParents(),
    recent: new RecentConversations(),
  };
  readonly #lanes = new Map<string, Lane>();
  #count = 0;
  #drained: (() => void) | undefined;

  constructor(store: Store, options: LaneOptions) {
    this.#store = store;
    this.#options = options;
  }

  async commit(envelope: Envelope, signal: AbortSignal | undefined): Promise<Receipt> {
    if (this.#count >= LIMITS.queuedCommits) throw new TurnkeepError('overloaded', { queued: this.#count });
    const job = new WaitingCommit(envelope);
    job.lookAlso(this.#remembered.parents.above(envelope.commit));
    const lane = this.#lane(envelope.commit.namespace);
    const forget = onAbort(signal, () => lane.withdraw(job, reasonOf(signal)));
    this.#count += 1;
    lane.push(job);
    try {
      return await job.answer;
    } finally {
      forget();
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
    const known = this.#lanes.get(namespace);
    if (known) return known;
    const ended = (): void => {
      if (this.#lanes.get(namespace) === lane) this.#lanes.delete(namespace);
    };
    const lane = new Lane({
      store: this.#store,
      options: this.#options,
      remembered: this.#remembered,
      namespace,
      ended,
    });
    this.#lanes.set(namespace, lane);
    return lane;
  }
}
