import * as crypto from 'node:crypto';
import { FRAME_HEAD_BYTES, frameHead } from './frame.ts';
import type { LineParts } from './frame.ts';

const ROOM_BYTES = 262_144;
/** Of UTF-8, for one UTF-16 unit. */
const UNIT_BYTES = 3;
const CLOSING = 0x7d;
const LINE_FEED = 0x0a;

/**
 * Lines on their way to the log, one behind the other. Each text becomes bytes once, in its place, and is digested there:
 * 5 µs for a turn, against 11 by way of strings.
 */
export class LineBuffer {
  #bytes = Buffer.allocUnsafe(ROOM_BYTES);
  #length = 0;

  /** Appends a line; answers how many bytes its frame has, the line feed not counted. */
  add({ meta, words }: LineParts): number {
    this.#reserve(FRAME_HEAD_BYTES + UNIT_BYTES * (meta.length + words.length) + 2);
    const start = this.#length;
    const from = start + FRAME_HEAD_BYTES;
    const metaEnd = from + this.#bytes.write(meta, from, 'utf8');
    const end = metaEnd + this.#bytes.write(words, metaEnd, 'utf8');
    const head = frameHead(metaEnd - from, this.#shaOf(from, metaEnd), end - metaEnd, this.#shaOf(metaEnd, end));
    this.#bytes.write(head, start, 'latin1');
    this.#bytes.copyWithin(start + head.length, from, end);
    const length = head.length + end - from + 1;
    this.#bytes[start + length - 1] = CLOSING;
    this.#bytes[start + length] = LINE_FEED;
    this.#length = start + length + 1;
    return length;
  }

  /** What was added since; it holds until the next line is. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    // What one large group needed is not kept.
    if (this.#bytes.length > 4 * ROOM_BYTES) this.#bytes = Buffer.allocUnsafe(ROOM_BYTES);
    return taken;
  }

  #shaOf(from: number, to: number): string {
    return crypto.hash('sha256', this.#bytes.subarray(from, to), 'base64url');
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.#length + bytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
