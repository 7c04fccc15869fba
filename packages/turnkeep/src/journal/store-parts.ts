import { Damaged } from './damaged.ts';
import type { FileSystem } from './file-system.ts';
import { Filters } from './filters.ts';
import { FoldKeeper } from './fold-keeper.ts';
import { IndexState } from './index-state.ts';
import { LAYOUT } from './layout.ts';
import type { SegmentsPlace } from './segment-files.ts';
import { Segments } from './segments.ts';
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
}

export function storeParts(fs: FileSystem, directory: string, store: string, settings: JournalSettings): StoreParts {
  const index = new IndexState();
  const segmentsDirectory = `${directory}/${LAYOUT.segments}`;
  const archivesDirectory = `${directory}/${LAYOUT.archives}`;
  const segments = new Segments({ fs, segmentsDirectory, archivesDirectory, store });
  return {
    fs,
    directory,
    segmentsDirectory,
    archivesDirectory,
    store,
    settings,
    index,
    folds: new FoldKeeper(fs, directory, store, index, settings),
    segments,
    damaged: new Damaged(fs, directory),
    filters: new Filters(fs, directory, store, segments),
  };
}
