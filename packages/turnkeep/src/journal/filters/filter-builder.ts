import type { Sha256 } from '../../core/digest.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { LogRecord } from '../../core/log.ts';
import { searchTexts } from '../../core/search-text.ts';
import { logOf } from '../log/commit-line.ts';
import type { FilledStretch } from './filter-file.ts';
import { sealAt } from './filters.ts';
import type { Gap } from './filters.ts';
import { pagesOf } from './gram-pages.ts';
import { addGrams, GRAM_UNITS, GramSet } from './grams.ts';
import type { Position } from '../log/position.ts';
import { walkLog } from '../log/walk-log.ts';
import type { SegmentsPlace } from '../log/segment-files.ts';
import type { Segments } from '../log/segments.ts';
import type { Found } from '../log/walk.ts';

/** Text between two turns of others, in UTF-16 units: about a millisecond. */
const BREATH_UNITS = 16_384;

/** What filters are made of. */
export interface FilterPlace extends SegmentsPlace {
  readonly segments: Segments;
  /** Lines that have a filter in common, by their bytes. */
  readonly filterBytes: number;
}

export interface Building {
  readonly sha256: Sha256;
  /** Lets others have their turn. */
  readonly breathe: () => Promise<void>;
}

/**
 * Makes the filters of a gap, stretch by stretch. What is left at its end and fills none belongs to the next gap, unless
 * a stretch follows that is there already.
 */
export async function* fillGap(
  place: FilterPlace,
  gap: Gap,
  { sha256, breathe }: Building,
): AsyncGenerator<FilledStretch> {
  const stretch = new StretchBuilder(place, gap.from, sha256);
  let units = 0;
  for (const found of walkLog(place, gap.from, gap.to)) {
    for (const one of found) {
      for (const piece of piecesOf(stretch.read(one))) {
        stretch.add(piece);
        units += piece.length;
        if (units < BREATH_UNITS) continue;
        units = 0;
        await breathe();
      }
      stretch.endLine(one);
      if (stretch.isFull) yield stretch.end();
    }
    await breathe();
  }
  if (gap.isBounded && stretch.isBegun) yield stretch.end(gap.to);
}

/** Long texts in pieces that have all grams of the text. */
function* piecesOf(texts: readonly string[]): Generator<string> {
  for (const text of texts) {
    for (let at = 0; at < text.length; at += BREATH_UNITS) yield text.slice(at, at + BREATH_UNITS + GRAM_UNITS);
  }
}

/** A sound line, and where the next one begins. */
interface Last {
  readonly position: Position;
  readonly byte: number;
}

class StretchBuilder {
  readonly #place: FilterPlace;
  readonly #sha256: Sha256;
  readonly #grams = new GramSet();
  #start: Position;
  #read = new Set<number>();
  #last: Last | undefined;
  #bytes = 0;
  isFull = false;

  constructor(place: FilterPlace, start: Position, sha256: Sha256) {
    this.#place = place;
    this.#start = start;
    this.#sha256 = sha256;
  }

  get isBegun(): boolean {
    return this.#last !== undefined;
  }

  /** The texts of a line; none where they cannot be read: the stretch does not know then what the line says. */
  read(found: Found): readonly string[] {
    if (found.kind === 'gap' || !found.words) return [];
    const log = logOf(found.meta, found.words);
    const texts = log ? textsOf(log, this.#sha256) : [];
    if (texts) this.#read.add(found.meta.n);
    return texts ?? [];
  }

  add(text: string): void {
    addGrams(text, this.#grams);
  }

  /** The texts of a line were added. A stretch can end behind a sound line only. */
  endLine(found: Found): void {
    this.#bytes += found.length;
    if (found.kind === 'gap' || !found.words) return;
    const { segment, byte, next, meta } = found;
    if (meta.n <= (this.#last?.position.n ?? this.#start.n)) return;
    this.#last = { position: { segment, byte: next, n: meta.n }, byte };
    this.isFull = this.#bytes >= this.#place.filterBytes;
  }

  /** The stretch up to the last sound line, or up to where the next one begins; a new one begins behind it. */
  end(upTo?: Position): FilledStretch {
    const { position, byte } = this.#last as Last; // asked for first: `isBegun`, `isFull`
    const start = this.#start;
    const end = upTo ?? position;
    const unreadable: number[] = [];
    for (let n = start.n + 1; n <= end.n; n++) if (!this.#read.has(n)) unreadable.push(n);
    const seal = sealAt(this.#place.segments, position.segment, byte) ?? '';
    const pages = pagesOf(this.#grams);
    this.#begin(end);
    return { start, end, last: { segment: position.segment, byte, seal }, unreadable, pages };
  }

  #begin(start: Position): void {
    this.#start = start;
    this.#grams.clear();
    this.#read = new Set();
    this.#last = undefined;
    this.#bytes = 0;
    this.isFull = false;
  }
}

/** The texts of a commit; `undefined` where one of them cannot be read: nobody knows what it says. */
function textsOf(log: LogRecord, sha256: Sha256): readonly string[] | undefined {
  try {
    const texts = searchTexts(log, sha256).map(({ text }) => text);
    return texts.every((text) => text !== null) ? texts : undefined;
  } catch (error) {
    if (isTurnkeepError(error, 'corrupt')) return undefined;
    throw error;
  }
}
