import { crc32 } from 'node:zlib';
import { assert } from '../../core/errors.ts';
import { ByteSink, ByteSource } from './search-bytes.ts';
import { readPostings, skipPostings, writePostings } from './search-postings.ts';

// The terms of a segment in ascending order, cut into blocks. A block is what is read to look a term up, one row:
//
//   CRC-32 of the rest (4 bytes, little endian), then for each term its distance to the one before (varint) and its
//   postings. The first term of the block is the row's key, its distance 0.

/** A block is closed when it has grown to this size, or beyond by one term: small beside a page, so that little is lost. */
const BLOCK_BYTES = 2_000;
const CRC_BYTES = 4;

export interface Block {
  readonly firstTerm: number;
  readonly data: Uint8Array;
}

/** Takes the terms of a segment in ascending order and gives out a block whenever one is full. */
export class BlockWriter {
  readonly #put: (block: Block) => void;
  readonly #sink = new ByteSink();
  #firstTerm = 0;
  #lastTerm = -1;

  constructor(put: (block: Block) => void) {
    this.#put = put;
  }

  /** Adds a term with the ordinals that have it; nothing when there are none. */
  add(term: number, ordinals: Uint32Array): void {
    if (ordinals.length === 0) return;
    assert(term > this.#lastTerm, 'terms are written in ascending order');
    if (this.#sink.length === 0) this.#firstTerm = this.#lastTerm = term;
    this.#sink.varint(term - this.#lastTerm);
    writePostings(this.#sink, ordinals);
    this.#lastTerm = term;
    if (this.#sink.length >= BLOCK_BYTES) this.end();
  }

  /** Gives out what is left. */
  end(): void {
    if (this.#sink.length > 0) this.#put({ firstTerm: this.#firstTerm, data: sealBytes(this.#sink.take()) });
  }
}

/** Goes through the terms of a block. */
export class BlockReader {
  readonly #source: ByteSource;
  #isRead = true;
  term: number;

  /** Throws an error that `driverFault` calls `corrupt` when the block is not what was written. */
  constructor({ firstTerm, data }: Block) {
    this.#source = new ByteSource(unsealBytes(data));
    this.term = firstTerm;
  }

  /** Moves to the next term; `false` after the last one. */
  next(): boolean {
    if (!this.#isRead) skipPostings(this.#source);
    if (this.#source.ended) return false;
    this.term += this.#source.varint();
    this.#isRead = false;
    return true;
  }

  /** Calls with each ordinal of the term that it stands at, ascending. Once for each term. */
  ordinals(visit: (ordinal: number) => void): void {
    readPostings(this.#source, visit);
    this.#isRead = true;
  }
}

/** Bytes with a checksum before them. SQLite has none of its own, and a flipped bit would lose hits in silence. */
export function sealBytes(bytes: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(CRC_BYTES + bytes.length);
  new DataView(sealed.buffer).setUint32(0, crc32(bytes), true);
  sealed.set(bytes, CRC_BYTES);
  return sealed;
}

/** The bytes that were sealed; throws an error that `driverFault` calls `corrupt` when they have changed. */
export function unsealBytes(sealed: Uint8Array): Uint8Array {
  const bytes = sealed.subarray(CRC_BYTES);
  const isWhole = sealed.length >= CRC_BYTES;
  const view = new DataView(sealed.buffer, sealed.byteOffset);
  if (!isWhole || view.getUint32(0, true) !== crc32(bytes)) throw corruptIndex('a checksum does not match');
  return bytes;
}

function corruptIndex(reason: string): Error {
  return Object.assign(new Error(`the search index is damaged: ${reason}`), { code: 'ERR_INDEX_CORRUPT' });
}
