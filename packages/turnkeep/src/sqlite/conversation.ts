import type { RowValue } from '../core/backend.ts';
import type { Head } from '../core/head.ts';
import { SortedRows } from '../core/sorted-rows.ts';

/** A row that was put, or `null` for one that was removed, over the folded rows. */
export type TailRows = SortedRows<RowValue | null>;

/** What is kept in memory of a conversation: its head, and the rows of its last commits, which are not folded yet. */
export interface Conversation {
  /** Its number in this store. */
  readonly c: number;
  readonly n: number;
  head: Head;
  /** The version up to which its rows are folded. */
  folded: number;
  /** The rows of the versions after `folded`. */
  tail: TailRows;
  /** Positions in the log of the versions after `folded`. */
  readonly positions: Map<number, number>;
}

export function newConversation(c: number, n: number, head: Head): Conversation {
  return { c, n, head, folded: 0, tail: new SortedRows(), positions: new Map() };
}

/** One row of a commit as the tail keeps it. */
export type PackedRow = readonly [key: string, value: RowValue | null];

export function addToTail(conversation: Conversation, version: number, pos: number, rows: readonly PackedRow[]): void {
  conversation.positions.set(version, pos);
  for (const [key, value] of rows) conversation.tail.set(key, value);
}

/** A map that forgets the entry that was put first when it has grown too large. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  clear(): void {
    this.#entries.clear();
  }
}
