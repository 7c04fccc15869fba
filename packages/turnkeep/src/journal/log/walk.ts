import { readMeta } from './commit-line.ts';
import type { LineMeta } from './commit-line.ts';
import type { JournalFile } from '../files/file-system.ts';
import { lineEnd, readLine } from './frame.ts';
import { namesIn } from './names.ts';

/** A stretch of a segment. */
interface Stretch {
  readonly segment: number;
  readonly byte: number;
  readonly length: number;
  /** Where the next line begins. */
  readonly next: number;
}

/** Why bytes are no whole line. */
export interface Flaw {
  readonly reason: string;
  /** False where the file ends before the line does. */
  readonly ended: boolean;
}

/** A line of this store. */
export interface FoundLine extends Stretch {
  readonly kind: 'line';
  readonly meta: LineMeta;
  /** Absent where they are damaged. */
  readonly words?: Buffer | undefined;
  /** Set where the words are damaged; what the line says apart from them is whole. */
  readonly flaw?: Flaw | undefined;
}

/** Bytes that are no line of this store. */
export interface FoundGap extends Stretch {
  readonly kind: 'gap';
  readonly flaw: Flaw;
  /** The conversations that the line in it touched; none where that is not certain. */
  readonly names: readonly string[];
}

export type Found = FoundLine | FoundGap;

const CHUNK_BYTES = 1_048_576;

export interface WalkRange {
  readonly segment: number;
  readonly from: number;
  /** The end of what is looked at; the end of the file when absent. */
  readonly to?: number | undefined;
}

/**
 * Reads a segment line by line, split at line feeds and nothing else, and answers what stands in each: usually one line.
 * Glued lines are taken apart, what is left over is a gap. After each chunk that was read it yields what it found, so
 * that a caller can let others have their turn.
 */
export function* walkSegment(file: JournalFile, store: string, range: WalkRange): Generator<readonly Found[]> {
  const { segment } = range;
  const end = range.to ?? file.sizeBytes();
  let rest = Buffer.alloc(0);
  let restAt = range.from;
  for (let at = range.from; at < end;) {
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(CHUNK_BYTES, rest.length), end - at));
    const filled = file.read(chunk, at);
    if (filled === 0) break;
    at += filled;
    const bytes = rest.length === 0 ? chunk.subarray(0, filled) : Buffer.concat([rest, chunk.subarray(0, filled)]);
    const found: Found[] = [];
    let start = 0;
    for (let feed = lineEnd(bytes, start); feed >= 0; feed = lineEnd(bytes, start)) {
      found.push(...partsOf(bytes, start, feed, { segment, base: restAt, store, ended: true }));
      start = feed + 1;
    }
    rest = bytes.subarray(start);
    restAt += start;
    yield found;
  }
  if (rest.length > 0) yield partsOf(rest, 0, rest.length, { segment, base: restAt, store, ended: false });
}

interface LinePlace {
  readonly segment: number;
  /** The byte of the segment at which the buffer begins. */
  readonly base: number;
  readonly store: string;
  readonly ended: boolean;
}

function partsOf(bytes: Buffer, start: number, end: number, place: LinePlace): readonly Found[] {
  const { segment, base, ended, store } = place;
  return readLine(bytes, start, end).map((part): Found => {
    const next = base + (part.end === end && ended ? end + 1 : part.end);
    const stretch = { segment, byte: base + part.start, length: part.end - part.start, next };
    const flaw = 'reason' in part ? { reason: part.reason, ended: ended || part.end < end } : undefined;
    const sound = 'meta' in part ? part.meta : part.soundMeta;
    const meta = sound && readMeta(sound);
    if (meta?.store === store)
      return { kind: 'line', ...stretch, meta, words: 'words' in part ? part.words : undefined, flaw };
    if (flaw && !meta) return { kind: 'gap', ...stretch, flaw, names: namesIn(bytes, part.start, part.end, store) };
    const reason = meta ? 'it is a line of another store' : 'there is a frame around it, and no line in it';
    return { kind: 'gap', ...stretch, flaw: { reason, ended: true }, names: [] };
  });
}
