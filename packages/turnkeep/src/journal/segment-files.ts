import { ArchiveFile, plainSegment } from './archive-file.ts';
import type { SegmentFile } from './archive-file.ts';
import { openIfThere } from './files.ts';
import { archiveName, archiveNumbers, segmentName, segmentNumbers, TEMPORARY } from './layout.ts';
import type { FileSystem } from './file-system.ts';

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

/** A segment open for reading, out of its archive where it has a sound one; `undefined` where it is missing. */
export function openSegment(where: SegmentsPlace, segment: number): SegmentFile | undefined {
  const archive = openArchive(where, segment);
  if (archive instanceof ArchiveFile) return archive;
  const file = openIfThere(where.fs, `${where.segmentsDirectory}/${segmentName(segment)}`);
  if (file) return plainSegment(file);
  // The writer of another process may have archived it between the two looks.
  const since = openArchive(where, segment);
  return since instanceof ArchiveFile ? since : undefined;
}

/** The archive of a segment, or why what stands there is none; `undefined` where nothing does. */
export function openArchive(
  { fs, archivesDirectory, store }: SegmentsPlace,
  segment: number,
): ArchiveFile | string | undefined {
  return ArchiveFile.open(fs, `${archivesDirectory}/${archiveName(segment)}`, { store, segment });
}

/** True where a segment is read out of its archive: nothing is ever added to it. */
export function isArchived(where: SegmentsPlace, segment: number): boolean {
  const archive = openArchive(where, segment);
  if (!(archive instanceof ArchiveFile)) return false;
  archive.close();
  return true;
}

/**
 * Removes what a crash left behind an archiving: the segment beside its archive, and files that were not finished. The
 * archive's name may never have reached the disk: it does before the segment goes.
 */
export async function sweepArchives(where: SegmentsPlace): Promise<void> {
  const { fs, archivesDirectory, segmentsDirectory } = where;
  const names = fs.list(archivesDirectory) ?? [];
  for (const name of names) if (name.endsWith(TEMPORARY)) fs.remove(`${archivesDirectory}/${name}`);
  const plain = new Set(segmentNumbers(fs.list(segmentsDirectory) ?? []));
  const archived = archiveNumbers(names).filter((segment) => plain.has(segment) && isArchived(where, segment));
  if (archived.length === 0) return;
  await fs.syncDirectory(archivesDirectory);
  for (const segment of archived) fs.remove(`${segmentsDirectory}/${segmentName(segment)}`);
}
