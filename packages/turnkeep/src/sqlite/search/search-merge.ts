import { BlockReader, type BlockWriter } from './search-blocks.ts';
import type { Segment, SegmentTable } from './search-segments.ts';

/** Level of the largest segments: they are not merged any further. */
const TOP_LEVEL = 2;
/** Segments of one level that are merged into one of the next. */
const FAN_IN = 12;

/** Merges segments of a level as soon as there are enough of them, level by level. */
export function mergeLevels(table: SegmentTable): void {
  for (let level = 0; level < TOP_LEVEL; level++) {
    const segments = table.atLevel(level);
    if (segments.length < FAN_IN) return;
    rewrite(table, segments, level + 1, new Set());
  }
}

/** Writes neighbouring segments, oldest first, as one without some of their documents; in place of them. */
export function rewrite(
  table: SegmentTable,
  segments: readonly Segment[],
  level: number,
  without: ReadonlySet<number>,
): void {
  const kept: number[] = [];
  const inputs = segments.map((segment) => {
    const ordinals = Array.from(table.docIds(segment), (docId) => (without.has(docId) ? GONE : kept.push(docId) - 1));
    return new Input(table, segment, ordinals);
  });
  table.replace(segments, level, Float64Array.from(kept), (writer) => mergeTerms(inputs, kept.length, writer));
}

const GONE = -1;

function mergeTerms(inputs: readonly Input[], count: number, writer: BlockWriter): void {
  const found = new Uint32Array(count);
  let waiting = inputs.filter((input) => input.next());
  while (waiting.length > 0) {
    const term = waiting.reduce((least, input) => Math.min(least, input.term), Infinity);
    let end = 0;
    let someEnded = false;
    for (const input of waiting) {
      if (input.term !== term) continue;
      end = input.ordinalsInto(found, end);
      if (!input.next()) someEnded = true;
    }
    writer.add(term, found.subarray(0, end));
    if (someEnded) waiting = waiting.filter((input) => !input.ended);
  }
}

/** Goes through all terms of a segment, and renumbers their documents. */
class Input {
  readonly #table: SegmentTable;
  readonly #segment: Segment;
  /** By ordinal in the segment: the ordinal in the merged one. */
  readonly #ordinals: readonly number[];
  #block: BlockReader | undefined;
  #blockTerm = -1;
  ended = false;

  constructor(table: SegmentTable, segment: Segment, ordinals: readonly number[]) {
    this.#table = table;
    this.#segment = segment;
    this.#ordinals = ordinals;
  }

  get term(): number {
    return this.#block?.term ?? -1;
  }

  next(): boolean {
    while (this.#block?.next() !== true) {
      const block = this.#table.blockAfter(this.#segment, this.#blockTerm);
      if (block === undefined) {
        this.ended = true;
        return false;
      }
      this.#blockTerm = block.firstTerm;
      this.#block = new BlockReader(block);
    }
    return true;
  }

  /** Writes the new ordinals of this term from a place on; answers where they end. */
  ordinalsInto(found: Uint32Array, from: number): number {
    let end = from;
    this.#block?.ordinals((old) => {
      const ordinal = this.#ordinals[old] ?? GONE;
      if (ordinal !== GONE) found[end++] = ordinal;
    });
    return end;
  }
}
