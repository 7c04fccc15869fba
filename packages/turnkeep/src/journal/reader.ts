import { readMark } from './log/durable-mark.ts';
import type { DurableMark } from './log/durable-mark.ts';
import { readWhole } from './files/files.ts';
import { LAYOUT } from './files/layout.ts';
import { isBefore } from './log/position.ts';
import type { Position } from './log/position.ts';
import { assertFits } from './recovery.ts';
import { replay } from './log/replay.ts';
import type { Replayed } from './log/replay.ts';
import { IndexDamage } from './store-error.ts';
import { corruptAt } from './log/segments.ts';
import type { StoreParts } from './store-parts.ts';

const ATTEMPTS = 8;

/** Keeps the index of a handle that only reads up with a writer of another process. */
export class Reader {
  readonly #parts: StoreParts;
  readonly #boot: string;
  #fold = '';
  #position: Position | undefined;
  /** Up to where the log was durable when it was read last, where that can be told. */
  #durable: DurableMark | undefined;
  /** The number of the last line of a mark that was looked for beyond the mark's place. */
  #lookedFor = 0;

  constructor(parts: StoreParts, boot: string) {
    this.#parts = parts;
    this.#boot = boot;
  }

  /** Takes in what became durable since. Answers whether anything did. Nothing else runs meanwhile. */
  async refresh(): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#refreshOnce();
      } catch (error) {
        if (!(error instanceof IndexDamage)) throw error;
        // The writer may have merged a run away just now; then the fold on disk is a newer one.
        this.#fold = '';
        if (attempt === ATTEMPTS)
          throw corruptAt(error.place, `${error.message}; open the store for writing to rebuild it`);
      }
    }
  }

  async #refreshOnce(): Promise<boolean> {
    const { fs, directory, store, folds, segments, filters } = this.#parts;
    const fold = readWhole(fs, `${directory}/${LAYOUT.fold}`)?.toString('latin1') ?? 'none';
    const isNew = fold !== this.#fold;
    if (isNew) {
      const { rewrites } = folds.state;
      folds.load();
      assertFits(this.#parts, folds.position);
      if (rewrites !== folds.state.rewrites) segments.forget();
      filters.forgetLoaded();
      this.#fold = fold;
      this.#position = folds.position;
    }
    const before = this.#position ?? folds.position;
    const mark = readMark(fs, directory, store);
    const to = this.#limit(mark);
    let replayed = await replay(this.#parts, { from: before, mark, to });
    if (to && to.n !== this.#lookedFor && replayed.damages.some(({ lost, isLine }) => lost || isLine)) {
      this.#lookedFor = to.n;
      replayed = await this.#lookBeyond(to);
    }
    this.#position = replayed.position;
    this.#durable = to;
    return isNew || replayed.position.n > before.n;
  }

  /** Bytes that somebody put into a segment push its last lines beyond the mark: they are durable by their numbers. */
  async #lookBeyond(mark: DurableMark): Promise<Replayed> {
    const { folds } = this.#parts;
    folds.reset();
    folds.load();
    return replay(this.#parts, { from: folds.position, mark, lastLine: mark.n });
  }

  /** The end of what it takes for durable: a writer at work, or a crash, may have left more. Absent where that is all of it. */
  get end(): Position | undefined {
    if (!this.#durable || !this.#position) return undefined;
    return isBefore(this.#position, this.#durable) ? this.#durable : this.#position;
  }

  /** In the boot of the machine that the mark is of, nothing beyond it is known to be durable. */
  #limit(mark: DurableMark | undefined): DurableMark | undefined {
    return mark?.boot === this.#boot ? mark : undefined;
  }
}
