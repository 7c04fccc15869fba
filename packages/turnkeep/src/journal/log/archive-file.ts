import * as crypto from 'node:crypto';
import * as zlib from 'node:zlib';
import type { Tier } from '../../core/log.ts';
import { openIfThere } from '../files/files.ts';
import type { FileSystem, JournalFile } from '../files/file-system.ts';

// An archive stands in the place of a segment and answers its bytes: some of them as they are, some out of blocks that are
// compressed. docs/formats/journal.md says how.

export const ARCHIVE_START = 'turnkeep arch 1\n';
export const FOOTER_BYTES = 64;
export const FOOTER_START = 'TkArch1\n';
const DIGEST_BYTES = 32;
/** Where in the footer nothing more is said: zeros. */
const FOOTER_REST = 56;
/** Decompressed blocks that an open archive keeps. */
const KEPT_BLOCKS = 2;
/** Numbers of a run in the directory: its length, its block or {@link RAW}, where it begins in that. */
const RUN = 3;
export const RAW = -1;

/** A block that does not match its digest, as it stands, and which stretches of the segment it holds. */
export interface FlawedBlock {
  readonly bytes: Buffer;
  readonly sha: string;
  readonly runs: readonly { readonly from: number; readonly to: number; readonly at: number }[];
}

/** A segment as it is read, whatever file holds it. */
export interface SegmentFile extends JournalFile {
  /** Where the bytes from a place on lie. */
  tierAt(byte: number): Tier;
  /** Why the bytes from a place on cannot be had; they are read as zeros. */
  flawAt(byte: number): string | undefined;
  /** Stretches that are compressed, `[from, to]`, in order. */
  coolStretches(): readonly (readonly [from: number, to: number])[];
  /** Compressed blocks that cannot be read: who writes the segment anew keeps them, for a backup may make sense of them. */
  flawedBlocks(): readonly FlawedBlock[];
}

/** What is where in an archive. */
export interface ArchiveDirectory {
  readonly store: string;
  readonly segment: number;
  /** Bytes of the segment. */
  readonly bytes: number;
  /** Of each block its place, its length and its digest. */
  readonly blocks: readonly (readonly [at: number, length: number, sha: string])[];
  /** Runs of the segment's bytes, three numbers each, without a gap. */
  readonly runs: readonly number[];
}

/** A segment that nobody has archived. */
export function plainSegment(file: JournalFile): SegmentFile {
  return Object.assign(file, {
    tierAt: (): Tier => 'hot',
    flawAt: () => undefined,
    coolStretches: () => [],
    flawedBlocks: () => [],
  });
}

export class ArchiveFile implements SegmentFile {
  readonly #file: JournalFile;
  /** Which file it is, as long as nobody puts another one in its place. */
  readonly #identity: string;
  readonly #directory: ArchiveDirectory;
  readonly #starts: Float64Array;
  readonly #blocks = new Map<number, Buffer | string>();

  private constructor(file: JournalFile, directory: ArchiveDirectory, starts: Float64Array) {
    this.#file = file;
    this.#identity = identityOf(file);
    this.#directory = directory;
    this.#starts = starts;
  }

  /**
   * The archive at a path; why it is none, as a text; `undefined` where there is no file. `known` is one that was closed: where
   * the same file still stands there, what is where in it needs not be read again.
   */
  static open(
    fs: FileSystem,
    path: string,
    { store, segment }: Pick<ArchiveDirectory, 'store' | 'segment'>,
    known?: ArchiveFile,
  ): ArchiveFile | string | undefined {
    const file = openIfThere(fs, path);
    if (!file) return undefined;
    try {
      const found = ArchiveFile.#in(file, { store, segment }, known);
      if (typeof found === 'string') file.close();
      return found;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  static #in(
    file: JournalFile,
    { store, segment }: Pick<ArchiveDirectory, 'store' | 'segment'>,
    known: ArchiveFile | undefined,
  ): ArchiveFile | string {
    if (known && identityOf(file) === known.#identity) return new ArchiveFile(file, known.#directory, known.#starts);
    const directory = readDirectory(file);
    if (typeof directory === 'string') return directory;
    if (directory.store !== store || directory.segment !== segment) return 'it is the archive of another segment';
    return new ArchiveFile(file, directory, startsOf(directory.runs));
  }

  read(bytes: Uint8Array, position: number): number {
    const end = Math.min(bytes.length, Math.max(0, this.sizeBytes() - position));
    for (let filled = 0; filled < end;) {
      const run = this.#runAt(position + filled);
      const from = position + filled - (this.#starts[run] as number);
      const [length, block, at] = this.#run(run);
      const count = Math.min(length - from, end - filled);
      const target = bytes.subarray(filled, filled + count);
      if (block === RAW) target.fill(0, this.#file.read(target, at + from));
      else this.#copy(block, at + from, target);
      filled += count;
    }
    return end;
  }

  tierAt(byte: number): Tier {
    return this.#run(this.#runAt(byte))[1] === RAW ? 'hot' : 'cool';
  }

  flawAt(byte: number): string | undefined {
    const block = this.#run(this.#runAt(byte))[1];
    const found = block === RAW ? undefined : this.#block(block);
    return typeof found === 'string' ? found : undefined;
  }

  coolStretches(): readonly (readonly [from: number, to: number])[] {
    const stretches: (readonly [number, number])[] = [];
    for (const [run, from] of this.#starts.entries()) {
      const [length, block] = this.#run(run);
      if (block !== RAW) stretches.push([from, from + length]);
    }
    return stretches;
  }

  flawedBlocks(): readonly FlawedBlock[] {
    return [...this.#directory.blocks.entries()].flatMap(([block, [place, length, sha]]) => {
      if (typeof this.#block(block) !== 'string') return [];
      const bytes = Buffer.alloc(length);
      this.#file.read(bytes, place);
      return { bytes, sha, runs: this.#runsOf(block) };
    });
  }

  #runsOf(block: number): FlawedBlock['runs'] {
    return [...this.#starts.entries()].flatMap(([run, from]) => {
      const [length, its, at] = this.#run(run);
      return its === block ? { from, to: from + length, at } : [];
    });
  }

  /** Reads every block and what stands around them; answers what is wrong with each, usually nothing. */
  *check(): Generator<{ readonly reason: string } | undefined> {
    yield this.#frameFault();
    for (const block of this.#directory.blocks.keys()) {
      const found = this.#block(block);
      yield typeof found === 'string' ? { reason: found } : undefined;
    }
  }

  /** The first bytes and the last ones are always the same; nothing is lost where they are not. */
  #frameFault(): { readonly reason: string } | undefined {
    const start = Buffer.alloc(ARCHIVE_START.length);
    this.#file.read(start, 0);
    const rest = Buffer.alloc(FOOTER_BYTES - FOOTER_REST);
    this.#file.read(rest, this.#file.sizeBytes() - rest.length);
    const isWhole = start.toString('latin1') === ARCHIVE_START && rest.every((byte) => byte === 0);
    return isWhole ? undefined : { reason: 'its first or last bytes are not those of an archive' };
  }

  sizeBytes(): number {
    return this.#directory.bytes;
  }

  identity(): number {
    return this.#file.identity();
  }

  close(): void {
    this.#blocks.clear();
    this.#file.close();
  }

  write(): void {
    throw new Error('an archive is never written to');
  }

  truncate(): void {
    throw new Error('an archive is never cut');
  }

  async sync(): Promise<void> {
    await this.#file.sync();
  }

  #copy(block: number, from: number, target: Uint8Array): void {
    const bytes = this.#block(block);
    if (typeof bytes === 'string') target.fill(0);
    else target.set(bytes.subarray(from, from + target.length));
  }

  #block(block: number): Buffer | string {
    const kept = this.#blocks.get(block);
    if (kept !== undefined) return kept;
    const read = this.#readBlock(block);
    this.#blocks.set(block, read);
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= KEPT_BLOCKS) break;
      this.#blocks.delete(oldest);
    }
    return read;
  }

  #readBlock(block: number): Buffer | string {
    const [at, length, sha] = this.#directory.blocks[block] ?? [0, 0, ''];
    const bytes = Buffer.allocUnsafe(length);
    const filled = this.#file.read(bytes, at);
    if (filled < length || crypto.hash('sha256', bytes, 'base64url') !== sha)
      return `archive block ${block} does not match its digest`;
    return zlib.brotliDecompressSync(bytes);
  }

  #run(run: number): readonly [length: number, block: number, at: number] {
    const { runs } = this.#directory;
    const at = run * RUN;
    return [runs[at] ?? 0, runs[at + 1] ?? RAW, runs[at + 2] ?? 0];
  }

  /** The run that holds a byte. */
  #runAt(byte: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= byte) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function identityOf(file: JournalFile): string {
  return `${file.identity()}:${file.sizeBytes()}`;
}

function startsOf(runs: readonly number[]): Float64Array {
  const starts = new Float64Array(runs.length / RUN);
  let start = 0;
  for (let run = 0; run < starts.length; run++) {
    starts[run] = start;
    start += runs[run * RUN] as number;
  }
  return starts;
}

function readDirectory(file: JournalFile): ArchiveDirectory | string {
  const size = file.sizeBytes();
  const start = Buffer.alloc(ARCHIVE_START.length);
  file.read(start, 0);
  if (start.toString('latin1') !== ARCHIVE_START) return 'it does not begin as an archive does';
  const footer = Buffer.alloc(FOOTER_BYTES);
  if (size < FOOTER_BYTES || file.read(footer, size - FOOTER_BYTES) < FOOTER_BYTES) return 'it has no end';
  if (footer.toString('latin1', 0, FOOTER_START.length) !== FOOTER_START) return 'it does not end as an archive does';
  if (footer.subarray(24 + DIGEST_BYTES).some((byte) => byte !== 0)) return 'its end is damaged';
  const [at, length] = [Number(footer.readBigUInt64LE(8)), Number(footer.readBigUInt64LE(16))];
  if (at + length !== size - FOOTER_BYTES) return 'its end leads nowhere';
  const bytes = Buffer.allocUnsafe(length);
  file.read(bytes, at);
  const digest = Buffer.from(crypto.hash('sha256', bytes, 'base64url'), 'base64url');
  if (!digest.equals(footer.subarray(24, 24 + DIGEST_BYTES))) return 'its directory does not match its digest';
  // We wrote it: its digest was right.
  return JSON.parse(zlib.brotliDecompressSync(bytes).toString('utf8')) as ArchiveDirectory;
}
