import * as crypto from 'node:crypto';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { othersTurn } from '../../platform/timers.ts';
import { ARCHIVE_START, FOOTER_BYTES, FOOTER_START, RAW } from './archive-file.ts';
import type { ArchiveDirectory, FlawedBlock } from './archive-file.ts';
import type { FileSystem, JournalFile } from '../files/file-system.ts';
import { putFile } from '../files/files.ts';
import { archiveName, segmentName } from '../files/layout.ts';
import type { StoreParts } from '../store-parts.ts';

/** Bytes of lines that are compressed together: a line is read out of them in 0.5 ms. */
const BLOCK_BYTES = 196_608;
const COPY_BYTES = 1_048_576;
const QUALITY = 6;
const MOST_WINDOW_BITS = 24;

const compress = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);

export type Stretch = readonly [from: number, to: number];

/**
 * Writes the archive of a segment and puts it in its place, as one; `cool` are the lines that are compressed, in order, each
 * whole; blocks that are damaged stay as they stand. Other processes that have the file before open go on with it. Nothing else may write the segment meanwhile.
 */
export async function archiveSegment(
  { fs, archivesDirectory, segmentsDirectory, store }: StoreParts,
  segment: number,
  source: JournalFile,
  cool: readonly Stretch[],
  flawed: readonly FlawedBlock[],
): Promise<void> {
  const path = `${archivesDirectory}/${archiveName(segment)}`;
  if (!fs.list(archivesDirectory)) await makeDirectory(fs, archivesDirectory);
  await putFile(fs, path, (file) => new ArchiveWriter(file, source, { store, segment }).write(cool, flawed));
  await fs.syncDirectory(archivesDirectory);
  fs.remove(`${segmentsDirectory}/${segmentName(segment)}`);
  await fs.syncDirectory(segmentsDirectory);
}

async function makeDirectory(fs: FileSystem, path: string): Promise<void> {
  fs.makeDirectory(path);
  await fs.syncDirectory(path.slice(0, path.lastIndexOf('/')));
}

/** Where in a damaged block a stretch stands. */
interface Kept {
  readonly block: FlawedBlock;
  readonly at: number;
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly kept?: Kept | undefined;
}

function inOrder(cool: readonly Stretch[], flawed: readonly FlawedBlock[]): readonly Piece[] {
  const pieces: readonly Piece[] = cool.map(([from, to]) => ({ from, to }));
  const kept = flawed.flatMap((block) =>
    block.runs.map(({ from, to, at }): Piece => ({ from, to, kept: { block, at } })),
  );
  return [...pieces, ...kept].sort((left, right) => left.from - right.from);
}

class ArchiveWriter {
  readonly #file: JournalFile;
  readonly #source: JournalFile;
  readonly #of: Pick<ArchiveDirectory, 'store' | 'segment'>;
  readonly #blocks: ArchiveDirectory['blocks'][number][] = [];
  readonly #runs: number[] = [];
  /** The damaged blocks that are put down, and their numbers now. */
  readonly #kept = new Map<FlawedBlock, number>();
  #end = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(file: JournalFile, source: JournalFile, of: Pick<ArchiveDirectory, 'store' | 'segment'>) {
    this.#file = file;
    this.#source = source;
    this.#of = of;
  }

  async write(cool: readonly Stretch[], flawed: readonly FlawedBlock[]): Promise<void> {
    const bytes = this.#source.sizeBytes();
    this.#append(Buffer.from(ARCHIVE_START, 'latin1'));
    let at = 0;
    for (const { from, to, kept } of inOrder(cool, flawed)) {
      await this.#copyRaw(at, from);
      if (kept) await this.#keep(to - from, kept);
      else await this.#pack(from, to);
      at = to;
    }
    await this.#copyRaw(at, bytes);
    await this.#flush();
    await this.#writeDirectory(bytes);
  }

  async #copyRaw(from: number, to: number): Promise<void> {
    if (from >= to) return;
    this.#addRun(to - from, RAW, this.#end);
    for (let at = from; at < to; at += COPY_BYTES) {
      this.#append(this.#read(at, Math.min(to, at + COPY_BYTES)));
      await othersTurn();
    }
  }

  /** A line waits for those that are compressed with it. */
  async #pack(from: number, to: number): Promise<void> {
    if (this.#waitingBytes > 0 && this.#waitingBytes + to - from > BLOCK_BYTES) await this.#flush();
    this.#addRun(to - from, this.#blocks.length, this.#waitingBytes);
    this.#waiting.push(this.#read(from, to));
    this.#waitingBytes += to - from;
  }

  /** A run of a damaged block, which is put down with the first of its runs. */
  async #keep(length: number, { block, at }: Kept): Promise<void> {
    await this.#flush();
    const known = this.#kept.get(block);
    const number = known ?? this.#blocks.length;
    if (known === undefined) {
      this.#kept.set(block, number);
      this.#blocks.push([this.#end, block.bytes.length, block.sha]);
      this.#append(block.bytes);
    }
    this.#addRun(length, number, at);
  }

  async #flush(): Promise<void> {
    if (this.#waitingBytes === 0) return;
    const bytes = await compressed(Buffer.concat(this.#waiting));
    this.#blocks.push([this.#end, bytes.length, crypto.hash('sha256', bytes, 'base64url')]);
    this.#append(bytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Neighbours are one run. */
  #addRun(length: number, block: number, at: number): void {
    const last = this.#runs.length - 3;
    const [before = 0, blockBefore, atBefore = 0] = this.#runs.slice(last);
    if (last >= 0 && blockBefore === block && atBefore + before === at) this.#runs[last] = before + length;
    else this.#runs.push(length, block, at);
  }

  async #writeDirectory(bytes: number): Promise<void> {
    const directory: ArchiveDirectory = { ...this.#of, bytes, blocks: this.#blocks, runs: this.#runs };
    const packed = await compressed(Buffer.from(JSON.stringify(directory), 'utf8'));
    const footer = Buffer.alloc(FOOTER_BYTES);
    footer.write(FOOTER_START, 'latin1');
    footer.writeBigUInt64LE(BigInt(this.#end), 8);
    footer.writeBigUInt64LE(BigInt(packed.length), 16);
    footer.write(crypto.hash('sha256', packed, 'base64url'), 24, 'base64url');
    this.#append(packed);
    this.#append(footer);
  }

  #read(from: number, to: number): Buffer {
    const bytes = Buffer.alloc(to - from);
    this.#source.read(bytes, from);
    return bytes;
  }

  #append(bytes: Uint8Array): void {
    this.#file.write(bytes, this.#end);
    this.#end += bytes.length;
  }
}

function compressed(bytes: Buffer): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, BROTLI_PARAM_SIZE_HINT, BROTLI_PARAM_LGWIN } =
    zlib.constants;
  const windowBits = Math.max(10, Math.min(MOST_WINDOW_BITS, Math.ceil(Math.log2(bytes.length + 16))));
  return compress(bytes, {
    params: {
      [BROTLI_PARAM_QUALITY]: QUALITY,
      [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT,
      [BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [BROTLI_PARAM_LGWIN]: windowBits,
    },
  });
}
