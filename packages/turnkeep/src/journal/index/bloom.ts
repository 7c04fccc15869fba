const BITS_PER_KEY = 10;
const PROBES = 6;

/** What a filter is asked by: two 32-bit hashes of a byte key. Made once, it asks any number of filters. */
export type KeyHashes = readonly [first: number, step: number];

/** FNV-1a, and its bits mixed once more. */
export function hashesOf(key: string): KeyHashes {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return [hash >>> 0, (mixed | 1) >>> 0];
}

/** Says of most keys that are not in a set that they are not; of those that are, never. */
export class Bloom {
  readonly bytes: Buffer;
  readonly #bits: number;

  private constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#bits = bytes.length * 8;
  }

  static forKeys(count: number): Bloom {
    return new Bloom(Buffer.alloc(Math.max(8, Math.ceil((count * BITS_PER_KEY) / 8))));
  }

  static of(bytes: Buffer): Bloom {
    return new Bloom(bytes);
  }

  add(key: string): void {
    const [first, step] = hashesOf(key);
    for (let probe = 0, bit = first; probe < PROBES; probe++, bit += step) {
      const at = bit % this.#bits;
      this.bytes[at >>> 3] = (this.bytes[at >>> 3] ?? 0) | (1 << (at & 7));
    }
  }

  mayHave([first, step]: KeyHashes): boolean {
    for (let probe = 0, bit = first; probe < PROBES; probe++, bit += step) {
      const at = bit % this.#bits;
      if (((this.bytes[at >>> 3] ?? 0) & (1 << (at & 7))) === 0) return false;
    }
    return true;
  }
}
