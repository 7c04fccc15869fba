import type { BlockEntry } from './run-block.ts';

interface Cached {
  readonly entries: readonly BlockEntry[];
  readonly bytes: number;
}

/** Blocks that were read, the least recently used ones forgotten when they come to weigh too much. */
export class BlockCache {
  readonly #limitBytes: number;
  readonly #blocks = new Map<number, Cached>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get(id: number): readonly BlockEntry[] | undefined {
    const found = this.#blocks.get(id);
    if (!found) return undefined;
    this.#blocks.delete(id);
    this.#blocks.set(id, found);
    return found.entries;
  }

  /** `bytes` as on disk; in memory a block weighs a few times that. */
  set(id: number, entries: readonly BlockEntry[], bytes: number): void {
    this.#blocks.set(id, { entries, bytes });
    this.#bytes += bytes;
    for (const [oldest, cached] of this.#blocks) {
      if (this.#bytes <= this.#limitBytes) return;
      this.#blocks.delete(oldest);
      this.#bytes -= cached.bytes;
    }
  }
}
