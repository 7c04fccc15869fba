import type { ConversationId } from '../../core/ids.ts';

const KEPT = 16_384;

/** The conversations that this process met last. To forget one costs a lookup. */
export class KnownIds {
  #recent = new Set<string>();
  #older = new Set<string>();

  has(namespace: string, conversation: ConversationId): boolean {
    const key = `${namespace} ${conversation}`;
    return this.#recent.has(key) || this.#older.has(key);
  }

  add(namespace: string, conversation: ConversationId): void {
    if (this.#recent.size >= KEPT) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(`${namespace} ${conversation}`);
  }
}
