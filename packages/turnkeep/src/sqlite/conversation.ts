import type { Row, RowRange, RowValue } from '../core/backend.ts';
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
  /** How often its folded rows have changed. */
  folds: number;
  /** What was read of the folded rows since they last changed. */
  readonly read: FoldedReads;
  /** The rows of the versions after `folded`. */
  tail: TailRows;
  /** Positions in the log of the versions after `folded`, in their order. */
  readonly unfolded: number[];
}

export function newConversation(c: number, n: number, head: Head): Conversation {
  const read = new FoldedReads();
  return { c, n, head, folded: 0, folds: 0, read, tail: new SortedRows(), unfolded: [] };
}

const KEPT_READS = 256;

/**
 * Commits of a conversation ask for the same few rows and ranges again and again, and those that are folded change once in
 * many commits: kept here they cost no statement (of 20 reads of a turn, 6 are left).
 */
export class FoldedReads {
  readonly #values = new BoundedMap<string, RowValue>(KEPT_READS);
  readonly #ranges = new BoundedMap<string, readonly Row[]>(KEPT_READS);

  /**
   * The value of a key; `look` finds out. That there is none is not kept: nearly always it was asked for an id that a commit
   * brings, and that is not asked for again.
   */
  value(key: string, look: () => RowValue | undefined): RowValue | undefined {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const found = look();
    if (found !== undefined) this.#values.set(key, found);
    return found;
  }

  /** The rows of a range with a limit. */
  range({ from, to, reverse, limit }: RowRange, look: () => readonly Row[]): readonly Row[] {
    const name = `${from}\n${to}\n${reverse ? '-' : '+'}${limit}`;
    const known = this.#ranges.get(name);
    if (known !== undefined) return known;
    const found = look();
    this.#ranges.set(name, found);
    return found;
  }

  clear(): void {
    this.#values.clear();
    this.#ranges.clear();
  }
}

/** One row of a commit as the tail keeps it. */
export type PackedRow = readonly [key: string, value: RowValue | null];

export function addToTail(conversation: Conversation, pos: number, rows: readonly PackedRow[]): void {
  conversation.unfolded.push(pos);
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
