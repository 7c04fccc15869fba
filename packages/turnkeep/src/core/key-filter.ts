const BITS = 65_536;

/**
 * Knows which keys were never put. It is asked before the store, for ids that a commit brings, which are nearly always new.
 * One bit per key, by its hash: 8 KiB for a conversation. From 20,000 keys on its answers become vague, but never wrong.
 */
export class KeyFilter {
  readonly #bits = new Uint8Array(BITS / 8);

  add(key: string): void {
    const hash = hashOf(key);
    this.#bits[hash >>> 3] = (this.#bits[hash >>> 3] ?? 0) | (1 << (hash & 7));
  }

  /** `false` if the key was never added. */
  mayHave(key: string): boolean {
    const hash = hashOf(key);
    return ((this.#bits[hash >>> 3] ?? 0) & (1 << (hash & 7))) !== 0;
  }
}

/** FNV-1a over UTF-16 units, folded to 16 bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return ((hash >>> 16) ^ hash) & (BITS - 1);
}
