import { LAYOUT, filterName, isFilter, isFilterOrUnfinished } from '../files/layout.ts';
import { errorCode } from '../files/file-system.ts';
import type { FileSystem, JournalFile } from '../files/file-system.ts';
import { openIfThere, putFile } from '../files/files.ts';
import { directoryIn, readPage, writeFilters } from './filter-file.ts';
import type { FilledStretch, FilterDirectory, Stretch } from './filter-file.ts';
import { FRAME_HEAD_BYTES, readHead } from '../log/frame.ts';
import { isBefore, LOG_START } from '../log/position.ts';
import type { Position } from '../log/position.ts';
import type { Segments } from '../log/segments.ts';

/** Stretches that stand in one file: so much is made anew where a word of them goes. */
export const FILE_STRETCHES = 16;

/** A stretch of the log that no filter covers; `isBounded` where one follows. */
export interface Gap {
  readonly from: Position;
  readonly to: Position;
  readonly isBounded: boolean;
}

interface Refused {
  readonly name: string;
  /** Absent where the file is sound and only superseded. */
  readonly reason?: string | undefined;
}

/** What is wrong with a file. */
export interface Damaged {
  readonly name: string;
  readonly reason: string;
}

interface Loaded {
  /** In the order of the log, none of a line that another has. */
  readonly files: readonly FilterDirectory[];
  readonly stretches: readonly (readonly [stretch: Stretch, name: string])[];
  /** What is missing between them, and where they end. */
  readonly gaps: readonly Gap[];
  readonly end: Position;
  /** Neighbours that fill a file together, if there are any. */
  readonly mergeable: readonly FilterDirectory[];
  readonly refused: readonly Refused[];
}

/**
 * The filters of a store: which stretches of the log cannot hold a text. They are derived, each for itself: a file that is
 * missing, damaged, or made of another log, is as if it had never been made, and its lines are looked at. Loaded when first
 * asked for.
 */
export class Filters {
  readonly #fs: FileSystem;
  readonly #directory: string;
  readonly #store: string;
  readonly #segments: Segments;
  #loaded: Loaded | undefined;

  constructor(fs: FileSystem, root: string, store: string, segments: Segments) {
    this.#fs = fs;
    this.#directory = `${root}/${LAYOUT.search}`;
    this.#store = store;
    this.#segments = segments;
  }

  /** Reads the files anew when they are asked for next. */
  forgetLoaded(): void {
    this.#loaded = undefined;
  }

  /** The stretch that has a line, and the name of its file. */
  at(line: number): readonly [stretch: Stretch, name: string] | undefined {
    const { stretches } = this.#load();
    let [low, high] = [0, stretches.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = stretches[middle] as Loaded['stretches'][number]; // within the array
      if (line <= found[0].start.n) high = middle - 1;
      else if (line > found[0].end.n) low = middle + 1;
      else return found;
    }
    return undefined;
  }

  /** A file of pages; `undefined` where it is gone. */
  open(name: string): JournalFile | undefined {
    return openIfThere(this.#fs, `${this.#directory}/${name}`);
  }

  /** A file turned out to be damaged: from now on it is not looked at, and `sweep` removes it. */
  refuse(name: string, reason: string): void {
    const { files, refused } = this.#load();
    const rest = files.filter((file) => file.name !== name);
    if (rest.length < files.length) this.#set(rest, [...refused, { name, reason }]);
  }

  /** What is not covered of the log up to a place, in order. */
  gaps(to: Position): readonly Gap[] {
    const { gaps, end } = this.#load();
    return to.n > end.n ? [...gaps, { from: end, to, isBounded: false }] : gaps;
  }

  /** Keeps successive stretches in a file of their own. One writer at a time. */
  async add(filled: readonly FilledStretch[]): Promise<void> {
    const added = await this.#write(filled);
    const { files, refused } = this.#load();
    this.#set(
      [...files, added],
      refused.filter(({ name }) => name !== added.name),
    );
  }

  /** Neighbours that fill a file together, if there are any. */
  get mergeable(): readonly FilterDirectory[] {
    return this.#load().mergeable;
  }

  /** Puts neighbours into one file, in the place of the first. */
  async merge(group: readonly FilterDirectory[]): Promise<void> {
    const filled: FilledStretch[] = [];
    for (const file of group) {
      const read = this.#filledOf(file);
      if (!read) return this.refuse(file.name, 'a page does not match its checksum');
      filled.push(...read);
    }
    const merged = await this.#write(filled);
    const names = new Set(group.map(({ name }) => name));
    const { files, refused } = this.#load();
    const rest = files.filter(({ name }) => !names.has(name));
    const superseded = [...names].filter((name) => name !== merged.name).map((name) => ({ name }));
    this.#set([...rest, merged], [...refused, ...superseded]);
    await this.sweep();
  }

  /** Removes the files whose stretches hold one of the places of a segment. Durable when it resolves. */
  async forget(places: ReadonlyMap<number, readonly { readonly byte: number }[]>): Promise<void> {
    const { files, refused } = this.#load();
    const holds = ({ start, end }: Stretch) =>
      [...places].some(([segment, inIt]) =>
        inIt.some(({ byte }) => !isBefore({ segment, byte }, start) && isBefore({ segment, byte }, end)),
      );
    const doomed = files.filter(({ stretches }) => stretches.some(holds));
    this.#set(
      files.filter((file) => !doomed.includes(file)),
      [...refused, ...doomed.map(({ name }) => ({ name }))],
    );
    await this.sweep();
  }

  /** Removes all files. */
  async clear(): Promise<void> {
    const { files, refused } = this.#load();
    this.#set([], [...refused, ...files.map(({ name }) => ({ name }))]);
    await this.sweep();
  }

  /** Removes what is not looked at, and answers what of it was damaged. */
  async sweep(): Promise<readonly Damaged[]> {
    const { files, refused } = this.#load();
    const kept = new Set(files.map(({ name }) => name));
    const left = (this.#fs.list(this.#directory) ?? []).filter((name) => isFilterOrUnfinished(name) && !kept.has(name));
    for (const name of left) this.#fs.remove(`${this.#directory}/${name}`);
    if (left.length > 0) await this.#fs.syncDirectory(this.#directory);
    this.#set(files, []);
    return refused.flatMap(({ name, reason }) => (reason === undefined ? [] : [{ name, reason }]));
  }

  /** True where there is something to sweep. */
  get isUnswept(): boolean {
    return this.#load().refused.length > 0;
  }

  /** Checks every file as it is on disk; yields what is wrong with each, usually nothing. */
  *check(): Generator<Damaged | undefined> {
    for (const name of (this.#fs.list(this.#directory) ?? []).filter(isFilter).sort()) {
      const file = this.open(name);
      if (!file) continue;
      try {
        yield* this.#checkFile(file, name);
      } finally {
        file.close();
      }
    }
  }

  *#checkFile(file: JournalFile, name: string): Generator<Damaged | undefined> {
    const directory = directoryIn(file, { store: this.#store, name });
    if (typeof directory === 'string') yield { name, reason: directory };
    for (const stretch of typeof directory === 'string' ? [] : directory.stretches) {
      for (const page of stretch.pages.keys())
        yield readPage(file, stretch, page) ? undefined : { name, reason: `page ${page} does not match its checksum` };
    }
  }

  async #write(filled: readonly FilledStretch[]): Promise<FilterDirectory> {
    try {
      return await this.#writeFile(filled);
    } catch (error) {
      // Nobody knows what stands there now.
      this.forgetLoaded();
      throw error;
    }
  }

  async #writeFile(filled: readonly FilledStretch[]): Promise<FilterDirectory> {
    if (!this.#fs.list(this.#directory)) {
      this.#fs.makeDirectory(this.#directory);
      await this.#fs.syncDirectory(this.#directory.slice(0, this.#directory.lastIndexOf('/')));
    }
    const name = filterName((filled[0]?.start.n ?? 0) + 1);
    const path = `${this.#directory}/${name}`;
    const directory = await putFile(this.#fs, path, (file) => writeFilters(file, { store: this.#store, name }, filled));
    await this.#fs.syncDirectory(this.#directory);
    return directory;
  }

  #filledOf({ name, stretches }: FilterDirectory): readonly FilledStretch[] | undefined {
    const file = this.open(name);
    if (!file) return undefined;
    try {
      const filled: FilledStretch[] = [];
      for (const stretch of stretches) {
        const pages = stretch.pages.map((_, page) => readPage(file, stretch, page));
        if (pages.some((page) => page === undefined)) return undefined;
        const { start, end, last, unreadable } = stretch;
        filled.push({ start, end, last, unreadable, pages: pages as readonly Buffer[] }); // each is there
      }
      return filled;
    } finally {
      file.close();
    }
  }

  #load(): Loaded {
    return (this.#loaded ??= this.#read());
  }

  #set(files: readonly FilterDirectory[], refused: readonly Refused[]): void {
    const sorted = files.toSorted((left, right) => startOf(left) - startOf(right));
    const stretches = sorted.flatMap((file) => file.stretches.map((stretch) => [stretch, file.name] as const));
    const gaps: Gap[] = [];
    let end = LOG_START;
    for (const [stretch] of stretches) {
      if (stretch.start.n > end.n) gaps.push({ from: end, to: stretch.start, isBounded: true });
      ({ end } = stretch);
    }
    this.#loaded = { files: sorted, stretches, gaps, end, mergeable: neighbours(sorted), refused };
  }

  #read(): Loaded {
    const sound: FilterDirectory[] = [];
    const refused: Refused[] = [];
    for (const name of (this.#fs.list(this.#directory) ?? []).filter(isFilterOrUnfinished)) {
      const found = isFilter(name) ? this.#readFile(name) : undefined;
      if (typeof found === 'object') sound.push(found);
      else refused.push({ name, reason: found });
    }
    // A crash may have left files beside the one that they were put into: the longer one counts.
    sound.sort((left, right) => startOf(left) - startOf(right) || right.stretches.length - left.stretches.length);
    const files: FilterDirectory[] = [];
    for (const file of sound) {
      if (startOf(file) >= (files.at(-1)?.stretches.at(-1)?.end.n ?? 0)) files.push(file);
      else refused.push({ name: file.name });
    }
    this.#set(files, refused);
    return this.#loaded as Loaded; // just set
  }

  /** The directory of a file, or why it is not looked at. */
  #readFile(name: string): FilterDirectory | string | undefined {
    try {
      const file = this.open(name);
      if (!file) return undefined;
      try {
        const directory = directoryIn(file, { store: this.#store, name });
        if (typeof directory === 'string') return directory;
        const last = directory.stretches.at(-1);
        const fits = last && sealAt(this.#segments, last.last.segment, last.last.byte) === last.last.seal;
        // Lines that were rewritten, or another log: nothing is wrong with the file.
        return fits ? directory : undefined;
      } finally {
        file.close();
      }
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      return `it cannot be read: ${errorCode(error)}`;
    }
  }
}

function neighbours(files: readonly FilterDirectory[]): readonly FilterDirectory[] {
  let group: FilterDirectory[] = [];
  for (const file of files) {
    const isShort = file.stretches.length < FILE_STRETCHES;
    const isNext = group.at(-1)?.stretches.at(-1)?.end.n === startOf(file);
    group = !isShort ? [] : isNext ? [...group, file] : [file];
    if (countOf(group) >= FILE_STRETCHES) return group;
  }
  return [];
}

function startOf({ stretches }: FilterDirectory): number {
  return stretches[0]?.start.n ?? 0;
}

function countOf(files: readonly FilterDirectory[]): number {
  return files.reduce((sum, { stretches }) => sum + stretches.length, 0);
}

/** The digests that the line at a place carries; `undefined` where none begins there. */
export function sealAt(segments: Segments, segment: number, byte: number): string | undefined {
  const bytes = Buffer.alloc(FRAME_HEAD_BYTES);
  const filled = segments.file(segment)?.read(bytes, byte) ?? 0;
  const head = readHead(bytes, 0, filled);
  return head && head.metaSha + head.wordsSha;
}
