import type { RowValue } from '../../core/backend.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId, NamespaceId } from '../../core/ids.ts';
import { SortedRows } from '../../core/sorted-rows.ts';
import { INDEX, NO_CONVERSATION } from './index-keys.ts';
import { listingRows } from './listing.ts';
import { LOG_START } from '../log/position.ts';
import type { Position } from '../log/position.ts';

export type RecentRows = SortedRows<RowValue | null>;

/** The head of a conversation that changed, and the one that the fold below knows of it. */
export interface HeadChange {
  readonly base: Head | undefined;
  head: Head;
}

/** Rows that came since the last fold, over it; `null` hides a row below. */
export class Recent {
  readonly #rows = new Map<NamespaceId, Map<ConversationId, RecentRows>>();
  readonly #heads = new Map<NamespaceId, Map<ConversationId, HeadChange>>();
  /** The end of the last line that was put. */
  position: Position = LOG_START;
  commits = 0;
  /** Bytes of the lines. */
  bytes = 0;

  get(namespace: NamespaceId, conversation: ConversationId, key: string): RowValue | null | undefined {
    return this.#rows.get(namespace)?.get(conversation)?.get(key);
  }

  rowsOf(namespace: NamespaceId, conversation: ConversationId): RecentRows | undefined {
    return this.#rows.get(namespace)?.get(conversation);
  }

  put(namespace: NamespaceId, conversation: ConversationId, key: string, value: RowValue | null): void {
    let conversations = this.#rows.get(namespace);
    if (!conversations) this.#rows.set(namespace, (conversations = new Map<ConversationId, RecentRows>()));
    let rows = conversations.get(conversation);
    if (!rows) conversations.set(conversation, (rows = new SortedRows()));
    rows.set(key, value);
  }

  /** `base` is asked for when the conversation has none here yet. */
  putHead(namespace: NamespaceId, head: Head, base: () => Head | undefined): void {
    const changes = this.headsOf(namespace);
    const change = changes.get(head.conversationId);
    if (change) change.head = head;
    else changes.set(head.conversationId, { base: base(), head });
    this.put(namespace, head.conversationId, INDEX.head, headRow(head));
  }

  headsOf(namespace: NamespaceId): Map<ConversationId, HeadChange> {
    let heads = this.#heads.get(namespace);
    if (!heads) this.#heads.set(namespace, (heads = new Map<ConversationId, HeadChange>()));
    return heads;
  }

  namespaces(): readonly NamespaceId[] {
    return [...this.#rows.keys()];
  }

  conversations(namespace: NamespaceId): readonly ConversationId[] {
    return [...(this.#rows.get(namespace)?.keys() ?? [])];
  }

  /** Puts the rows that list the changed heads, and removes those that list their bases: the last step before a fold. */
  list(): void {
    for (const [namespace, changes] of this.#heads) {
      for (const { base, head } of changes.values()) {
        if (base) for (const key of listingRows(base)) this.put(namespace, NO_CONVERSATION, key, null);
        for (const key of listingRows(head)) this.put(namespace, NO_CONVERSATION, key, []);
      }
    }
  }

  /** About how many keys a run of this has. */
  countKeys(): number {
    let count = 0;
    for (const conversations of this.#rows.values()) {
      for (const rows of conversations.values()) count += rows.size + 1;
    }
    return count;
  }
}

/** A head as a row of the index. */
export function headRow(head: Head): RowValue {
  return [head as unknown as RowValue[number]]; // `Json` has no interface's shape
}
