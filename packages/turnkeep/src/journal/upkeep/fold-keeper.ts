import { compareKeys } from '../../core/backend.ts';
import { assert } from '../../core/errors.ts';
import { slicesOf } from './background-here.ts';
import type { SliceEntry } from './background-here.ts';
import type { Background } from './background.ts';
import { BlockCache } from '../index/block-cache.ts';
import { conversationPrefix, toByteKey } from '../index/byte-key.ts';
import type { Doubt } from '../log/doubts.ts';
import { discard } from '../files/files.ts';
import type { FileSystem } from '../files/file-system.ts';
import { emptyFold, readFold, writeFold } from '../index/fold-state.ts';
import type { FoldState } from '../index/fold-state.ts';
import type { IndexParts, IndexState } from '../index/index-state.ts';
import { LAYOUT, isRunOrUnfinished, runName, runNumbers } from '../files/layout.ts';
import { sourceOf } from '../index/merge.ts';
import type { Lock } from '../lock.ts';
import { LOG_START } from '../log/position.ts';
import type { Position } from '../log/position.ts';
import { Recent } from '../index/recent.ts';
import { RunReader } from '../index/run-reader.ts';
import type { JournalSettings } from '../settings.ts';
import { IndexDamage } from '../store-error.ts';

/** Of what came since the last fold, this many times a fold's size may wait for a fold that is under way. */
const MAX_BACKLOG = 32;
/**
 * While commits wait for the writer a fold waits too, until it is worth this many: rows that are folded together are
 * merged less often. At 256 committers it takes 60 µs of a turn instead of 180.
 */
const BUSY_FOLDS = 8;

/** What the folds are of, and what makes them. */
export interface Folding {
  readonly fs: FileSystem;
  readonly directory: string;
  readonly store: string;
  readonly index: IndexState;
  readonly settings: JournalSettings;
  readonly background: Background;
  readonly lock?: Lock | undefined;
}

/** An index that others are to take the place of. */
export interface KeptFold {
  readonly parts: IndexParts;
  readonly state: FoldState;
}

export function closeRuns({ parts }: KeptFold): void {
  for (const run of parts.runs) run.close();
}

/** Moves what came since the last fold into runs, and merges runs, off the commit path. */
export class FoldKeeper {
  readonly #fs: FileSystem;
  readonly #directory: string;
  readonly #index: IndexState;
  readonly #settings: JournalSettings;
  readonly #background: Background;
  readonly #lock: Lock | undefined;
  readonly #cache: BlockCache;
  #state: FoldState;
  #nextRun = 1;
  #writing: Promise<void> = Promise.resolve();
  #folding: Promise<void> | undefined;
  #merging: Promise<unknown> | undefined;
  #isPaused = false;
  /** True while a merge of all runs waits for its turn. */
  #isWholeDue = false;

  constructor({ fs, directory, store, index, settings, background, lock }: Folding) {
    this.#fs = fs;
    this.#directory = directory;
    this.#index = index;
    this.#settings = settings;
    this.#background = background;
    this.#lock = lock;
    this.#cache = new BlockCache(settings.cacheBytes);
    this.#state = emptyFold(store);
  }

  get state(): FoldState {
    return this.#state;
  }

  /** Kept from the next fold on. */
  setDoubts(doubts: readonly Doubt[]): void {
    this.#state = { ...this.#state, doubts };
  }

  /** Lines up to this number may be lost from now on. Kept from the next fold on. */
  acceptLoss(accepted: number): void {
    this.#state = { ...this.#state, accepted, doubts: [] };
  }

  get #runs(): string {
    return `${this.#directory}/${LAYOUT.runs}`;
  }

  /** Reads the fold and opens its runs. Throws `IndexDamage` where that cannot be done; then the index stays as it was.
   * `known` is the generation of a fold that was there once. */
  load(known = 0): void {
    const state = readFold(this.#fs, this.#directory, this.#state.store);
    if (state === 'damaged') throw new IndexDamage(LAYOUT.fold, 'it does not match its digest');
    this.#nextRun = (runNumbers(this.#fs.list(this.#runs) ?? []).at(-1) ?? 0) + 1;
    if (!state && known > 0) throw new IndexDamage(LAYOUT.fold, 'it is missing');
    if (state && state.generation < known) throw new IndexDamage(LAYOUT.fold, 'it is an older one');
    if (!state) return;
    // What a person accepted holds, whatever the runs are like.
    this.#state = { ...this.#state, accepted: state.accepted };
    const runs = this.#openRuns(state.runs);
    this.#index.close();
    this.#index.runs = runs;
    this.#index.recent.position = state.position;
    this.#state = state;
  }

  #openRuns(names: readonly string[]): readonly RunReader[] {
    const runs: RunReader[] = [];
    try {
      for (const name of names) runs.push(this.#open(name));
      return runs;
    } catch (error) {
      for (const run of runs) run.close();
      throw error;
    }
  }

  #open(name: string): RunReader {
    const run = RunReader.open(this.#fs, this.#runs, { store: this.#state.store, name }, this.#cache);
    if (!run) throw new IndexDamage(`${LAYOUT.runs}/${name}`, 'it is missing');
    return run;
  }

  /** Forgets the fold: the log is to be replayed from its start. Its files stay until the next one is written. */
  reset(): void {
    closeRuns(this.setAside());
  }

  /** Forgets the fold, as {@link reset} does, and answers what it was: to be put back, or to be closed. */
  setAside(): KeptFold {
    const parts = this.#index.begin({ recent: new Recent(), folding: undefined, runs: [] });
    const kept = { parts, state: this.#state };
    this.#state = { ...this.#state, position: LOG_START, runs: [] };
    return kept;
  }

  /** Goes on with a fold that was set aside. What was made in its stead goes, unless there is no room to say so. */
  async putBack({ parts, state }: KeptFold): Promise<void> {
    this.#index.close();
    this.#index.begin(parts);
    this.#state = { ...state, generation: this.#state.generation };
    await this.#commit((now) => now)
      .then(() => this.sweep())
      .catch(ignore);
  }

  /** True when enough came since the last fold. */
  isDue(folds = 1): boolean {
    const { commits, bytes } = this.#index.recent;
    return commits >= folds * this.#settings.foldCommits && bytes >= folds * this.#settings.foldBytes;
  }

  /** True while commits come faster than they are folded: they are to wait for `idle`. */
  isBehind(): boolean {
    return this.#folding !== undefined && this.#index.recent.bytes > MAX_BACKLOG * this.#settings.foldBytes;
  }

  /** Starts what is due. Its failures are kept for the next attempt, which starts from the same rows. */
  maintain(load: 'idle' | 'busy' = 'idle'): void {
    if (this.#isPaused || this.#index.unbuilt) return;
    if (this.isDue(load === 'busy' ? BUSY_FOLDS : 1) && !this.#folding) this.fold().then(() => this.maintain(), ignore);
    if (!this.#merging && !this.#isWholeDue && this.#group()) {
      this.#merging = this.#mergeGroups()
        .catch(ignore)
        .finally(() => {
          this.#merging = undefined;
        });
    }
  }

  /** Resolves when no fold is under way. */
  async idle(): Promise<void> {
    while (this.#folding) await this.#folding;
  }

  /** Resolves when nothing is under way, and starts nothing of its own until `resume`: at the end the lock may go. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.#quiet();
  }

  resume(): void {
    this.#isPaused = false;
  }

  async #quiet(): Promise<void> {
    while (this.#folding ?? this.#merging) {
      await this.#folding;
      await this.#merging;
    }
    await this.#writing;
  }

  /** Folds all that came until now, what an attempt that failed has left first; one fold after the other. */
  fold(): Promise<void> {
    const folding = (this.#folding ?? Promise.resolve()).then(() => this.#foldNow());
    const settled = folding.catch(ignore).finally(() => {
      if (this.#folding === settled) this.#folding = undefined;
    });
    this.#folding = settled;
    return folding;
  }

  async #foldNow(): Promise<void> {
    const index = this.#index;
    if (index.folding) await this.#foldOne(index.folding);
    const folding = index.recent;
    index.folding = folding;
    index.recent = new Recent();
    index.recent.position = folding.position;
    await this.#foldOne(folding);
  }

  async #foldOne(folding: Recent): Promise<void> {
    const index = this.#index;
    folding.list();
    const keys = folding.countKeys();
    const run = keys > 0 ? await this.#writeRun(keys, folding) : undefined;
    await this.#commitRun(run, (state) => ({
      ...state,
      position: folding.position,
      runs: run ? [run.name, ...state.runs] : state.runs,
    }));
    if (run) index.runs = [run, ...index.runs];
    index.folding = undefined;
  }

  /** Merges all runs into one that holds nothing of what was removed. Folds go on meanwhile: what they add is newer. */
  async mergeAll(rewrites: number): Promise<void> {
    this.#isWholeDue = true;
    while (this.#merging) await this.#merging;
    this.#isWholeDue = false;
    const merging = this.#merge(0, this.#index.runs.length, rewrites);
    this.#merging = merging.catch(ignore).finally(() => {
      this.#merging = undefined;
    });
    await merging;
  }

  /** A segment was replaced by another file that says the same: who has it open opens it again. */
  async noteRewrite(): Promise<void> {
    await this.#commit((state) => ({ ...state, rewrites: state.rewrites + 1 }));
  }

  async #mergeGroups(): Promise<void> {
    for (let group = this.#group(); group && !this.#isPaused && !this.#isWholeDue; group = this.#group())
      await this.#merge(group.start, group.count, 0);
  }

  /** Neighbours of about one size that are enough to be merged. */
  #group(): { readonly start: number; readonly count: number } | undefined {
    const tiers = this.#index.runs.map(({ sizeBytes }) => this.#tierOf(sizeBytes));
    for (let start = 0; start < tiers.length;) {
      let end = start + 1;
      while (end < tiers.length && (tiers[end] as number) <= (tiers[start] as number)) end += 1;
      if (end - start >= this.#settings.mergeRuns) return { start, count: end - start };
      start = end;
    }
    return undefined;
  }

  #tierOf(sizeBytes: number): number {
    return Math.max(0, Math.floor(Math.log(sizeBytes / 65_536) / Math.log(this.#settings.mergeRuns)));
  }

  async #merge(start: number, count: number, rewrites: number): Promise<void> {
    const { runs } = this.#index;
    const inputs = runs.slice(start, start + count);
    const isWhole = start + count === runs.length;
    const keys = Math.ceil(inputs.reduce((sum, run) => sum + run.entries, 0) * 1.1);
    const name = this.#newRun();
    const inputNames = inputs.map((input) => input.name);
    await this.#background.mergeRuns({ name, keys }, inputNames, isWhole ? 'drop' : 'keep');
    const run = this.#open(name);
    const names = new Set(inputNames);
    const replace = <Item>(list: readonly Item[], nameOf: (item: Item) => string, item: Item): readonly Item[] => {
      const at = list.findIndex((one) => names.has(nameOf(one)));
      const rest = list.filter((one) => !names.has(nameOf(one)));
      return at < 0 ? [...rest, item] : rest.toSpliced(at, 0, item);
    };
    assert(
      inputs.every((input) => this.#index.runs.includes(input)),
      'what is merged is still the index',
    );
    await this.#commitRun(run, (state) => ({
      ...state,
      rewrites: state.rewrites + rewrites,
      runs: replace(state.runs, (name) => name, run.name),
    }));
    this.#index.runs = replace(this.#index.runs, ({ name }) => name, run);
    for (const input of inputs) {
      input.close();
      this.#fs.remove(`${this.#runs}/${input.name}`);
    }
  }

  async #writeRun(keys: number, recent: Recent): Promise<RunReader> {
    const name = this.#newRun();
    await this.#background.writeRun({ name, keys }, slicesOf(sourceOf(entriesOf(recent)), 'keep'));
    return this.#open(name);
  }

  #newRun(): string {
    this.#lock?.assertHeld();
    return runName(this.#nextRun++);
  }

  /** Commits a state with a run that was made for it. Where that fails the run goes: the next attempt makes another. */
  async #commitRun(run: RunReader | undefined, next: (state: FoldState) => FoldState): Promise<void> {
    try {
      await this.#commit(next);
    } catch (error) {
      run?.close();
      if (run) this.#discard(run.name);
      throw error;
    }
  }

  /** Removes a run, unless the fold on disk names it: of a sync that failed nobody knows what it has left. */
  #discard(name: string): void {
    try {
      const known = readFold(this.#fs, this.#directory, this.#state.store);
      if (known !== 'damaged' && known?.runs.includes(name) !== true) discard(this.#fs, `${this.#runs}/${name}`);
    } catch {
      // It cannot be read now: the next writer sweeps the run.
    }
  }

  /** Writes the fold's next state; one writing at a time. */
  async #commit(next: (state: FoldState) => FoldState): Promise<void> {
    const before = this.#writing;
    const writing = (async () => {
      await before;
      const state = { ...next(this.#state), generation: this.#state.generation + 1 };
      await writeFold(this.#fs, this.#directory, state);
      this.#state = state;
    })();
    this.#writing = writing.catch(ignore);
    await writing;
  }

  /** Removes what no fold names: leavings of a crash. Only a writer may, and only before others read. */
  sweep(): void {
    const kept = new Set(this.#state.runs);
    const left = (this.#fs.list(this.#runs) ?? []).filter((name) => isRunOrUnfinished(name) && !kept.has(name));
    for (const name of left) this.#fs.remove(`${this.#runs}/${name}`);
  }

  /** The end of what is folded. */
  get position(): Position {
    return this.#state.position;
  }
}

/** The rows of what came since the last fold, in the order of the index. */
function* entriesOf(recent: Recent): Generator<SliceEntry> {
  for (const namespace of [...recent.namespaces()].sort(compareKeys)) {
    for (const conversation of [...recent.conversations(namespace)].sort(compareKeys)) {
      const prefix = conversationPrefix(namespace, conversation);
      const rows = recent.rowsOf(namespace, conversation);
      for (const [key, value] of rows?.range({ from: '', to: '\u{10ffff}' }) ?? [])
        yield { key: prefix + toByteKey(key), value: value === null ? null : JSON.stringify(value) };
    }
  }
}

function ignore(): void {
  // What failed is tried again when the next fold or merge is due; the log has it all.
}
