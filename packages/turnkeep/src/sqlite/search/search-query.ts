import type { TermRange } from '../../core/trigram.ts';
import { BlockReader } from './search-blocks.ts';
import type { Segment, SegmentTable } from './search-segments.ts';

/**
 * The ids of a segment's documents that have a term of each range, highest first. The range that none of them had moves
 * to the front of `ranges`: it is likely to rule the next segment out as well, with one lookup.
 */
export function searchSegment(table: SegmentTable, segment: Segment, ranges: TermRange[]): number[] {
  const found = new Uint8Array(segment.count); // by ordinal: how many ranges it had a term of, one after another
  for (const [step, range] of ranges.entries()) {
    if (countMatches(table, segment, range, found, step) > 0) continue;
    ranges.unshift(...ranges.splice(step, 1));
    return [];
  }
  return matchingDocs(table.docIds(segment), found, ranges.length);
}

/** Raises by one those that stand at `step` and have a term of the range; answers how many. */
function countMatches(
  table: SegmentTable,
  segment: Segment,
  range: TermRange,
  found: Uint8Array,
  step: number,
): number {
  let count = 0;
  const raise = (ordinal: number): void => {
    if (found[ordinal] !== step) return;
    found[ordinal] = step + 1;
    count += 1;
  };
  for (const block of termsIn(table, segment, range)) {
    block.ordinals(raise);
    if (count === found.length) break;
  }
  return count;
}

/** The blocks of a range, standing at each of its terms. */
function* termsIn(table: SegmentTable, segment: Segment, { first, last }: TermRange): Generator<BlockReader> {
  let next = table.blockAt(segment, first) ?? table.blockAfter(segment, first);
  while (next !== undefined && next.firstTerm <= last) {
    const block = new BlockReader(next);
    while (block.next() && block.term <= last) if (block.term >= first) yield block;
    next = first === last ? undefined : table.blockAfter(segment, next.firstTerm);
  }
}

function matchingDocs(docIds: Float64Array, found: Uint8Array, steps: number): number[] {
  const matching: number[] = [];
  for (let ordinal = found.length - 1; ordinal >= 0; ordinal--) {
    const docId = docIds[ordinal];
    if (found[ordinal] === steps && docId !== undefined) matching.push(docId);
  }
  return matching;
}
