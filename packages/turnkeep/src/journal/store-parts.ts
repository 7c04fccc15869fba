import type { Sha256 } from '../core/digest.ts';
import { sha256 as systemSha256 } from '../platform/hash.ts';
import { BackgroundHere } from './upkeep/background-here.ts';
import { BackgroundThread } from './upkeep/background-thread.ts';
import type { Background } from './upkeep/background.ts';
import { Damaged } from './damaged.ts';
import { realFileSystem } from './files/file-system.ts';
import type { FileSystem } from './files/file-system.ts';
import { Filters } from './filters/filters.ts';
import { FoldKeeper } from './upkeep/fold-keeper.ts';
import { heldBy } from './held.ts';
import { IndexState } from './index/index-state.ts';
import { LAYOUT } from './files/layout.ts';
import type { Lock } from './lock.ts';
import type { SegmentsPlace } from './log/segment-files.ts';
import { Segments } from './log/segments.ts';
import type { JournalSettings } from './settings.ts';

/** What an open journal is made of. */
export interface StoreParts extends SegmentsPlace {
  readonly directory: string;
  readonly settings: JournalSettings;
  readonly index: IndexState;
  readonly folds: FoldKeeper;
  readonly segments: Segments;
  readonly damaged: Damaged;
  readonly filters: Filters;
  readonly background: Background;
}

/** Which journal, and what it is read and written with. */
export interface StorePlace {
  readonly fs: FileSystem;
  readonly directory: string;
  readonly store: string;
  readonly settings: JournalSettings;
  readonly sha256: Sha256;
  /** The writer's: nothing is changed without it. */
  readonly lock?: Lock | undefined;
}

export function storeParts(place: StorePlace): StoreParts {
  const { directory, store, settings, lock } = place;
  const fs = lock ? heldBy(lock, place.fs) : place.fs;
  const segmentsDirectory = `${directory}/${LAYOUT.segments}`;
  const archivesDirectory = `${directory}/${LAYOUT.archives}`;
  const where = { fs, segmentsDirectory, archivesDirectory, store };
  const index = new IndexState();
  const segments = new Segments(where);
  const background = backgroundOf(place, where);
  return {
    ...where,
    directory,
    settings,
    index,
    folds: new FoldKeeper({ fs, directory, store, index, settings, background, lock }),
    segments,
    damaged: new Damaged(fs, directory),
    filters: new Filters(fs, directory, store, segments),
    background,
  };
}

/** A thread has the system's files and its SHA-256; what somebody brings instead is used here. */
function backgroundOf({ fs, directory, store, settings, sha256, lock }: StorePlace, where: SegmentsPlace): Background {
  const { filterBytes } = settings;
  const here = new BackgroundHere({ ...where, directory, filterBytes }, sha256);
  const isSystem = fs === realFileSystem && sha256 === systemSha256;
  return isSystem ? new BackgroundThread({ directory, store, filterBytes, lock: lock?.name }, here) : here;
}
