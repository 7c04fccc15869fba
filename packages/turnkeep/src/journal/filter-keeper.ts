import type { Sha256 } from '../core/digest.ts';
import { othersTurn, pause } from '../platform/timers.ts';
import { monotonicNow } from '../platform/clock.ts';
import type { CommitQueue } from './commit-queue.ts';
import { fillGap } from './filter-builder.ts';
import type { FilledStretch } from './filter-file.ts';
import { FILE_STRETCHES } from './filters.ts';
import type { Gap } from './filters.ts';
import { LAYOUT } from './layout.ts';
import type { Position } from './position.ts';
import type { StoreParts } from './store-parts.ts';
import type { Upkeep } from './upkeep.ts';

/** Stretches of one step behind commits: then others may rewrite segments. */
const STEP_STRETCHES = 2;
/** Of its time, the share that this takes while commits wait. */
const BUSY_SHARE = 0.1;
const REST_STEP_MS = 20;

export interface FilterAccess {
  readonly queue: CommitQueue;
  readonly upkeep: Upkeep;
  readonly sha256: Sha256;
}

/** Makes the filters of what was folded, off the commit path and throttled while commits wait. What they lack is scanned. */
export class FilterKeeper {
  readonly #parts: StoreParts;
  readonly #access: FilterAccess;
  #working: Promise<void> | undefined;
  #isClosing = false;
  /** Somebody waits. */
  #isUrgent = false;
  /** Gaps of which nothing could be made, by where they begin: up to where the log went then. */
  readonly #barren = new Map<number, Position>();
  #workedSince = 0;

  constructor(parts: StoreParts, access: FilterAccess) {
    this.#parts = parts;
    this.#access = access;
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
    await this.#access.upkeep.run(() => this.#parts.filters.clear());
  }

  /** Stops at the next step. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    this.#workedSince = monotonicNow();
    while (!this.#isClosing && this.#isDue()) await this.#access.upkeep.run(() => this.#step());
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
    const filled = await this.#filled(gap);
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

  async #filled(gap: Gap): Promise<readonly FilledStretch[]> {
    const most = this.#isUrgent ? FILE_STRETCHES : STEP_STRETCHES;
    const filled: FilledStretch[] = [];
    const building = { sha256: this.#access.sha256, breathe: () => this.#breathe() };
    for await (const stretch of fillGap(this.#parts, gap, building)) {
      filled.push(stretch);
      if (filled.length >= most) break;
    }
    return filled;
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

  /** Others have their turn, and most of the time while commits wait. False where the store is being closed. */
  async #breathe(): Promise<boolean> {
    await othersTurn();
    const took = monotonicNow() - this.#workedSince;
    const isBusy = () => !this.#isUrgent && !this.#isClosing && this.#access.queue.load === 'busy';
    for (let left = took / BUSY_SHARE - took; left > 0 && isBusy(); left -= REST_STEP_MS)
      await pause(Math.min(left, REST_STEP_MS));
    this.#workedSince = monotonicNow();
    return !this.#isClosing;
  }
}

function ignore(): void {
  // What failed is tried again when the next fold is there; the log has it all.
}
