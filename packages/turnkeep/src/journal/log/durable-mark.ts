import { readWhole } from '../files/files.ts';
import type { FileSystem, JournalFile } from '../files/file-system.ts';
import { LAYOUT } from '../files/layout.ts';
import type { Position } from './position.ts';
import { seal, unseal } from '../files/sealed.ts';

/** How far the log is durable, as the writer last knew; right for all who read in the same boot of the machine. */
export interface DurableMark extends Position {
  /** The generation of the fold at that time. */
  readonly fold: number;
  /** The boot of the machine in which it was written. */
  readonly boot: string;
}

interface Stored extends DurableMark {
  /** The store's number. */
  readonly store: string;
}

// One sector: written in place, it is there as a whole or not at all.
const MARK_BYTES = 512;

/**
 * The mark; `undefined` where it is missing, damaged, or another store's. Its writer may be writing it just now: what is read
 * of it then is half of each, and another thing when it is read again.
 */
export function readMark(fs: FileSystem, directory: string, store: string): DurableMark | undefined {
  let last: Buffer | undefined;
  for (;;) {
    const bytes = readWhole(fs, `${directory}/${LAYOUT.durable}`);
    const mark = bytes && markIn(bytes, store);
    if (!bytes || mark || last?.equals(bytes)) return mark;
    last = bytes;
  }
}

function markIn(bytes: Buffer, store: string): DurableMark | undefined {
  const mark = unseal(bytes) as Partial<Stored> | undefined;
  // Another sealed file of the store may stand in its place; a mark of an earlier build does not say whose it is.
  return (mark?.store ?? store) === store && mark?.segment !== undefined ? (mark as DurableMark) : undefined;
}

/** Keeps the mark of a writer. It is written after each sync, and not synced itself: it may fall behind, never ahead. */
export class MarkWriter {
  readonly #file: JournalFile;
  readonly #store: string;
  readonly #boot: string;

  constructor(fs: FileSystem, directory: string, store: string, boot: string) {
    this.#file = fs.open(`${directory}/${LAYOUT.durable}`, 'update');
    this.#store = store;
    this.#boot = boot;
  }

  write({ segment, byte, n }: Position, fold: number): void {
    const text = seal({ store: this.#store, segment, byte, n, fold, boot: this.#boot } satisfies Stored);
    this.#file.write(Buffer.from(`${text.trimEnd().padEnd(MARK_BYTES - 1)}\n`, 'latin1'), 0);
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): void {
    this.#file.close();
  }
}
