import { readWhole } from './files.ts';
import type { FileSystem, JournalFile } from './file-system.ts';
import { LAYOUT } from './layout.ts';
import type { Position } from './position.ts';
import { seal, unseal } from './sealed.ts';

/** How far the log is durable, as the writer last knew; right for all who read in the same boot of the machine. */
export interface DurableMark extends Position {
  /** The generation of the fold at that time. */
  readonly fold: number;
  /** The boot of the machine in which it was written. */
  readonly boot: string;
}

// One sector: written in place, it is there as a whole or not at all.
const MARK_BYTES = 512;

export function readMark(fs: FileSystem, directory: string): DurableMark | undefined {
  const bytes = readWhole(fs, `${directory}/${LAYOUT.durable}`);
  return bytes && (unseal(bytes) as DurableMark | undefined);
}

/** Keeps the mark of a writer. It is written after each sync, and not synced itself: it may fall behind, never ahead. */
export class MarkWriter {
  readonly #file: JournalFile;
  readonly #boot: string;

  constructor(fs: FileSystem, directory: string, boot: string) {
    this.#file = fs.open(`${directory}/${LAYOUT.durable}`, 'update');
    this.#boot = boot;
  }

  write({ segment, byte, n }: Position, fold: number): void {
    const text = seal({ segment, byte, n, fold, boot: this.#boot } satisfies DurableMark);
    this.#file.write(Buffer.from(`${text.trimEnd().padEnd(MARK_BYTES - 1)}\n`, 'latin1'), 0);
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): void {
    this.#file.close();
  }
}
