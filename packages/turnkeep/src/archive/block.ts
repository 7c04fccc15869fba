import * as crypto from 'node:crypto';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { recordDigest } from '../core/digest.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { LogRecord, Redaction, StoredRecord } from '../core/log.ts';
import { sha256 } from '../platform/hash.ts';
import { packSeals, SealReader } from './seals.ts';

// A block: "TkB1", the length of the text's bytes, the text's bytes (brotli), the seals' bytes, and the SHA-256 of all that.
// The text: its contents, JSON in one line; then all headers and all bodies, one after the other. The contents have the lengths.
// docs/formats/archive-block.md says it for people.

const MAGIC = Buffer.from('TkB1', 'latin1');
const LENGTH_BYTES = 4;
const DIGEST_BYTES = 32;
const START = MAGIC.length + LENGTH_BYTES;
const LINE_FEED = 0x0a;

/** At 4 ms for 128 KB: 9 takes six times as long for 1% of the size, 11 forty times for a tenth. */
const QUALITY = 6;
const MOST_WINDOW_BITS = 24;

/** What is in a block; commits are those of the versions from `first` on, without a gap. */
interface Contents {
  /** Whose they are, in the words of the backend: a block at another's place is damage. */
  readonly owner: string;
  readonly first: number;
  /** Milliseconds: the first commit's time, then how much later each was than the one before. */
  readonly times: readonly number[];
  /** Lengths of headers and then of bodies, in bytes; `null` where they are gone. */
  readonly headers: readonly (number | null)[];
  readonly bodies: readonly (readonly (number | null)[])[];
  /** How each seal is kept: see `seals.ts`. */
  readonly seals: string;
  readonly odd: readonly string[];
  /** By version and record: `12.0`. */
  readonly redactions?: { readonly [place: string]: Redaction } | undefined;
}

interface Packing {
  readonly text: Buffer;
  readonly seals: Buffer;
}

const compress = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);

/** An archive block of successive commits of one conversation; blocks this thread. */
export function packBlock(owner: string, logs: readonly LogRecord[]): Uint8Array {
  const packing = pack(owner, logs);
  return seal(packing, zlib.brotliCompressSync(packing.text, optionsFor(packing.text)));
}

/** The same, compressed on another thread. */
export async function packBlockAside(owner: string, logs: readonly LogRecord[]): Promise<Uint8Array> {
  const packing = pack(owner, logs);
  return seal(packing, await compress(packing.text, optionsFor(packing.text)));
}

function optionsFor({ length }: Buffer): zlib.BrotliOptions {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, BROTLI_PARAM_SIZE_HINT, BROTLI_PARAM_LGWIN } =
    zlib.constants;
  const windowBits = Math.max(10, Math.min(MOST_WINDOW_BITS, Math.ceil(Math.log2(length + 16))));
  return {
    params: {
      [BROTLI_PARAM_QUALITY]: QUALITY,
      [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT,
      [BROTLI_PARAM_SIZE_HINT]: length,
      [BROTLI_PARAM_LGWIN]: windowBits,
    },
  };
}

function pack(owner: string, logs: readonly LogRecord[]): Packing {
  const { bytes, codes, odd } = packSeals(logs);
  const contents: Contents = {
    owner,
    first: logs[0]?.version ?? 1,
    times: logs.map(({ at }, index) => at - (logs[index - 1]?.at ?? 0)),
    headers: logs.map(({ header }) => bytesOf(header)),
    bodies: logs.map(({ records }) => records.map(({ body }) => bytesOf(body))),
    seals: codes,
    odd,
    redactions: redactionsOf(logs),
  };
  const headers = logs.map(({ header }) => header ?? '').join('');
  const bodies = logs.map(({ records }) => records.map(({ body }) => body ?? '').join('')).join('');
  return { text: Buffer.from(`${JSON.stringify(contents)}\n${headers}${bodies}`, 'utf8'), seals: bytes };
}

function bytesOf(text: string | null): number | null {
  return text === null ? null : Buffer.byteLength(text);
}

function redactionsOf(logs: readonly LogRecord[]): Contents['redactions'] {
  const redacted = logs.flatMap(({ version, records }) =>
    [...records.entries()].flatMap(([index, { redaction }]) =>
      redaction ? [[`${version}.${index}`, redaction] as const] : [],
    ),
  );
  return redacted.length > 0 ? Object.fromEntries(redacted) : undefined;
}

function seal({ seals }: Packing, compressed: Buffer): Uint8Array {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(compressed.length);
  const content = Buffer.concat([MAGIC, length, compressed, seals]);
  return Buffer.concat([content, digestOf(content)]);
}

function digestOf(content: Uint8Array): Buffer {
  return Buffer.from(crypto.hash('sha256', content, 'base64url'), 'base64url');
}

/** A block that was read, its digest checked. */
export class Block {
  readonly first: number;
  readonly last: number;
  readonly #contents: Contents;
  readonly #words: Buffer;
  readonly #seals: SealReader;
  /** Where each header starts in the words, and where the bodies of each commit do. */
  readonly #headerStarts: readonly number[];
  readonly #bodyStarts: readonly number[];

  private constructor(contents: Contents, words: Buffer, seals: Uint8Array) {
    this.#contents = contents;
    this.#words = words;
    this.first = contents.first;
    this.last = contents.first + contents.times.length - 1;
    this.#seals = new SealReader(contents.seals, seals, contents.odd, contents.bodies);
    this.#headerStarts = startsOf(contents.headers.map((length) => length ?? 0));
    const ofBodies = startsOf(contents.bodies.map((lengths) => lengths.reduce<number>(plus, 0)));
    const bodies = contents.headers.reduce<number>(plus, 0);
    this.#bodyStarts = ofBodies.map((start) => start + bodies);
  }

  /** Throws `corrupt`, with the place that is told, where the bytes are not those that were packed for this owner. */
  static read(bytes: Uint8Array, owner: string, place: string): Block {
    const damaged = (reason: string, cause?: unknown) => new TurnkeepError('corrupt', { place, reason }, { cause });
    const content = bytes.subarray(0, -DIGEST_BYTES);
    if (content.length < START || !digestOf(content).equals(bytes.subarray(-DIGEST_BYTES)))
      throw damaged('the archive block does not match its digest');
    if (!MAGIC.equals(content.subarray(0, MAGIC.length))) throw damaged('it is no archive block of a known format');
    const end = START + Buffer.from(content.buffer, content.byteOffset).readUInt32LE(MAGIC.length);
    try {
      const text = zlib.brotliDecompressSync(content.subarray(START, end));
      const contentsEnd = text.indexOf(LINE_FEED);
      const contents = JSON.parse(text.toString('utf8', 0, contentsEnd)) as Contents; // we wrote it: its digest was right
      if (contents.owner !== owner) throw damaged(`the archive block is that of ${contents.owner}`);
      return new Block(contents, text.subarray(contentsEnd + 1), content.subarray(end));
    } catch (error) {
      if (error instanceof TurnkeepError) throw error;
      throw damaged('the archive block cannot be read', error);
    }
  }

  /** The record of a version; `undefined` where the block does not have it. */
  log(version: number): LogRecord | undefined {
    const at = version - this.first;
    const lengths = this.#contents.bodies[at];
    if (!lengths) return undefined;
    const header = this.#slice(this.#headerStarts[at] ?? 0, this.#contents.headers[at] ?? null);
    const seals = this.#seals.at(at);
    const headerDigest = seals.next(() => sha256(header ?? '')) ?? '';
    const nonce = seals.next();
    let start = this.#bodyStarts[at] ?? 0;
    const records = lengths.map((length, index): StoredRecord => {
      const body = this.#slice(start, length);
      start += length ?? 0;
      const sealed = seals.pair((recordNonce) => recordDigest(sha256, recordNonce, body ?? ''));
      const redaction = this.#contents.redactions?.[`${version}.${index}`];
      return redaction ? { ...sealed, body, redaction } : { ...sealed, body };
    });
    const time = this.#contents.times.slice(0, at + 1).reduce(plus, 0);
    return { version, at: time, header, headerDigest, nonce, records, tier: 'cool' };
  }

  /** All its records, in order. */
  logs(): readonly LogRecord[] {
    return this.#contents.times.map((_, at) => this.log(this.first + at) as LogRecord); // the block has it
  }

  #slice(start: number, length: number | null): string | null {
    return length === null ? null : this.#words.toString('utf8', start, start + length);
  }
}

/** Where each of some lengths starts when they stand one after the other. */
function startsOf(lengths: readonly number[]): readonly number[] {
  let start = 0;
  return lengths.map((length) => {
    const at = start;
    start += length;
    return at;
  });
}

function plus(sum: number, length: number | null): number {
  return sum + (length ?? 0);
}
