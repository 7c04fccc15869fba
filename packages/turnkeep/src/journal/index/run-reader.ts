import { crc32 } from 'node:zlib';
import type { BlockCache } from './block-cache.ts';
import { Bloom, hashesOf } from './bloom.ts';
import type { KeyHashes } from './bloom.ts';
import { openIfThere } from '../files/files.ts';
import type { FileSystem, JournalFile } from '../files/file-system.ts';
import type { Source } from './merge.ts';
import { readBlock } from './run-block.ts';
import type { BlockEntry } from './run-block.ts';
import { FOOTER_BYTES, RUN_MAGIC } from './run-writer.ts';
import type { RunId } from './run-writer.ts';
import { IndexDamage } from '../store-error.ts';

interface BlockPlace {
  readonly firstKey: string;
  readonly at: number;
  readonly bytes: number;
  readonly checksum: number;
}

let readers = 0;

/** An immutable sorted file of the index. Its sparse index and Bloom filter are in memory, its blocks are not. */
export class RunReader {
  readonly name: string;
  readonly entries: number;
  readonly sizeBytes: number;
  readonly #store: string;
  readonly #file: JournalFile;
  readonly #cache: BlockCache;
  readonly #blocks: readonly BlockPlace[];
  readonly #bloom: Bloom;
  readonly #number = readers++;
  #isClosed = false;

  /** Opens a run; `undefined` where there is no such file. */
  static open(fs: FileSystem, directory: string, id: RunId, cache: BlockCache): RunReader | undefined {
    const file = openIfThere(fs, `${directory}/${id.name}`);
    if (!file) return undefined;
    try {
      return new RunReader(file, id, cache);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  private constructor(file: JournalFile, { store, name }: RunId, cache: BlockCache) {
    this.name = name;
    this.#store = store;
    this.#file = file;
    this.#cache = cache;
    this.sizeBytes = file.sizeBytes();
    const footer = this.#footer();
    this.entries = footer.readUIntLE(44, 6);
    this.#blocks = readIndex(this.#section(footer, 16, 'index'));
    this.#bloom = Bloom.of(this.#section(footer, 30, 'filter'));
  }

  /** True unless the run surely has nothing under a byte key or conversation prefix of these hashes. */
  mayHave(hashes: KeyHashes): boolean {
    return this.#bloom.mayHave(hashes);
  }

  /** The value, `null` where the key is removed, `undefined` where the run does not know it. */
  get(key: string, hashes: KeyHashes = hashesOf(key)): Buffer | null | undefined {
    if (!this.#bloom.mayHave(hashes)) return undefined;
    const entries = this.#block(this.#blockOf(key));
    const at = lower(entries, key);
    const entry = entries[at];
    return entry?.key === key ? entry.value : undefined;
  }

  /** Entries from `from` (inclusive) to `to` (exclusive), in either direction. */
  scan(from: string, to: string, reverse: boolean): Source<BlockEntry> {
    return reverse ? this.#down(from, to) : this.#up(from, to);
  }

  #up(from: string, to: string): Source<BlockEntry> {
    let block = this.#blockOf(from);
    let entries = this.#block(block);
    let at = lower(entries, from);
    return {
      next: () => {
        while (at >= entries.length) {
          block += 1;
          if (block >= this.#blocks.length) return undefined;
          entries = this.#block(block);
          at = 0;
        }
        const entry = entries[at] as BlockEntry; // within the array
        at += 1;
        return entry.key < to ? entry : undefined;
      },
    };
  }

  #down(from: string, to: string): Source<BlockEntry> {
    let block = this.#blockOf(to);
    let entries = this.#block(block);
    let at = lower(entries, to) - 1;
    return {
      next: () => {
        while (at < 0) {
          block -= 1;
          if (block < 0) return undefined;
          entries = this.#block(block);
          at = entries.length - 1;
        }
        const entry = entries[at] as BlockEntry; // within the array
        at -= 1;
        return entry.key >= from ? entry : undefined;
      },
    };
  }

  /** All entries in order, past the cache. */
  *all(): Generator<readonly BlockEntry[]> {
    for (const place of this.#blocks) yield readBlock(this.#read(place));
  }

  /** Checks the file as it is on disk, block by block; yields what is wrong with each, usually nothing. */
  *check(): Generator<IndexDamage | undefined> {
    // A merge may have closed it since the checking of others began.
    if (this.#isClosed) return;
    yield damageOf(() => {
      const footer = this.#footer();
      this.#section(footer, 16, 'index');
      this.#section(footer, 30, 'filter');
    });
    for (const place of this.#blocks) {
      // A merge may have closed it since: then it is no part of the index any more.
      if (this.#isClosed) return;
      yield damageOf(() => this.#read(place));
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#file.close();
  }

  /** The last block whose first key is not above `key`; 0 where none is. */
  #blockOf(key: string): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#blocks[middle] as BlockPlace).firstKey > key) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  #block(index: number): readonly BlockEntry[] {
    const place = this.#blocks[index];
    if (!place) return [];
    const id = this.#number * 4_294_967_296 + index;
    const cached = this.#cache.get(id);
    if (cached) return cached;
    const entries = readBlock(this.#read(place));
    this.#cache.set(id, entries, place.bytes);
    return entries;
  }

  #read(place: BlockPlace): Buffer {
    const bytes = Buffer.allocUnsafe(place.bytes);
    if (this.#file.read(bytes, place.at) < place.bytes || crc32(bytes) !== place.checksum) {
      throw new IndexDamage(`runs/${this.name}, byte ${place.at}`, 'a block does not match its checksum');
    }
    return bytes;
  }

  #footer(): Buffer {
    const bytes = Buffer.alloc(FOOTER_BYTES);
    const start = Buffer.alloc(RUN_MAGIC.length);
    const at = this.sizeBytes - FOOTER_BYTES;
    const whole = at >= 0 && this.#file.read(bytes, at) === FOOTER_BYTES && this.#file.read(start, 0) === start.length;
    const sound = whole && crc32(bytes.subarray(0, FOOTER_BYTES - 4)) === bytes.readUInt32LE(FOOTER_BYTES - 4);
    if (!sound || start.toString('latin1') !== RUN_MAGIC) throw this.#damage('the footer or the start is damaged');
    if (bytes.readUInt32LE(50) === crc32(this.#store + this.name)) return bytes;
    throw this.#damage('it is another run');
  }

  #section(footer: Buffer, field: number, what: string): Buffer {
    const bytes = Buffer.allocUnsafe(footer.readUInt32LE(field + 6));
    const filled = this.#file.read(bytes, footer.readUIntLE(field, 6));
    if (filled === bytes.length && crc32(bytes) === footer.readUInt32LE(field + 10)) return bytes;
    throw this.#damage(`the ${what} does not match its checksum`);
  }

  #damage(reason: string): IndexDamage {
    return new IndexDamage(`runs/${this.name}`, reason);
  }
}

function damageOf(check: () => unknown): IndexDamage | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof IndexDamage) return error;
    throw error;
  }
}

function readIndex(bytes: Buffer): readonly BlockPlace[] {
  const places: BlockPlace[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 16 + bytes.readUInt16LE(at + 14);
    places.push({
      at: bytes.readUIntLE(at, 6),
      bytes: bytes.readUInt32LE(at + 6),
      checksum: bytes.readUInt32LE(at + 10),
      firstKey: bytes.toString('latin1', at + 16, end),
    });
    at = end;
  }
  return places;
}

/** The first entry whose key is not below `key`. */
function lower(entries: readonly BlockEntry[], key: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle] as BlockEntry).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
