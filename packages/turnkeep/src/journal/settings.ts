/** What a person may tune. Counts and sizes are lower bounds of when something is done, not promises. */
export interface JournalSettings {
  /** A fold is due after so many commits and so many bytes of lines, whichever comes last. */
  readonly foldCommits: number;
  readonly foldBytes: number;
  /** A new segment begins when the last one is this long. */
  readonly segmentBytes: number;
  /** Blocks of the index kept in memory, by their size on disk. */
  readonly cacheBytes: number;
  /** Runs of about one size that are merged into one. */
  readonly mergeRuns: number;
  /** Lines that have a filter for searches in common, by their bytes. */
  readonly filterBytes: number;
}

export const DEFAULT_SETTINGS: JournalSettings = {
  foldCommits: 64,
  foldBytes: 1_048_576,
  segmentBytes: 67_108_864,
  cacheBytes: 16_777_216,
  mergeRuns: 4,
  filterBytes: 524_288,
};
