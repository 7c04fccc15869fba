import { applyLine, changeOfLine } from './apply.ts';
import { doubtsOf } from './doubts.ts';
import type { DurableMark } from './durable-mark.ts';
import { LOG_START, isBefore } from './position.ts';
import type { Position } from './position.ts';
import { numbersOfSegments, openSegment } from './segment-files.ts';
import type { StoreParts } from './store-parts.ts';
import { Tail } from './tail.ts';
import type { Damage, Unfinished } from './tail.ts';
import { walkSegment } from './walk.ts';
import type { Found } from './walk.ts';

export interface Replayed {
  /** The end of the last line that counts. */
  readonly position: Position;
  readonly damages: readonly Damage[];
  readonly unfinished: Unfinished | undefined;
}

export interface ReplayOptions {
  readonly from: Position;
  readonly mark: DurableMark | undefined;
  /** Nothing beyond it is looked at. */
  readonly to?: Position | undefined;
  /** Called after each chunk; folds what grew too large. */
  readonly onChunk?: (() => Promise<void>) | undefined;
}

/** Brings the lines from a position on into the index, and what is lost of them into the fold's doubts. */
export async function replay(parts: StoreParts, options: ReplayOptions): Promise<Replayed> {
  const { folds, segments } = parts;
  let position = options.from;
  const earlier = folds.state.doubts.filter(({ to }) => to <= options.from.n);
  const tail = new Tail(options.from, (line) => {
    const { segment, byte, length, next, meta } = line;
    applyLine(parts.index, changeOfLine(meta), { segment, byte, length });
    position = { segment, byte: next, n: meta.n };
    const { recent } = parts.index;
    recent.position = position;
    recent.commits += 1;
    recent.bytes += length;
  });
  // A fold must never be beyond a loss that it does not know of.
  const noteDoubts = () => {
    const found = doubtsOf(tail.damages, folds.state.accepted, (damage) => segments.placeWithLine(damage));
    folds.setDoubts([...earlier, ...found]);
  };
  for (const found of walkLog(parts, options.from, options.to)) {
    for (const one of found) tail.push(one);
    noteDoubts();
    if (options.onChunk) await options.onChunk();
  }
  const unfinished = tail.finish(options.mark);
  noteDoubts();
  return { position, damages: tail.damages, unfinished };
}

/** What stands in the log from a position on, chunk by chunk. A segment that is missing shows by the lines that are. */
export function* walkLog(
  parts: StoreParts,
  from: Pick<Position, 'segment' | 'byte'>,
  to?: Position,
): Generator<readonly Found[]> {
  for (const segment of isBefore(LOG_START, from) ? numbersOfSegments(parts) : inOrderOfLines(parts)) {
    if (segment < from.segment || (to && segment > to.segment)) continue;
    const start = segment === from.segment ? from.byte : 0;
    const end = to && segment === to.segment ? to.byte : undefined;
    if (end === undefined || start < end) yield* walkFile(parts, segment, start, end);
  }
}

/** Segments in the order of their first lines: that of their names, unless somebody swapped files. */
function inOrderOfLines(parts: StoreParts): readonly number[] {
  let last = 0;
  const firsts = numbersOfSegments(parts).map((segment) => {
    last = firstLine(parts, segment) ?? last;
    return { segment, first: last };
  });
  return firsts.toSorted((left, right) => left.first - right.first).map(({ segment }) => segment);
}

function firstLine(parts: StoreParts, segment: number): number | undefined {
  for (const found of walkFile(parts, segment, 0, undefined)) {
    const line = found.find((one) => one.kind === 'line');
    if (line) return line.meta.n;
  }
  return undefined;
}

function* walkFile(
  parts: StoreParts,
  segment: number,
  from: number,
  to: number | undefined,
): Generator<readonly Found[]> {
  // A handle of its own: it is read while others have their turn.
  const file = openSegment(parts, segment);
  if (!file) return;
  try {
    yield* walkSegment(file, parts.store, { segment, from, to });
  } finally {
    file.close();
  }
}
