/** Sorted entries, one after the other: `undefined` after the last. */
export interface Source<Entry> {
  next(): Entry | undefined;
}

interface Keyed {
  readonly key: string;
}

/** Any iterable as a source. */
export function sourceOf<Entry>(entries: Iterable<Entry>): Source<Entry> {
  const iterator = entries[Symbol.iterator]();
  return {
    next() {
      const step = iterator.next();
      return step.done === true ? undefined : step.value;
    },
  };
}

/**
 * Merges sorted sources into one, in ascending or descending key order. Of entries with one key the one of the earliest
 * source stands: sources are given newest first.
 */
export class Merge<Entry extends Keyed> implements Source<Entry> {
  readonly #sources: Source<Entry>[] = [];
  /** The next entry of each source. */
  readonly #current: Entry[] = [];
  readonly #reverse: boolean;

  constructor(sources: readonly Source<Entry>[], reverse: boolean) {
    this.#reverse = reverse;
    for (const source of sources) {
      const first = source.next();
      if (!first) continue;
      this.#sources.push(source);
      this.#current.push(first);
    }
  }

  next(): Entry | undefined {
    let best = this.#current[0];
    if (!best) return undefined;
    for (let at = 1; at < this.#current.length; at++) {
      const other = this.#current[at] as Entry; // within the array
      if (this.#reverse ? other.key > best.key : other.key < best.key) best = other;
    }
    for (let at = this.#current.length - 1; at >= 0; at--) if (this.#current[at]?.key === best.key) this.#advance(at);
    return best;
  }

  #advance(at: number): void {
    const next = this.#sources[at]?.next();
    if (next) {
      this.#current[at] = next;
      return;
    }
    this.#sources.splice(at, 1);
    this.#current.splice(at, 1);
  }
}
