import type { Envelope } from '../core/backend.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { ConversationId } from '../core/ids.ts';
import type { Receipt } from '../core/receipt.ts';
import { monotonicNow } from '../platform/clock.ts';
import type { Job } from './group.ts';
import { storeError } from './driver-errors.ts';
import { conversationsOf } from './read-plan.ts';

/** A commit from its call to its answer, over as many tries as it takes. */
export class WaitingCommit implements Job {
  readonly envelope: Envelope;
  readonly alsoLock: Set<ConversationId> = new Set<ConversationId>();
  readonly answer: Promise<Receipt>;
  readonly #since = monotonicNow();
  readonly #settlers: { readonly resolve: (receipt: Receipt) => void; readonly reject: (error: Error) => void };
  /** The conversations that it will lock, as far as it says so itself. */
  readonly locks: readonly ConversationId[];
  /** True once somebody else held a head that it needs: it then waits in line for it, alone. */
  waitsInLine = false;
  /** True once it failed together with others: it is then tried alone. */
  isAlone = false;
  /** True once a write was sent whose outcome was never heard. */
  #maybeWritten = false;
  tries = 0;
  #settled = false;

  constructor(envelope: Envelope) {
    this.envelope = envelope;
    this.locks = conversationsOf(envelope.commit);
    let settlers;
    this.answer = new Promise<Receipt>((resolve, reject) => {
      settlers = { resolve, reject };
    });
    this.#settlers = settlers as never; // the executor ran
  }

  get conversation(): ConversationId {
    return this.envelope.commit.conversationId;
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  get waitedMs(): number {
    return monotonicNow() - this.#since;
  }

  succeed(receipt: Receipt): void {
    this.#settled = true;
    this.#settlers.resolve(receipt);
  }

  /** It was decided, or failed for certain: nothing of it was written. */
  refuse(error: Error): void {
    this.#settled = true;
    this.#settlers.reject(error);
  }

  /** Its write was sent and the connection lost: until it is sent again and answered, nobody knows. */
  noteUnknown(): void {
    this.#maybeWritten = true;
  }

  /** Nothing more is tried. */
  giveUp(cause: unknown, place: string): void {
    const error = storeError(cause, place, this.waitedMs);
    if (!this.#maybeWritten) return this.refuse(error);
    const { commitId } = this.envelope.commit;
    return this.refuse(new TurnkeepError('outcome_unknown', { commitId, reason: error.message }, { cause }));
  }
}
