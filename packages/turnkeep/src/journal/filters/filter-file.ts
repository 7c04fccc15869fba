import { crc32 } from 'node:zlib';
import type { JournalFile } from '../files/file-system.ts';
import { PAGE_BYTES } from './gram-pages.ts';
import type { Position } from '../log/position.ts';

// A filter file holds what a search looks at before it looks at the log: of stretches of the log, which grams stand in
// them. docs/formats/journal.md says how.

const START = 'turnkeep words 1';
const FOOTER_BYTES = 32;
const FOOTER_START = 'TkWords1';

/** A stretch of the log, and which grams its words have. */
export interface Stretch {
  /** Where it begins and ends; its lines have the numbers after the first `n` up to the second. */
  readonly start: Position;
  readonly end: Position;
  /** Its last line, by its place and the digests that stand there: the log that it was made of. */
  readonly last: { readonly segment: number; readonly byte: number; readonly seal: string };
  /** Numbers of lines whose words could not be read: they may say anything. */
  readonly unreadable: readonly number[];
  /** Where its first page stands in the file, and the checksum of each. */
  readonly at: number;
  readonly pages: readonly number[];
}

/** A stretch with its pages. */
export interface FilledStretch extends Omit<Stretch, 'at' | 'pages'> {
  readonly pages: readonly Buffer[];
}

/** Whose file it is: one that stands in another's place is found out. */
export interface FilterFileId {
  readonly store: string;
  readonly name: string;
}

/** What a filter file says of itself. */
export interface FilterDirectory extends FilterFileId {
  readonly stretches: readonly Stretch[];
}

/** Writes a file, which is still to be synced; answers what a reader will find in it. */
export function writeFilters(file: JournalFile, id: FilterFileId, filled: readonly FilledStretch[]): FilterDirectory {
  let at = 0;
  const put = (bytes: Buffer) => {
    file.write(bytes, at);
    at += bytes.length;
  };
  put(Buffer.from(START, 'latin1'));
  const stretches = filled.map(({ pages, ...rest }): Stretch => {
    const placed = { ...rest, at, pages: pages.map((page) => crc32(page)) };
    put(Buffer.concat(pages));
    return placed;
  });
  const directory = { ...id, stretches };
  const bytes = Buffer.from(JSON.stringify(directory), 'utf8');
  const footer = Buffer.alloc(FOOTER_BYTES);
  footer.write(FOOTER_START, 'latin1');
  footer.writeUIntLE(at, 8, 6);
  footer.writeUInt32LE(bytes.length, 14);
  footer.writeUInt32LE(crc32(bytes), 18);
  footer.writeUInt32LE(crc32(footer.subarray(0, FOOTER_BYTES - 4)), FOOTER_BYTES - 4);
  put(bytes);
  put(footer);
  return directory;
}

/** The directory in a file, or why it cannot be used, as a text. */
export function directoryIn(file: JournalFile, { store, name }: FilterFileId): FilterDirectory | string {
  const size = file.sizeBytes();
  const start = Buffer.alloc(START.length);
  const footer = Buffer.alloc(FOOTER_BYTES);
  file.read(start, 0);
  if (start.toString('latin1') !== START) return 'it does not begin as a filter does';
  if (size < FOOTER_BYTES || file.read(footer, size - FOOTER_BYTES) < FOOTER_BYTES) return 'it has no end';
  const isWhole = crc32(footer.subarray(0, FOOTER_BYTES - 4)) === footer.readUInt32LE(FOOTER_BYTES - 4);
  if (!isWhole || footer.toString('latin1', 0, FOOTER_START.length) !== FOOTER_START) return 'its end is damaged';
  const [at, length] = [footer.readUIntLE(8, 6), footer.readUInt32LE(14)];
  if (at + length !== size - FOOTER_BYTES) return 'its end leads nowhere';
  const bytes = Buffer.allocUnsafe(length);
  file.read(bytes, at);
  if (crc32(bytes) !== footer.readUInt32LE(18)) return 'its directory does not match its checksum';
  const directory = JSON.parse(bytes.toString('utf8')) as FilterDirectory; // its checksum was right: we wrote it
  return directory.store === store && directory.name === name ? directory : 'it is another file';
}

/** A page of a stretch; `undefined` where it does not match its checksum. */
export function readPage(file: JournalFile, { at, pages }: Stretch, page: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(PAGE_BYTES);
  const filled = file.read(bytes, at + page * PAGE_BYTES);
  return filled === PAGE_BYTES && crc32(bytes) === pages[page] ? bytes : undefined;
}
