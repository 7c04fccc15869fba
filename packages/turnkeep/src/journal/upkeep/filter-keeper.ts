import { pause } from '../../platform/timers.ts';
import { monotonicNow } from '../../platform/clock.ts';
import { WINDOW_MS, WriteRate } from '../../platform/write-rate.ts';
import { FILE_STRETCHES } from '../filters/filters.ts';
import type { Gap } from '../filters/filters.ts';
import { LAYOUT } from '../files/layout.ts';
import type { Position } from '../log/position.ts';
import type { StoreParts } from '../store-parts.ts';
import type { Upkeep } from './upkeep.ts';

/** Stretches of one step behind commits: then others may rewrite segments. */
const STEP_STRETCHES = 2;
/** Bytes of lines that make a window of time part of a burst. */
const BURST_BYTES = 65_536;
/** Of its time, the share that this takes while commits come. */
const BUSY_SHARE = 0.1;
const REST_STEP_MS = 20;

/**
 * Makes the filters of what was folded, off the commit path: a burst of commits is let by, and while others come they have
 * most of the time. What filters lack is scanned.
 */
export class FilterKeeper {
  readonly #parts: StoreParts;
  readonly #upkeep: Upkeep;
  readonly #rate = new WriteRate({ now: monotonicNow, burst: BURST_BYTES });
  #working: Promise<void> | undefined;
  #isClosing = false;
  /** Somebody waits. */
  #isUrgent = false;
  /** Gaps of which nothing could be made, by where they begin: up to where the log went then. */
  readonly #barren = new Map<number, Position>();

  /** `upkeep` is what it takes turns in with others that rewrite segments. */
  constructor(parts: StoreParts, upkeep: Upkeep) {
    this.#parts = parts;
    this.#upkeep = upkeep;
  }

  /** So many bytes of lines were written. */
  wrote(bytes: number): void {
    this.#rate.wrote(bytes);
    this.maintain();
  }

  /** Starts what is due. Its failures are kept for the next attempt. */
  maintain(): void {
    if (this.#working || this.#isClosing || !this.#isDue()) return;
    this.#working = this.#work()
      .catch(ignore)
      .finally(() => {
        this.#working = undefined;
      });
  }

  /** Makes all that is due, at full speed. */
  async fill(): Promise<void> {
    this.#isUrgent = true;
    try {
      await this.#working;
      await this.#work();
    } finally {
      this.#isUrgent = false;
    }
  }

  /** Removes all filters; the next `fill` makes them anew. */
  async clear(): Promise<void> {
    this.#barren.clear();
    await this.#upkeep.run(() => this.#parts.filters.clear());
  }

  /** Stops at the next step. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (!this.#isClosing && this.#isDue()) {
      if (this.#rate.isBurst() && !this.#isUrgent) {
        await this.#rest(WINDOW_MS);
        continue;
      }
      const start = monotonicNow();
      await this.#upkeep.run(() => this.#step());
      await this.#rest(this.#pauseAfter(monotonicNow() - start));
    }
  }

  #isDue(): boolean {
    const { filters } = this.#parts;
    return filters.isUnswept || this.#dueGap() !== undefined || filters.mergeable.length > 0;
  }

  async #step(): Promise<void> {
    const { filters } = this.#parts;
    if (filters.isUnswept) return this.#sweep();
    const gap = this.#dueGap();
    if (!gap) return filters.merge(filters.mergeable);
    const filled = await this.#parts.background.fillGap(gap, this.#isUrgent ? FILE_STRETCHES : STEP_STRETCHES);
    if (filled.length > 0) await filters.add(filled);
    else this.#barren.set(gap.from.n, gap.to);
  }

  /** What of a damaged file is gone is only told: it is made anew. */
  async #sweep(): Promise<void> {
    const { filters, damaged } = this.#parts;
    for (const { name, reason } of await filters.sweep()) {
      const place = `${LAYOUT.search}/${name}`;
      const bytes = Buffer.from(`${reason}\n`);
      await damaged.setAside('search.txt', bytes, place, `${reason}; it is made anew from the segments`);
    }
  }

  #dueGap(): Gap | undefined {
    const { filters, folds } = this.#parts;
    for (const gap of filters.gaps(folds.position)) {
      const tried = this.#barren.get(gap.from.n);
      if (gap.isBounded ? !tried : this.#isLong(tried ?? gap.from, gap.to)) return gap;
    }
    return undefined;
  }

  #isLong(from: Position, to: Position): boolean {
    return from.segment < to.segment || to.byte - from.byte >= this.#parts.settings.filterBytes;
  }

  #pauseAfter(tookMs: number): number {
    return this.#rate.isQuiet() ? 0 : tookMs / BUSY_SHARE - tookMs;
  }

  /** Waits, but not when somebody waits for this. */
  async #rest(durationMs: number): Promise<void> {
    for (let left = durationMs; left > 0 && !this.#isUrgent && !this.#isClosing; left -= REST_STEP_MS)
      await pause(Math.min(left, REST_STEP_MS));
  }
}

function ignore(): void {
  // What failed is tried again when the next fold is there; the log has it all.
}
