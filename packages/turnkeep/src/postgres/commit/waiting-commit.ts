import type { Envelope } from '../../core/backend.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { Receipt } from '../../core/receipt.ts';
import { isShelf } from '../../core/shelf.ts';
import { monotonicNow } from '../../platform/clock.ts';
import type { Job } from './group.ts';
import { storeError } from '../driver/driver-errors.ts';
import { conversationsOf, looksOf } from './read-plan.ts';

/** A commit from its call to its answer, over as many tries as it takes. */
export class WaitingCommit implements Job {
  readonly envelope: Envelope;
  readonly answer: Promise<Receipt>;
  readonly #since = monotonicNow();
  readonly #settlers: { readonly resolve: (receipt: Receipt) => void; readonly reject: (error: Error) => void };
  /** The conversations that it names: it is decided after every earlier commit of one of them. Shelves are none. */
  readonly orderedBy: readonly ConversationId[];
  /** A transaction is at work on it, or it rests until it is tried again, or neither. */
  state: 'waits' | 'at_work' | 'rests' = 'waits';
  /** The heads that the transaction at work locks for it alone. */
  held: readonly ConversationId[] = [];
  /** Those that it locks beside others that look at them. */
  lookedAt: readonly ConversationId[] = [];
  /** True once somebody else held a head that it needs: it then waits in line for it, with those of its conversation. */
  waitsInLine = false;
  /** Commits that its transaction may hold, itself among them: fewer after each that failed. */
  groupLimit: number = Number.MAX_SAFE_INTEGER;
  /** Transactions that held it and failed. */
  tries = 0;
  #locks: readonly ConversationId[];
  #looks: readonly ConversationId[];
  /** True once a write was sent whose outcome was never heard. */
  #maybeWritten = false;
  #settled = false;

  constructor(envelope: Envelope) {
    this.envelope = envelope;
    this.#locks = conversationsOf(envelope.commit);
    this.#looks = looksOf(envelope.commit);
    this.orderedBy = this.#locks.filter((id) => !isShelf(id));
    let settlers;
    this.answer = new Promise<Receipt>((resolve, reject) => {
      settlers = { resolve, reject };
    });
    this.#settlers = settlers as never; // the executor ran
  }

  get conversation(): ConversationId {
    return this.envelope.commit.conversationId;
  }

  /** The heads that it locks for itself, as far as is known. */
  get locks(): readonly ConversationId[] {
    return this.#locks;
  }

  lockAlso(conversations: readonly ConversationId[]): void {
    this.#locks = [...new Set([...this.#locks, ...conversations])];
  }

  /** The heads that it reads and does not write, as far as is known: those above a sub-agent's, and a shelf. */
  get looks(): readonly ConversationId[] {
    return this.#looks;
  }

  lookAlso(conversations: readonly ConversationId[]): void {
    this.#looks = [...new Set([...this.#looks, ...conversations])];
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
