import type { Database, Statement } from '../driver/driver.ts';
import { driverFault } from '../driver/driver-errors.ts';
import type { OwnFiles } from '../store/own-files.ts';

/** Pages that are written before the WAL is moved into the file. */
const CHECKPOINT_PAGES = 1_000;
/** Pages of the WAL from which on it should begin anew: a sync costs more as long as its file grows. */
const LONG_PAGES = 2_000;

/** Moves the WAL into the file, beside the writer and without making it wait. */
export class WalKeeper {
  readonly #checkpoint: Statement;
  readonly #files: OwnFiles;
  #pages = 0;

  constructor(beside: Database, files: OwnFiles) {
    this.#files = files;
    this.#checkpoint = beside.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Counts pages that were written. */
  wrote(pages: number): void {
    this.#pages += pages;
  }

  /** Answers whether the WAL is long and mostly moved. */
  keep(): boolean {
    if (this.#pages < CHECKPOINT_PAGES) return false;
    this.#pages = 0;
    if (this.#files.problem() !== undefined) return false;
    try {
      const [, length, moved] = (this.#checkpoint.get() ?? []) as readonly number[]; // busy, log, checkpointed
      return (length ?? 0) >= LONG_PAGES && (moved ?? 0) >= (length ?? 0) / 2;
    } catch (error) {
      if (driverFault(error).kind === 'busy') return false;
      throw error;
    }
  }
}
