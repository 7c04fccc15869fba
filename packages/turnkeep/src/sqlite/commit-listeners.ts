import type { NamespaceId } from '../core/ids.ts';
import { repeat } from '../platform/timers.ts';

const POLL_MS = 50;

/**
 * Who wants to hear of commits. Those of this process are told at once; those of others show in a number that is asked
 * for while somebody listens.
 */
export class CommitListeners {
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #dataVersion: () => number;
  #seen: number | undefined;
  #stopPolling: (() => void) | undefined;

  /** `dataVersion` answers another number when anybody has committed. */
  constructor(dataVersion: () => number) {
    this.#dataVersion = dataVersion;
  }

  add(namespace: NamespaceId, listener: () => void): () => void {
    const listeners = this.#listeners.get(namespace) ?? new Set();
    this.#listeners.set(namespace, listeners);
    const added = () => listener();
    listeners.add(added);
    this.#startPolling();
    return () => {
      listeners.delete(added);
      if (listeners.size === 0 && this.#listeners.get(namespace) === listeners) this.#listeners.delete(namespace);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  tell(namespaces: Iterable<string>): void {
    for (const namespace of namespaces)
      for (const listener of this.#listeners.get(namespace) ?? []) queueMicrotask(listener);
  }

  /** Nobody hears anything any more. */
  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  #startPolling(): void {
    if (this.#stopPolling) return;
    this.#seen = this.#look();
    this.#stopPolling = repeat(POLL_MS, () => this.#poll());
  }

  #poll(): void {
    const found = this.#look();
    if (found === this.#seen) return;
    this.#seen = found;
    this.tell([...this.#listeners.keys()]);
  }

  /** Nothing where it cannot be told, since somebody commits just now or the file cannot be read: who reads it is told. */
  #look(): number | undefined {
    try {
      return this.#dataVersion();
    } catch {
      return undefined;
    }
  }

  #stop(): void {
    this.#stopPolling?.();
    this.#stopPolling = undefined;
  }
}
