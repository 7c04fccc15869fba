import { recordHolds } from '../core/digest.ts';
import type { LogRecord } from '../core/log.ts';
import { sha256 } from '../platform/hash.ts';

// The seals of a commit: the digest of its header, its nonce, and then the digest and the nonce of each record. A digest that
// follows from what the block holds is not kept: the block's own digest says that it is what was put there. Each seal has a
// code: `=` it follows, `d` a digest's 32 bytes, `n` a nonce's 16, `t` a text of another shape (in tests), `-` it is gone.

const DIGEST_BYTES = 32;
const NONCE_BYTES = 16;
const BYTES: { readonly [code: string]: number } = { d: DIGEST_BYTES, n: NONCE_BYTES };
const OF_COMMIT = 2;
const OF_RECORD = 2;

// The last character of such a text has bits that no byte takes: only where they are zero does it come back the same.
const DIGEST = /^[\w-]{42}[AEIMQUYcgkosw048]$/;
const NONCE = /^[\w-]{21}[AQgw]$/;

export interface PackedSeals {
  /** A code for each seal, in order. */
  readonly codes: string;
  readonly bytes: Buffer;
  /** Those of another shape. */
  readonly odd: readonly string[];
}

export function packSeals(logs: readonly LogRecord[]): PackedSeals {
  const codes: string[] = [];
  const bytes: Buffer[] = [];
  const odd: string[] = [];
  const keep = (text: string | null, shape: RegExp, code: string) => {
    if (text === null) return codes.push('-');
    if (shape.test(text)) {
      bytes.push(Buffer.from(text, 'base64url'));
      return codes.push(code);
    }
    odd.push(text);
    return codes.push('t');
  };
  for (const { header, headerDigest, nonce, records } of logs) {
    if (header !== null && sha256(header) === headerDigest) codes.push('=');
    else keep(headerDigest, DIGEST, 'd');
    keep(nonce, NONCE, 'n');
    for (const record of records) {
      // A record that is damaged keeps its digest, and stays damaged.
      if (recordHolds(sha256, record)) codes.push('=');
      else keep(record.digest, DIGEST, 'd');
      keep(record.nonce, NONCE, 'n');
    }
  }
  return { codes: codes.join(''), bytes: Buffer.concat(bytes), odd };
}

/** Reads the seals of single commits. */
export class SealReader {
  readonly #codes: string;
  readonly #bytes: Buffer;
  readonly #odd: readonly string[];
  readonly #records: readonly (readonly unknown[])[];

  /** `records` has an item for each record of each commit. */
  constructor(codes: string, bytes: Uint8Array, odd: readonly string[], records: readonly (readonly unknown[])[]) {
    this.#codes = codes;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#odd = odd;
    this.#records = records;
  }

  /** The seals of a commit, by its place in the block. */
  at(commit: number): SealsOfCommit {
    const before = this.#records.slice(0, commit).reduce((sum, records) => sum + records.length, 0);
    const first = OF_COMMIT * commit + OF_RECORD * before;
    let byte = 0;
    let odd = 0;
    for (let at = 0; at < first; at++) {
      const code = this.#codes[at] ?? '';
      byte += BYTES[code] ?? 0;
      odd += code === 't' ? 1 : 0;
    }
    return new SealsOfCommit(this.#codes.slice(first), this.#bytes.subarray(byte), this.#odd.slice(odd));
  }
}

class SealsOfCommit {
  readonly #codes: string;
  readonly #bytes: Buffer;
  readonly #odd: readonly string[];
  #next = 0;
  #byte = 0;
  #text = 0;

  constructor(codes: string, bytes: Buffer, odd: readonly string[]) {
    this.#codes = codes;
    this.#bytes = bytes;
    this.#odd = odd;
  }

  /** The next seal; `follows` answers one that is not kept. */
  next(follows: () => string = () => ''): string | null {
    const code = this.#codes[this.#next++] ?? '-';
    if (code === '-') return null;
    if (code === '=') return follows();
    if (code === 't') return this.#odd[this.#text++] ?? '';
    const start = this.#byte;
    this.#byte += BYTES[code] ?? 0;
    return this.#bytes.toString('base64url', start, this.#byte);
  }

  /** The next record's digest and nonce; the digest may follow from the nonce. */
  pair(follows: (nonce: string) => string): { readonly digest: string; readonly nonce: string | null } {
    const isKept = this.#codes[this.#next] !== '=';
    const digest = this.next();
    const nonce = this.next();
    return { digest: isKept ? (digest ?? '') : follows(nonce ?? ''), nonce };
  }
}
