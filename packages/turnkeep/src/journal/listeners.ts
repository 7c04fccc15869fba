import type { NamespaceId } from '../core/ids.ts';
import { repeat } from '../platform/timers.ts';

const POLL_MS = 50;

/** Who wants to know when a namespace's feed may have grown. */
export class Listeners {
  readonly #byNamespace = new Map<NamespaceId, Set<() => void>>();
  readonly #poll: (() => Promise<boolean>) | undefined;
  #stopPolling: (() => void) | undefined;

  /** `poll` is asked again and again, as long as somebody listens, whether another process wrote. */
  constructor(poll?: () => Promise<boolean>) {
    this.#poll = poll;
  }

  add(namespace: NamespaceId, listener: () => void): () => void {
    let listeners = this.#byNamespace.get(namespace);
    if (!listeners) this.#byNamespace.set(namespace, (listeners = new Set()));
    // One of its own, so that a listener that is added twice is called twice.
    const added = () => listener();
    listeners.add(added);
    this.#startPolling();
    return () => {
      listeners.delete(added);
      if (listeners.size === 0) this.#byNamespace.delete(namespace);
      if (this.#byNamespace.size === 0) this.close();
    };
  }

  notify(namespace: NamespaceId): void {
    for (const listener of this.#byNamespace.get(namespace) ?? []) queueMicrotask(listener);
  }

  close(): void {
    this.#stopPolling?.();
    this.#stopPolling = undefined;
  }

  #startPolling(): void {
    const poll = this.#poll;
    if (!poll || this.#stopPolling) return;
    this.#stopPolling = repeat(POLL_MS, () => {
      poll().then(
        (grew) => (grew ? this.#notifyAll() : undefined),
        // What is wrong with the store is told to those who read it.
        () => undefined,
      );
    });
  }

  #notifyAll(): void {
    for (const namespace of this.#byNamespace.keys()) this.notify(namespace);
  }
}
