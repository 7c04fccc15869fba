import { crc32 } from 'node:zlib';
import { Bloom } from './bloom.ts';
import { prefixOf } from './byte-key.ts';
import type { JournalFile } from '../files/file-system.ts';
import { BlockBuilder } from './run-block.ts';

export const RUN_MAGIC = 'turnkeep run 1\n\n';
export const FOOTER_BYTES = 64;

const BLOCK_BYTES = 4_096;
const CHUNK_BYTES = 262_144;

/** Which run this is: one that stands in another's place, or comes from another store, is found out. */
export interface RunId {
  readonly store: string;
  readonly name: string;
}

/**
 * Writes a run: blocks, then their index (first key, place, length, checksum), then the Bloom filter over keys and
 * conversations, then a footer that says where both are. Entries come in key order, each key once.
 */
export class RunWriter {
  readonly #file: JournalFile;
  readonly #id: RunId;
  readonly #bloom: Bloom;
  readonly #block = new BlockBuilder();
  readonly #index: Buffer[] = [];
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #written = 0;
  #prefix = '';
  entries = 0;

  /** `keys` is at least the number of keys and conversations to come; `id` is written down with the rest. */
  constructor(file: JournalFile, id: RunId, keys: number) {
    this.#file = file;
    this.#id = id;
    this.#bloom = Bloom.forKeys(keys);
    this.#put(Buffer.from(RUN_MAGIC, 'latin1'));
  }

  add(key: string, value: Buffer | string | null): void {
    this.#bloom.add(key);
    if (!key.startsWith(this.#prefix) || this.#prefix === '') {
      this.#prefix = prefixOf(key);
      this.#bloom.add(this.#prefix);
    }
    this.#block.add(key, value);
    this.entries += 1;
    if (this.#block.length >= BLOCK_BYTES) this.#endBlock();
  }

  /** Writes the rest and answers the size of the file, which is still to be synced. */
  finish(): number {
    if (this.#block.length > 0) this.#endBlock();
    const index = Buffer.concat(this.#index);
    const indexAt = this.#place();
    this.#put(index);
    const bloomAt = this.#place();
    this.#put(this.#bloom.bytes);
    this.#put(this.#footer(indexAt, index, bloomAt));
    this.#flush();
    return this.#written;
  }

  #place(): number {
    return this.#written + this.#pendingBytes;
  }

  #endBlock(): void {
    const { firstKey } = this.#block;
    const at = this.#place();
    const bytes = this.#block.take();
    const entry = Buffer.allocUnsafe(16 + firstKey.length);
    entry.writeUIntLE(at, 0, 6);
    entry.writeUInt32LE(bytes.length, 6);
    entry.writeUInt32LE(crc32(bytes), 10);
    entry.writeUInt16LE(firstKey.length, 14);
    entry.write(firstKey, 16, 'latin1');
    this.#index.push(entry);
    this.#put(bytes);
  }

  #put(bytes: Buffer): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= CHUNK_BYTES) this.#flush();
  }

  #flush(): void {
    this.#file.write(Buffer.concat(this.#pending), this.#written);
    this.#written += this.#pendingBytes;
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #footer(indexAt: number, index: Buffer, bloomAt: number): Buffer {
    const bytes = Buffer.alloc(FOOTER_BYTES);
    bytes.write(RUN_MAGIC, 0, 'latin1');
    bytes.writeUIntLE(indexAt, 16, 6);
    bytes.writeUInt32LE(index.length, 22);
    bytes.writeUInt32LE(crc32(index), 26);
    bytes.writeUIntLE(bloomAt, 30, 6);
    bytes.writeUInt32LE(this.#bloom.bytes.length, 36);
    bytes.writeUInt32LE(crc32(this.#bloom.bytes), 40);
    bytes.writeUIntLE(this.entries, 44, 6);
    bytes.writeUInt32LE(crc32(this.#id.store + this.#id.name), 50);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, FOOTER_BYTES - 4)), FOOTER_BYTES - 4);
    return bytes;
  }
}
