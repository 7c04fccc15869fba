import { TurnkeepError } from '../../core/errors.ts';
import type { Tier } from '../../core/log.ts';
import { ArchiveFile } from './archive-file.ts';
import type { SegmentFile } from './archive-file.ts';
import { readCommit } from './commit-line.ts';
import type { ReadCommit } from './commit-line.ts';
import type { JournalFile } from '../files/file-system.ts';
import { readFrame } from './frame.ts';
import type { Flaw, Frame } from './frame.ts';
import { segmentName } from '../files/layout.ts';
import type { Place } from './place.ts';
import { openSegment } from './segment-files.ts';
import type { SegmentsPlace } from './segment-files.ts';

/** Descriptors that are kept at a time; of archives beyond them it is kept what is where in them. */
const OPEN_FILES = 16;
const KNOWN_ARCHIVES = 64;
const CACHED_BYTES = 4_194_304;

interface CachedCommit {
  readonly commit: ReadCommit;
  readonly bytes: number;
}

/** Reads lines of the segments by their place, each digest checked. */
export class Segments {
  readonly #where: SegmentsPlace;
  /** How the meta of each line of this store begins. */
  readonly #own: Buffer;
  readonly #files = new Map<number, SegmentFile>();
  /** Archives that are closed. */
  readonly #known = new Map<number, ArchiveFile>();
  readonly #commits = new Map<string, CachedCommit>();
  #cachedBytes = 0;

  constructor(where: SegmentsPlace) {
    this.#where = where;
    this.#own = Buffer.from(`{"store":${JSON.stringify(where.store)},`);
  }

  /** The commit at a place as its line has it, words that an edit took included. `corrupt` where it is not whole. */
  commit(place: Place): ReadCommit {
    const id = `${place.segment}:${place.byte}`;
    const cached = this.#commits.get(id);
    if (cached) return cached.commit;
    const commit = readCommit(this.frame(place));
    if (!commit) throw corruptAt(placeName(place), 'the line holds no commit');
    this.#cache(id, commit, place.length);
    return commit;
  }

  /** The line at a place, its digests checked. `corrupt` where it is not whole. */
  frame(place: Place): Frame {
    const frame = this.#read(place);
    if (!('reason' in frame)) return frame;
    // The writer of another process may have put a file in the place of the one that is open: lines are added to that.
    this.#letGo(place.segment);
    const again = this.#read(place);
    if (!('reason' in again)) return again;
    throw corruptAt(this.placeWithLine(place), this.file(place.segment)?.flawAt(place.byte) ?? again.reason);
  }

  #read(place: Place): Frame | Flaw {
    const file = this.file(place.segment);
    if (!file) throw corruptAt(placeName(place), 'the segment is missing');
    const bytes = Buffer.allocUnsafe(place.length);
    const filled = file.read(bytes, place.byte);
    const frame = readFrame(bytes, 0, filled);
    const isOurs = 'reason' in frame || frame.meta.subarray(0, this.#own.length).equals(this.#own);
    return isOurs ? frame : { reason: 'it is a line of another store' };
  }

  /** True for the meta of the line of this store with a number. */
  hasNumber(meta: Buffer, n: number): boolean {
    const start = `"n":${n},`;
    return meta.toString('latin1', this.#own.length, this.#own.length + start.length) === start;
  }

  /** Where the line at a place lies. */
  tier({ segment, byte }: Pick<Place, 'segment' | 'byte'>): Tier {
    return this.file(segment)?.tierAt(byte) ?? 'hot';
  }

  /** Where something stands, for a person: file, byte and line. */
  placeWithLine({ segment, byte }: Pick<Place, 'segment' | 'byte'>): string {
    const file = this.file(segment);
    const place = placeName({ segment, byte });
    return file ? `${place}, line ${lineAt(file, byte)}` : place;
  }

  /** A segment open for reading; `undefined` where it is missing. */
  file(segment: number): SegmentFile | undefined {
    const open = this.#files.get(segment);
    if (open) return open;
    const file = openSegment(this.#where, segment, this.#known.get(segment));
    this.#known.delete(segment);
    if (!file) return undefined;
    this.#files.set(segment, file);
    for (const [oldest, old] of this.#files) {
      if (this.#files.size <= OPEN_FILES) break;
      this.#letGo(oldest);
      if (old instanceof ArchiveFile) this.#known.set(oldest, old);
    }
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_ARCHIVES) break;
      this.#known.delete(oldest);
    }
    return file;
  }

  #letGo(segment: number): void {
    this.#files.get(segment)?.close();
    this.#files.delete(segment);
  }

  /** Lets go of all files and of what was read from them: they may be others now. */
  forget(): void {
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
    this.#known.clear();
    this.#commits.clear();
    this.#cachedBytes = 0;
  }

  #cache(id: string, commit: ReadCommit, bytes: number): void {
    if (bytes > CACHED_BYTES / 8) return;
    this.#commits.set(id, { commit, bytes });
    this.#cachedBytes += bytes;
    for (const [oldest, cached] of this.#commits) {
      if (this.#cachedBytes <= CACHED_BYTES) return;
      this.#commits.delete(oldest);
      this.#cachedBytes -= cached.bytes;
    }
  }
}

function lineAt(file: JournalFile, byte: number): number {
  const chunk = Buffer.allocUnsafe(1_048_576);
  let line = 1;
  for (let at = 0; at < byte;) {
    const filled = file.read(chunk, at);
    if (filled === 0) break;
    const end = Math.min(filled, byte - at);
    for (let found = chunk.indexOf(0x0a); found >= 0 && found < end; found = chunk.indexOf(0x0a, found + 1)) line += 1;
    at += filled;
  }
  return line;
}

export function placeName(place: Pick<Place, 'segment' | 'byte'>): string {
  return `segments/${segmentName(place.segment)}, byte ${place.byte}`;
}

export function corruptAt(place: string, reason: string): TurnkeepError<'corrupt'> {
  return new TurnkeepError('corrupt', { place, reason });
}
