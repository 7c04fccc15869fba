import type { Sha256 } from '../../core/digest.ts';
import { othersTurn } from '../../platform/timers.ts';
import type { Background, NewRun, Removed, RunSlice } from './background.ts';
import { BlockCache } from '../index/block-cache.ts';
import { fillGap } from '../filters/filter-builder.ts';
import type { FilterPlace } from '../filters/filter-builder.ts';
import type { FilledStretch } from '../filters/filter-file.ts';
import type { Gap } from '../filters/filters.ts';
import { putFile } from '../files/files.ts';
import { LAYOUT } from '../files/layout.ts';
import { Merge, sourceOf } from '../index/merge.ts';
import type { Source } from '../index/merge.ts';
import type { BlockEntry } from '../index/run-block.ts';
import { RunReader } from '../index/run-reader.ts';
import { RunWriter } from '../index/run-writer.ts';
import { Segments } from '../log/segments.ts';
import type { SegmentsPlace } from '../log/segment-files.ts';
import { IndexDamage } from '../store-error.ts';

/** Entries between two turns of others: two or three milliseconds. */
const SLICE_ENTRIES = 1_000;

/** What the work is done on. */
export interface BackgroundPlace extends SegmentsPlace {
  readonly directory: string;
  readonly filterBytes: number;
}

/** Does the work in the thread that it is called in, in slices, between which others have their turn. */
export class BackgroundHere implements Background {
  readonly #place: BackgroundPlace;
  readonly #sha256: Sha256;
  /** Blocks that are read once need not be kept. */
  readonly #cache = new BlockCache(0);

  constructor(place: BackgroundPlace, sha256: Sha256) {
    this.#place = place;
    this.#sha256 = sha256;
  }

  async writeRun({ name, keys }: NewRun, slices: Iterable<RunSlice> | AsyncIterable<RunSlice>): Promise<void> {
    const { fs, store } = this.#place;
    await putFile(fs, `${this.#runs}/${name}`, async (file) => {
      const writer = new RunWriter(file, { store, name }, keys);
      for await (const slice of slices) {
        for (const [at, key] of slice.keys.entries()) writer.add(key, slice.values[at] ?? null);
        await othersTurn();
      }
      writer.finish();
    });
    await fs.syncDirectory(this.#runs);
  }

  async mergeRuns(run: NewRun, inputs: readonly string[], removed: Removed): Promise<void> {
    const runs: RunReader[] = [];
    try {
      for (const name of inputs) runs.push(this.#open(name));
      const merged = new Merge<BlockEntry>(
        runs.map((input) => sourceOf(entriesOf(input))),
        false,
      );
      await this.writeRun(run, slicesOf(merged, removed));
    } finally {
      for (const input of runs) input.close();
    }
  }

  async fillGap(gap: Gap, most: number): Promise<readonly FilledStretch[]> {
    const segments = new Segments(this.#place);
    const place: FilterPlace = { ...this.#place, segments };
    const filled: FilledStretch[] = [];
    try {
      for await (const stretch of fillGap(place, gap, { sha256: this.#sha256, breathe: othersTurn })) {
        filled.push(stretch);
        if (filled.length >= most) break;
      }
      return filled;
    } finally {
      segments.forget();
    }
  }

  async close(): Promise<void> {
    // It holds nothing.
  }

  get #runs(): string {
    return `${this.#place.directory}/${LAYOUT.runs}`;
  }

  #open(name: string): RunReader {
    const { fs, store } = this.#place;
    const run = RunReader.open(fs, this.#runs, { store, name }, this.#cache);
    if (!run) throw new IndexDamage(`${LAYOUT.runs}/${name}`, 'it is missing');
    return run;
  }
}

/** The entries of a source in slices. */
export function* slicesOf(entries: Source<SliceEntry>, removed: Removed): Generator<RunSlice> {
  for (let entry = entries.next(); entry;) {
    const keys: string[] = [];
    const values: (Buffer | string | null)[] = [];
    for (; entry && keys.length < SLICE_ENTRIES; entry = entries.next()) {
      if (entry.value === null && removed === 'drop') continue;
      keys.push(entry.key);
      values.push(entry.value);
    }
    yield { keys, values };
  }
}

/** One entry of a run. */
export interface SliceEntry {
  readonly key: string;
  readonly value: Buffer | string | null;
}

function* entriesOf(run: RunReader): Generator<BlockEntry> {
  for (const block of run.all()) yield* block;
}
