import type { RowValue } from '../../core/backend.ts';
import type { Head } from '../../core/head.ts';
import { KeptReads } from '../../core/kept-reads.ts';
import { SortedRows } from '../../core/sorted-rows.ts';

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
  /** How often its folded rows have changed. */
  folds: number;
  /** What was read of its rows. */
  readonly kept: KeptReads;
  /** The rows of the versions after `folded`. */
  tail: TailRows;
  /** Positions in the log of the versions after `folded`, in their order. */
  readonly unfolded: number[];
}

/** `isNew`: it has no rows in the store yet. */
export function newConversation(c: number, n: number, head: Head, isNew: boolean): Conversation {
  return { c, n, head, folded: 0, folds: 0, kept: new KeptReads({ isNew }), tail: new SortedRows(), unfolded: [] };
}

/** One row of a commit as the tail keeps it. */
export type PackedRow = readonly [key: string, value: RowValue | null];

export function addToTail(conversation: Conversation, pos: number, rows: readonly PackedRow[]): void {
  conversation.unfolded.push(pos);
  for (const [key, value] of rows) {
    conversation.tail.set(key, value);
    conversation.kept.put(key, value);
  }
}
