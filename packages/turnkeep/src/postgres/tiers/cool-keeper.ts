import { fieldOf } from '../../core/event.ts';
import type { ConversationId, NamespaceId } from '../../core/ids.ts';
import type { Receipt } from '../../core/receipt.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { pause } from '../../platform/timers.ts';
import { coolBlock } from './cool.ts';
import { packRows } from './pack.ts';
import type { Store } from '../store.ts';

/** Messages of a conversation between two looks at whether a block of it may cool. */
const LOOK_MESSAGES = 64;
/** Of its time, the share that upkeep takes: commits need the machine. */
const BUSY_SHARE = 0.1;
const REST_STEP_MS = 20;

interface Due {
  readonly namespace: NamespaceId;
  readonly conversationId: ConversationId;
}

/**
 * Cools what this process has written, by and by and a full block at a time. It is told of each commit: only by one can a
 * conversation become due. What nobody was told of, since the process ended, is looked at after a few more messages.
 */
export class CoolKeeper {
  readonly #store: Store;
  readonly #hotMessages: number;
  readonly #due = new Map<string, Due>();
  #working: Promise<void> | undefined;
  #isClosing = false;

  constructor(store: Store, hotMessages: number) {
    this.#store = store;
    this.#hotMessages = hotMessages;
  }

  /** A commit became durable. */
  wrote(namespace: NamespaceId, { conversationId, events, replayed }: Receipt): void {
    if (replayed || this.#isClosing) return;
    const sequences = events.flatMap((event) => fieldOf(event, 'sequence') ?? []);
    const newest = Math.max(0, ...sequences);
    if (newest <= this.#hotMessages || newest % LOOK_MESSAGES >= sequences.length) return;
    this.#due.set(`${namespace} ${conversationId}`, { namespace, conversationId });
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  /** Finishes the block at work. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let next = this.#take(); next && !this.#isClosing; next = this.#take()) {
      const start = monotonicNow();
      const isMore = await this.#coolOne(next);
      if (isMore) this.#due.set(`${next.namespace} ${next.conversationId}`, next);
      const took = monotonicNow() - start;
      await this.#rest(took / BUSY_SHARE - took);
    }
  }

  #take(): Due | undefined {
    for (const [key, due] of this.#due) {
      this.#due.delete(key);
      return due;
    }
    return undefined;
  }

  /** Answers whether there may be more. What goes wrong is tried again after some more messages. */
  async #coolOne({ namespace, conversationId }: Due): Promise<boolean> {
    const policy = { hotMessages: this.#hotMessages, rest: 'waits' } as const;
    try {
      const moved = await coolBlock(this.#store, namespace, conversationId, policy);
      if (moved !== 0) await packRows(this.#store, namespace, conversationId, '');
      return moved !== 0;
    } catch {
      return false;
    }
  }

  /** Waits, but not when the store is being closed. */
  async #rest(durationMs: number): Promise<void> {
    for (let left = durationMs; left > 0 && !this.#isClosing; left -= REST_STEP_MS)
      await pause(Math.min(left, REST_STEP_MS));
  }
}
