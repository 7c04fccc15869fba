import { isBefore, LOG_START } from './position.ts';
import type { Position } from './position.ts';
import { numbersOfSegments, openSegment } from './segment-files.ts';
import type { SegmentsPlace } from './segment-files.ts';
import { walkSegment } from './walk.ts';
import type { Found } from './walk.ts';

/** What stands in the log from a position on, chunk by chunk. A segment that is missing shows by the lines that are. */
export function* walkLog(
  where: SegmentsPlace,
  from: Pick<Position, 'segment' | 'byte'>,
  to?: Position,
): Generator<readonly Found[]> {
  for (const segment of isBefore(LOG_START, from) ? numbersOfSegments(where) : inOrderOfLines(where)) {
    if (segment < from.segment || (to && segment > to.segment)) continue;
    const start = segment === from.segment ? from.byte : 0;
    const end = to && segment === to.segment ? to.byte : undefined;
    if (end === undefined || start < end) yield* walkFile(where, segment, start, end);
  }
}

/** Segments in the order of their first lines: that of their names, unless somebody swapped files. */
function inOrderOfLines(where: SegmentsPlace): readonly number[] {
  let last = 0;
  const firsts = numbersOfSegments(where).map((segment) => {
    last = firstLine(where, segment) ?? last;
    return { segment, first: last };
  });
  return firsts.toSorted((left, right) => left.first - right.first).map(({ segment }) => segment);
}

function firstLine(where: SegmentsPlace, segment: number): number | undefined {
  for (const found of walkFile(where, segment, 0, undefined)) {
    const line = found.find((one) => one.kind === 'line');
    if (line) return line.meta.n;
  }
  return undefined;
}

function* walkFile(
  where: SegmentsPlace,
  segment: number,
  from: number,
  to: number | undefined,
): Generator<readonly Found[]> {
  // A handle of its own: it is read while others have their turn.
  const file = openSegment(where, segment);
  if (!file) return;
  try {
    yield* walkSegment(file, where.store, { segment, from, to });
  } finally {
    file.close();
  }
}
