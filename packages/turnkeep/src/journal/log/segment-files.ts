import { ArchiveFile, plainSegment } from './archive-file.ts';
import type { SegmentFile } from './archive-file.ts';
import { openIfThere } from '../files/files.ts';
import { archiveName, archiveNumbers, segmentName, segmentNumbers, TEMPORARY } from '../files/layout.ts';
import type { FileSystem, JournalFile } from '../files/file-system.ts';

/** Where segments and their archives are. */
export interface SegmentsPlace {
  readonly fs: FileSystem;
  readonly segmentsDirectory: string;
  /** Archives of segments; it comes with the first of them. */
  readonly archivesDirectory: string;
  /** The store's own number, in the manifest and in every line. */
  readonly store: string;
}

/** The numbers of all segments, archived ones too, in order. */
export function numbersOfSegments({ fs, segmentsDirectory, archivesDirectory }: SegmentsPlace): readonly number[] {
  const plain = segmentNumbers(fs.list(segmentsDirectory) ?? []);
  const archived = archiveNumbers(fs.list(archivesDirectory) ?? []);
  return [...new Set([...plain, ...archived])].sort((left, right) => left - right);
}

/**
 * A segment open for reading, `undefined` where it is missing. It stands in one of two files: in both where a crash came
 * between, and where somebody has put it back beside an archive that is damaged. The archive counts, but for the latter.
 * `known` is its archive as it was open before.
 */
export function openSegment(where: SegmentsPlace, segment: number, known?: ArchiveFile): SegmentFile | undefined {
  return bothFiles(where, segment, known, (plain, archive) => {
    if (!(archive instanceof ArchiveFile)) return plain && plainSegment(plain);
    if (!plain) return archive;
    const isPutBack = archive.flawedBlocks().length > 0 && isSameSegment(plain, archive);
    (isPutBack ? archive : plain).close();
    return isPutBack ? plainSegment(plain) : archive;
  });
}

/** Opens both files of a segment for `look`; where that throws they are closed. */
function bothFiles<Result>(
  where: SegmentsPlace,
  segment: number,
  known: ArchiveFile | undefined,
  look: (plain: JournalFile | undefined, archive: ArchiveFile | string | undefined) => Result,
): Result {
  // In this order: the writer of another process removes the one when the other is there.
  const plain = openIfThere(where.fs, `${where.segmentsDirectory}/${segmentName(segment)}`);
  let archive: ArchiveFile | string | undefined;
  try {
    archive = openArchive(where, segment, known);
    return look(plain, archive);
  } catch (error) {
    plain?.close();
    if (archive instanceof ArchiveFile) archive.close();
    throw error;
  }
}

/** The archive of a segment, or why what stands there is none; `undefined` where nothing does. */
export function openArchive(
  { fs, archivesDirectory, store }: SegmentsPlace,
  segment: number,
  known?: ArchiveFile,
): ArchiveFile | string | undefined {
  return ArchiveFile.open(fs, `${archivesDirectory}/${archiveName(segment)}`, { store, segment }, known);
}

/** True where a segment is read out of its archive: nothing is ever added to it. */
export function isArchived(where: SegmentsPlace, segment: number): boolean {
  const archive = openArchive(where, segment);
  if (!(archive instanceof ArchiveFile)) return false;
  archive.close();
  return true;
}

/**
 * Removes what a crash left behind an archiving: the segment beside its archive, where both say the same, and files that
 * were not finished. The archive's name may never have reached the disk: it does before the segment goes.
 */
export async function sweepArchives(where: SegmentsPlace): Promise<void> {
  const { fs, archivesDirectory, segmentsDirectory } = where;
  const names = fs.list(archivesDirectory) ?? [];
  for (const name of names) if (name.endsWith(TEMPORARY)) fs.remove(`${archivesDirectory}/${name}`);
  const plain = new Set(segmentNumbers(fs.list(segmentsDirectory) ?? []));
  const archived = archiveNumbers(names).filter((segment) => plain.has(segment) && saysTheSame(where, segment));
  if (archived.length === 0) return;
  await fs.syncDirectory(archivesDirectory);
  for (const segment of archived) fs.remove(`${segmentsDirectory}/${segmentName(segment)}`);
}

/** True where a segment and its archive both stand there, and the archive holds all of it. */
export function saysTheSame(where: SegmentsPlace, segment: number): boolean {
  return bothFiles(where, segment, undefined, (plain, archive) => {
    const isWhole = plain && archive instanceof ArchiveFile && archive.flawedBlocks().length === 0;
    const same = isWhole === true && isSameSegment(plain, archive);
    plain?.close();
    if (archive instanceof ArchiveFile) archive.close();
    return same;
  });
}

const COMPARED_BYTES = 1_048_576;

/** True where the file holds all bytes of the segment that its archive can still answer. */
function isSameSegment(plain: JournalFile, archive: ArchiveFile): boolean {
  const size = plain.sizeBytes();
  if (archive.sizeBytes() !== size) return false;
  const lost = archive.flawedBlocks().flatMap(({ runs }) => runs);
  const [one, other] = [Buffer.alloc(COMPARED_BYTES), Buffer.alloc(COMPARED_BYTES)];
  for (let at = 0; at < size; at += COMPARED_BYTES) {
    const filled = plain.read(one, at);
    archive.read(other, at);
    // What is lost is read as zeros.
    for (const { from, to } of lost)
      if (from < at + filled && to > at) one.fill(0, Math.max(0, from - at), Math.min(filled, to - at));
    if (!one.subarray(0, filled).equals(other.subarray(0, filled))) return false;
  }
  return true;
}
