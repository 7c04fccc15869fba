import type { RowValue } from '../../core/backend.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { KnownRows } from './known-rows.ts';
import type { StoredHead } from './snapshot.ts';

/** Conversations of all namespaces, and rows of each, that are kept. */
const KEPT = 512;
const ROWS = 512;
/** Commits of a conversation that are not kept after what was kept of it turned out to be old. */
const AVOIDED_COMMITS = 8;

/** A conversation as this process left it. */
export interface RecentConversation {
  readonly stored: StoredHead;
  /** The head as it is stored. */
  readonly text: string;
  readonly rows: KnownRows;
}

/**
 * What this process wrote and read last, conversation by conversation. It holds only while the head is still the one that
 * is kept here: whoever decides on it has the server check that, in the same transaction as the write.
 */
export class RecentConversations {
  /** The one that was used last stands at the end. */
  readonly #kept = new Map<string, RecentConversation>();
  /** How many commits of a conversation are still not to be kept. */
  readonly #avoided = new Map<string, number>();

  get(namespace: string, conversation: ConversationId): RecentConversation | undefined {
    return this.#kept.get(keyOf(namespace, conversation));
  }

  /** Keeps what a commit left: what was known before it, and what it wrote. */
  put(
    namespace: string,
    { stored, text }: Pick<RecentConversation, 'stored' | 'text'>,
    before: KnownRows,
    written: ReadonlyMap<string, RowValue | null> | undefined,
  ): void {
    const key = keyOf(namespace, stored.head.conversationId);
    this.#kept.delete(key);
    if (this.#isAvoided(key)) return;
    for (const [row, value] of written ?? []) before.put(row, value ?? undefined);
    if (before.size > ROWS || stored.head.erasedAt !== null) return;
    this.#kept.set(key, { stored, text, rows: before });
    if (this.#kept.size > KEPT) for (const oldest of this.#kept.keys()) return void this.#kept.delete(oldest);
  }

  forget(namespace: string, conversation: ConversationId): void {
    this.#kept.delete(keyOf(namespace, conversation));
  }

  /** Forgets a conversation that somebody else writes too, and does not keep it again for a while. */
  avoid(namespace: string, conversation: ConversationId): void {
    const key = keyOf(namespace, conversation);
    this.#kept.delete(key);
    this.#avoided.set(key, AVOIDED_COMMITS);
    if (this.#avoided.size > KEPT) this.#avoided.clear();
  }

  #isAvoided(key: string): boolean {
    const left = this.#avoided.get(key);
    if (left === undefined) return false;
    if (left > 1) this.#avoided.set(key, left - 1);
    else this.#avoided.delete(key);
    return true;
  }
}

function keyOf(namespace: string, conversation: ConversationId): string {
  return `${namespace} ${conversation}`;
}
