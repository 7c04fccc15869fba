/** Bytes that grow. Numbers are varints: seven bits a byte, low ones first, up to 2^53. */
export class ByteSink {
  #bytes = new Uint8Array(4_096);
  length = 0;

  /** A copy of what was written; the sink is empty afterwards. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = value;
  }

  varint(value: number): void {
    let rest = value;
    for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 0x80)) this.byte((rest % 0x80) | 0x80);
    for (; rest > 0x7f; rest >>>= 7) this.byte((rest & 0x7f) | 0x80);
    this.byte(rest);
  }

  /** Room for so many zero bytes, to be filled in place. */
  reserve(count: number): Uint8Array {
    this.#grow(count);
    const room = this.#bytes.subarray(this.length, this.length + count).fill(0);
    this.length += count;
    return room;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length).set(bytes);
  }

  #grow(count: number): void {
    if (this.length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }
}

/** Reads what a `ByteSink` wrote. */
export class ByteSource {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get ended(): boolean {
    return this.at >= this.#bytes.length;
  }

  byteAt(at: number): number {
    return this.#bytes[at] ?? 0;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
}
