/**
 * A block of a run: entries in key order, each as `shared, rest, value` lengths in base 128 (a value's is one more than
 * it is, 0 says that the key is removed), then the rest of the key and the value. `shared` bytes are the key before's.
 */
export interface BlockEntry {
  /** Byte key. */
  readonly key: string;
  /** JSON; `null` where the key is removed. */
  readonly value: Buffer | null;
}

const VARINT_BYTES = 5;

function putVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value;
  let place = at;
  for (; rest > 0x7f; rest >>>= 7) bytes[place++] = (rest & 0x7f) | 0x80;
  bytes[place++] = rest;
  return place;
}

/** Collects entries until a block is full. */
export class BlockBuilder {
  #bytes = Buffer.allocUnsafe(16_384);
  #length = 0;
  #last = '';
  firstKey = '';

  get length(): number {
    return this.#length;
  }

  add(key: string, value: Buffer | string | null): void {
    if (this.#length === 0) this.firstKey = key;
    const shared = this.#length === 0 ? 0 : sharedLength(this.#last, key);
    const valueBytes = value === null ? 0 : typeof value === 'string' ? Buffer.byteLength(value) : value.length;
    this.#reserve(3 * VARINT_BYTES + key.length - shared + valueBytes);
    let at = putVarint(this.#bytes, this.#length, shared);
    at = putVarint(this.#bytes, at, key.length - shared);
    at = putVarint(this.#bytes, at, value === null ? 0 : valueBytes + 1);
    at += this.#bytes.write(key.slice(shared), at, 'latin1');
    if (typeof value === 'string') at += this.#bytes.write(value, at, 'utf8');
    else if (value !== null) at += value.copy(this.#bytes, at);
    this.#length = at;
    this.#last = key;
  }

  /** The block so far; the builder begins a new one. */
  take(): Buffer {
    const block = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    this.#last = '';
    return block;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.#length + bytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

function sharedLength(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  let at = 0;
  while (at < end && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  return at;
}

/** The entries of a block whose checksum was right. */
export function readBlock(bytes: Buffer): readonly BlockEntry[] {
  const entries: BlockEntry[] = [];
  let at = 0;
  let key = '';
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  while (at < bytes.length) {
    const shared = varint();
    const rest = varint();
    const size = varint();
    key = key.slice(0, shared) + bytes.toString('latin1', at, at + rest);
    at += rest;
    entries.push({ key, value: size === 0 ? null : bytes.subarray(at, at + size - 1) });
    if (size > 0) at += size - 1;
  }
  return entries;
}
