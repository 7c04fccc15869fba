import type { FilledStretch } from '../filters/filter-file.ts';
import type { Gap } from '../filters/filters.ts';

/** Some entries of a run, in key order: `values` are JSON, `null` where the key is removed. */
export interface RunSlice {
  readonly keys: readonly string[];
  readonly values: readonly (Buffer | string | null)[];
}

/** A run that is to be written. */
export interface NewRun {
  readonly name: string;
  /** At least as many keys and conversations as come: the size of its filter. */
  readonly keys: number;
}

/** Whether a run still says which keys are removed: one that nothing lies below needs not. */
export type Removed = 'keep' | 'drop';

/**
 * Work that takes long and needs nothing but the journal's files and what it is handed; whoever asks for it sees to it that
 * the files stay as they are. A run is whole, synced and under its name when its promise resolves.
 */
export interface Background {
  /** Throws what the file system throws. */
  writeRun(run: NewRun, slices: Iterable<RunSlice>): Promise<void>;
  /** Merges runs by their names, newest first. Throws `IndexDamage` where one of them cannot be read. */
  mergeRuns(run: NewRun, inputs: readonly string[], removed: Removed): Promise<void>;
  /** The filters of the first stretches of a gap, at most so many. */
  fillGap(gap: Gap, most: number): Promise<readonly FilledStretch[]>;
  /** Only once nothing is under way. */
  close(): Promise<void>;
}
