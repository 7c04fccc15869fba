import type { FileSystem, JournalFile, OpenMode } from 'turnkeep/journal';

/**
 * A disk in memory that fails as real ones do. Files have a cache, which reads see, and a durable content, which a power
 * cut leaves; names in directories likewise. Every call is counted, so that a plan can name the one that fails.
 */

/** What goes wrong at the operation of a plan. */
export type FaultKind = 'EIO' | 'ENOSPC' | 'EMFILE' | 'short' | 'full_for_a_while' | 'sync' | 'death';

export interface FaultPlan {
  /** Counted from 1. */
  readonly operation: number;
  /** Which operations are counted: all, or those that change the log's own files. */
  readonly scope: 'all' | 'log';
  readonly kind: FaultKind;
  /** How much of a write a short one writes, from 0 to 1. */
  readonly share: number;
  /** The process dies so many operations later; absent: it goes on. */
  readonly diesAfter?: number | undefined;
}

/** What a power cut leaves of what was not synced. */
export type CutMode = 'nothing' | 'everything' | 'a_prefix' | 'any_of_it';
export const CUT_MODES: readonly CutMode[] = ['nothing', 'everything', 'a_prefix', 'any_of_it'];

export type Random = (below: number) => number;

interface Change {
  readonly at: number;
  /** Absent: the file is cut to `at`. */
  readonly bytes?: Buffer;
}

interface Inode {
  readonly id: number;
  cache: Buffer;
  durable: Buffer;
  /** What the next sync makes durable, in order. */
  unsynced: Change[];
}

type NameChange = (names: Map<string, Inode>) => void;

const SECTOR = 512;
const LOG = '/store/segments/';
const FULL_OPERATIONS = 25;

export class SimulatedDisk implements FileSystem {
  readonly #names: Map<string, Inode>;
  readonly #durableNames: Map<string, Inode>;
  readonly #directories: Set<string>;
  readonly #durableDirectories: Set<string>;
  #nameChanges: { readonly directory: string; readonly apply: NameChange; readonly made?: string }[] = [];
  #nextId = 1;
  #plan: FaultPlan | undefined;
  #fullUntil = 0;
  #failedAt: number | undefined;
  #dead = false;
  operations = 0;
  logOperations = 0;

  constructor(names: ReadonlyMap<string, Buffer> = new Map(), directories: Iterable<string> = ['/']) {
    const inodes = [...names].map(([path, bytes]): [string, Inode] => [path, this.#inode(Buffer.from(bytes))]);
    this.#names = new Map(inodes);
    this.#durableNames = new Map(inodes);
    this.#directories = new Set(directories);
    this.#durableDirectories = new Set(directories);
  }

  /** Lets an operation fail. The operations are counted from here. */
  plan(plan: FaultPlan | undefined): void {
    this.#plan = plan;
    this.operations = 0;
    this.logOperations = 0;
    this.#failedAt = undefined;
  }

  /** True when the process died at the planned operation: no call does anything any more. */
  get isDead(): boolean {
    return this.#dead;
  }

  #inode(bytes: Buffer): Inode {
    return { id: this.#nextId++, cache: bytes, durable: Buffer.from(bytes), unsynced: [] };
  }

  /** Counts an operation and fails it where that is planned. Answers the plan where the caller is to act on it. */
  #step(what: 'open' | 'write' | 'sync' | 'other', path: string): FaultPlan | undefined {
    if (this.#dead) throw failure('EIO', 'the process is dead');
    this.operations += 1;
    const isOfLog = path.startsWith(LOG) && (what === 'write' || what === 'sync');
    if (isOfLog) this.logOperations += 1;
    const plan = this.#plan;
    const { diesAfter } = plan ?? {};
    if (this.#failedAt !== undefined && diesAfter !== undefined && this.operations > this.#failedAt + diesAfter) {
      this.#dead = true;
      throw failure('EIO', 'the process dies');
    }
    if (what === 'write' && this.operations < this.#fullUntil) throw failure('ENOSPC', 'no space left');
    const isPlanned =
      plan?.scope === 'log' ? isOfLog && plan.operation === this.logOperations : plan?.operation === this.operations;
    if (!plan || !isPlanned) return undefined;
    this.#failedAt = this.operations;
    switch (plan.kind) {
      case 'death':
        this.#dead = true;
        throw failure('EIO', 'the process dies');
      case 'short':
        if (what === 'write') return plan;
        throw failure('EIO', 'an error');
      case 'sync':
        if (what === 'sync') return plan;
        throw failure('EIO', 'an error');
      case 'full_for_a_while':
        this.#fullUntil = this.operations + FULL_OPERATIONS;
        throw failure('ENOSPC', 'no space left');
      default:
        throw failure(plan.kind, 'an error');
    }
  }

  open(path: string, mode: OpenMode): JournalFile {
    this.#step('open', path);
    let inode = this.#names.get(path);
    if (!inode && mode === 'read') throw failure('ENOENT', path);
    if (!inode) {
      if (!this.#directories.has(directoryOf(path))) throw failure('ENOENT', path);
      const made = (inode = this.#inode(Buffer.alloc(0)));
      this.#rename(directoryOf(path), (names) => names.set(path, made));
    }
    const file = this.#file(inode, path);
    if (mode === 'replace') truncate(inode, 0);
    return file;
  }

  #file(inode: Inode, path: string): JournalFile {
    const step = (what: 'write' | 'sync' | 'other') => this.#step(what, path);
    return {
      read(bytes, position) {
        step('other');
        return position >= inode.cache.length ? 0 : inode.cache.copy(bytes, 0, position, position + bytes.length);
      },
      write(bytes, position) {
        const short = step('write');
        const written = short ? Math.floor(short.share * bytes.length) : bytes.length;
        write(inode, Buffer.from(bytes.subarray(0, written)), position);
        if (short) throw failure(short.share < 0.5 ? 'ENOSPC' : 'EIO', 'a short write');
      },
      async sync() {
        if (step('sync')) {
          // The system gives up on the pages and calls them clean: a later sync does not write them.
          inode.unsynced = [];
          throw failure('EIO', 'the sync failed');
        }
        for (const change of inode.unsynced) inode.durable = applied(inode.durable, change);
        inode.unsynced = [];
      },
      truncate(sizeBytes) {
        step('other');
        truncate(inode, sizeBytes);
      },
      sizeBytes: () => inode.cache.length,
      identity: () => inode.id,
      close: () => undefined,
    };
  }

  has(path: string): boolean {
    this.#step('other', path);
    return this.#names.has(path);
  }

  list(directory: string): readonly string[] | undefined {
    this.#step('other', directory);
    if (!this.#directories.has(directory)) return undefined;
    const paths = [...this.#names.keys(), ...this.#directories].filter(
      (path) => path !== '/' && directoryOf(path) === directory,
    );
    return paths.map((path) => path.slice(path.lastIndexOf('/') + 1));
  }

  makeDirectory(path: string): void {
    this.#step('other', path);
    if (this.#directories.has(path)) return;
    this.#directories.add(path);
    this.#nameChanges.push({
      directory: directoryOf(path),
      apply: () => this.#durableDirectories.add(path),
      made: path,
    });
  }

  rename(from: string, to: string): void {
    this.#step('other', from);
    const inode = this.#names.get(from);
    if (!inode) throw failure('ENOENT', from);
    this.#rename(directoryOf(to), (names) => {
      names.delete(from);
      names.set(to, inode);
    });
  }

  remove(path: string): void {
    this.#step('other', path);
    if (this.#names.has(path)) this.#rename(directoryOf(path), (names) => names.delete(path));
  }

  async syncDirectory(path: string): Promise<void> {
    if (this.#step('sync', path)) throw failure('EIO', 'the sync of a directory failed');
    const [mine, others] = partition(this.#nameChanges, ({ directory }) => directory === path);
    for (const { apply } of mine) apply(this.#durableNames);
    this.#nameChanges = others;
  }

  #rename(directory: string, apply: NameChange): void {
    apply(this.#names);
    this.#nameChanges.push({ directory, apply });
  }

  /** The disk after a power cut: what was synced, and of the rest what the mode says. Operations do not fail on it. */
  afterCut(mode: CutMode, random: Random): SimulatedDisk {
    const kept =
      mode === 'everything' ? this.#nameChanges.length : mode === 'nothing' ? 0 : random(this.#nameChanges.length + 1);
    for (const { apply } of this.#nameChanges.slice(0, kept)) apply(this.#durableNames);
    const contents = new Map<Inode, Buffer>();
    const files = new Map<string, Buffer>();
    for (const [path, inode] of this.#durableNames) {
      if (!this.#durableDirectories.has(directoryOf(path))) continue;
      const bytes = contents.get(inode) ?? contentAfterCut(inode, mode, random);
      contents.set(inode, bytes);
      files.set(path, bytes);
    }
    return new SimulatedDisk(files, this.#durableDirectories);
  }

  /** The disk as another process sees it after this one ended: caches and all. What no sync reached is still not durable. */
  afterDeath(): SimulatedDisk {
    const next = new SimulatedDisk(new Map(), this.#directories);
    for (const [path, inode] of this.#names) next.#names.set(path, inode);
    for (const [path, inode] of this.#durableNames) next.#durableNames.set(path, inode);
    next.#durableDirectories.clear();
    for (const path of this.#durableDirectories) next.#durableDirectories.add(path);
    next.#nameChanges = this.#nameChanges.map((change) => {
      const { made } = change;
      return made === undefined ? change : { ...change, apply: () => next.#durableDirectories.add(made) };
    });
    next.#nextId = this.#nextId;
    return next;
  }

  /** All files as they are read. */
  files(): ReadonlyMap<string, Buffer> {
    return new Map([...this.#names].map(([path, { cache }]) => [path, Buffer.from(cache)]));
  }

  directories(): readonly string[] {
    return [...this.#directories];
  }
}

function contentAfterCut(inode: Inode, mode: CutMode, random: Random): Buffer {
  const { unsynced } = inode;
  if (mode === 'nothing') return inode.durable;
  if (mode === 'everything') return unsynced.reduce(applied, inode.durable);
  if (mode === 'a_prefix') {
    const whole = random(unsynced.length + 1);
    const bytes = unsynced.slice(0, whole).reduce(applied, inode.durable);
    const next = unsynced[whole];
    return next ? applied(bytes, torn(next, bytes.length, random)) : bytes;
  }
  const sectors = unsynced.flatMap(sectorsOf).filter(() => random(8) > 0);
  return sectors.reduce(applied, inode.durable);
}

/** A write as the disk sees it: sectors, in any order. */
function sectorsOf({ at, bytes }: Change): readonly Change[] {
  if (!bytes) return [{ at }];
  const sectors: Change[] = [];
  for (let from = at; from < at + bytes.length;) {
    const end = Math.min(at + bytes.length, (Math.floor(from / SECTOR) + 1) * SECTOR);
    sectors.push({ at: from, bytes: bytes.subarray(from - at, end - at) });
    from = end;
  }
  return sectors;
}

/** A part of a write: any number of bytes of an append, whole sectors of an overwrite. */
function torn(change: Change, sizeBytes: number, random: Random): Change {
  const { at, bytes } = change;
  if (!bytes) return change;
  const length = random(bytes.length + 1);
  if (at >= sizeBytes) return { at, bytes: bytes.subarray(0, length) };
  const sectorEnd = Math.floor((at + length) / SECTOR) * SECTOR;
  return { at, bytes: bytes.subarray(0, Math.max(0, sectorEnd - at)) };
}

function write(inode: Inode, bytes: Buffer, at: number): void {
  const change = { at, bytes };
  inode.cache = applied(inode.cache, change);
  inode.unsynced.push(change);
}

function truncate(inode: Inode, at: number): void {
  inode.cache = applied(inode.cache, { at });
  inode.unsynced.push({ at });
}

/** A hole that a write leaves reads as zeros. */
function applied(content: Buffer, { at, bytes }: Change): Buffer {
  if (!bytes) return Buffer.from(content.subarray(0, at));
  if (bytes.length === 0) return content;
  const next = Buffer.alloc(Math.max(content.length, at + bytes.length));
  content.copy(next);
  bytes.copy(next, at);
  return next;
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}
