import { applyLine, changeOfLine } from './apply.ts';
import { doubtsOf } from './doubts.ts';
import type { Doubt } from './doubts.ts';
import type { DurableMark } from './durable-mark.ts';
import type { Position } from './position.ts';
import type { StoreParts } from '../store-parts.ts';
import { Tail } from './tail.ts';
import type { Damage, Unfinished } from './tail.ts';
import { walkLog } from './walk-log.ts';

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
  /** Nothing from a line with a higher number on is taken in. */
  readonly lastLine?: number | undefined;
  /** Called after each chunk; folds what grew too large. */
  readonly onChunk?: (() => Promise<void>) | undefined;
}

/** Brings the lines from a position on into the index, and what is lost of them into the fold's doubts. */
export async function replay(parts: StoreParts, options: ReplayOptions): Promise<Replayed> {
  const { folds, segments } = parts;
  let position = options.from;
  const known = folds.state.doubts;
  const adopted = new Set<number>();
  const tail = new Tail(options.from, (line) => {
    const { segment, byte, length, next, meta } = line;
    applyLine(parts.index, changeOfLine(meta), { segment, byte, length });
    position = { segment, byte: next, n: meta.n };
    if (known.some(({ from, to }) => meta.n >= from && meta.n <= to)) adopted.add(meta.n);
    const { recent } = parts.index;
    recent.position = position;
    recent.commits += 1;
    recent.bytes += length;
  });
  // A fold must never be beyond a loss that it does not know of.
  const noteDoubts = () => {
    const found = doubtsOf(tail.damages, folds.state.accepted, (damage) => segments.placeWithLine(damage));
    folds.setDoubts([...known.filter((doubt) => !isSettled(doubt, found, adopted)), ...found]);
  };
  const { lastLine = Infinity } = options;
  for (const found of walkLog(parts, options.from, options.to)) {
    const beyond = found.findIndex((one) => one.kind === 'line' && one.meta.n > lastLine);
    for (const one of beyond < 0 ? found : found.slice(0, beyond)) tail.push(one);
    noteDoubts();
    if (options.onChunk) await options.onChunk();
    if (beyond >= 0) break;
  }
  const unfinished = tail.finish(options.mark);
  noteDoubts();
  return { position, damages: tail.damages, unfinished };
}

/** True where the lost lines have come back, or are told anew. */
function isSettled({ from, to }: Doubt, found: readonly Doubt[], adopted: ReadonlySet<number>): boolean {
  if (found.some((other) => other.from <= to && other.to >= from)) return true;
  return [...adopted].filter((n) => n >= from && n <= to).length === to - from + 1;
}
