import type { NamespaceId } from '../core/ids.ts';

/** Who wants to hear of commits, by namespace. */
export class NamespaceListeners {
  readonly #listeners = new Map<string, Set<() => void>>();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  has(namespace: string): boolean {
    return this.#listeners.has(namespace);
  }

  add(namespace: NamespaceId, listener: () => void): () => void {
    const listeners = this.#listeners.get(namespace) ?? new Set();
    this.#listeners.set(namespace, listeners);
    const added = () => listener();
    listeners.add(added);
    return () => {
      listeners.delete(added);
      if (listeners.size === 0 && this.#listeners.get(namespace) === listeners) this.#listeners.delete(namespace);
    };
  }

  tell(namespace: string): void {
    for (const listener of this.#listeners.get(namespace) ?? []) listener();
  }

  tellAll(): void {
    for (const namespace of this.#listeners.keys()) this.tell(namespace);
  }

  clear(): void {
    this.#listeners.clear();
  }
}
