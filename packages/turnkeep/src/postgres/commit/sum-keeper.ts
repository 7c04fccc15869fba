import type { NamespaceId } from '../../core/ids.ts';
import type { Receipt } from '../../core/receipt.ts';
import { foldSums } from './fold-sums.ts';
import type { Store } from '../store.ts';

/** Commits of a namespace that add, from one fold to the next. */
const ADDING_COMMITS = 64;
/** Namespaces that are folded when the store is closed. */
const LAST_NAMESPACES = 16;

/**
 * Folds what this process adds to sums, by and by and when the store is closed. What a process that was killed has added is
 * folded with what others add, or by maintenance.
 */
export class SumKeeper {
  readonly #store: Store;
  /** How many commits of a namespace have added since it was folded; the one that added last stands at the end. */
  readonly #added = new Map<NamespaceId, number>();
  #working: Promise<void> | undefined;
  #isClosing = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** A commit became durable. */
  wrote(namespace: NamespaceId, { events, replayed }: Receipt): void {
    if (replayed || this.#isClosing || !events.some(({ kind }) => kind === 'usage.record')) return;
    const added = (this.#added.get(namespace) ?? 0) + 1;
    this.#added.delete(namespace);
    this.#added.set(namespace, added);
    if (added < ADDING_COMMITS || this.#working) return;
    this.#working = this.#fold(namespace).finally(() => {
      this.#working = undefined;
    });
  }

  /** Folds what was added last. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#working;
    await Promise.all([...this.#added.keys()].slice(-LAST_NAMESPACES).map(async (namespace) => this.#fold(namespace)));
  }

  /** What goes wrong is tried again after some more commits. */
  async #fold(namespace: NamespaceId): Promise<void> {
    this.#added.delete(namespace);
    await foldSums(this.#store, namespace).catch(() => undefined);
  }
}
