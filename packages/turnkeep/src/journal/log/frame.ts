import * as crypto from 'node:crypto';

// {"meta":[M,"S"],"words":[W,"S"],"commit":B} and a line feed. B is JSON: its first M bytes, which say all that a replay
// needs, and its last W bytes, the words. Each part has its length and its SHA-256, so that damage to the one leaves the
// other whole. Blanks before "commit" fill up a line that has to keep its length.
const OPENING = '{"meta":[';
const HEAD = /^\{"meta":\[(\d{1,10}),"([\w-]{43})"\],"words":\[(\d{1,10}),"([\w-]{43})"\], *"commit":/;
const LENGTH_DIGITS = 10;
/** The longest head without blanks, and more. */
export const FRAME_HEAD_BYTES = 190;
const CLOSING = 0x7d;
const LINE_FEED = 0x0a;

/** The body of a line in two parts: JSON when they are joined. */
export interface LineParts {
  readonly meta: string;
  readonly words: string;
}

/** What stands before a body: the lengths of its parts in bytes, their digests, and blanks to fill up. */
export function frameHead(
  metaBytes: number,
  metaSha: string,
  wordsBytes: number,
  wordsSha: string,
  blanks = 0,
): string {
  const fill = blanks === 0 ? '' : ' '.repeat(blanks);
  return `{"meta":[${metaBytes},"${metaSha}"],"words":[${wordsBytes},"${wordsSha}"],${fill}"commit":`;
}

/** The frame around a body that has no line feed. */
export function sealParts({ meta, words }: LineParts, wordsSha: string = shaOf(words), blanks = 0): string {
  const head = frameHead(Buffer.byteLength(meta), shaOf(meta), Buffer.byteLength(words), wordsSha, blanks);
  return `${head}${meta}${words}}`;
}

/**
 * A frame that is `lengthBytes` long, the rest of it blanks behind the words; `undefined` where it does not fit. With
 * `wordsSha` it carries that digest, whatever the words are.
 */
export function sealPadded({ meta, words }: LineParts, lengthBytes: number, wordsSha?: string): string | undefined {
  const spare = lengthBytes - Buffer.byteLength(sealParts({ meta, words }, wordsSha));
  // A length that gains a digit takes the room of a blank.
  for (let blanks = spare; blanks >= Math.max(0, spare - LENGTH_DIGITS); blanks--) {
    const padded = { meta, words: words + ' '.repeat(blanks) };
    const short = lengthBytes - Buffer.byteLength(sealParts(padded, wordsSha));
    if (short >= 0) return sealParts(padded, wordsSha, short);
  }
  return undefined;
}

function shaOf(content: string | Buffer): string {
  return crypto.hash('sha256', content, 'base64url');
}

/** A frame within a buffer: where it starts and ends, its line feed not counted, and the two parts of its body. */
export interface Frame {
  readonly start: number;
  readonly end: number;
  readonly meta: Buffer;
  readonly words: Buffer;
}

/** Why there is no whole frame. */
export interface Flaw {
  readonly reason: string;
  /** The meta, where that is whole. */
  readonly meta?: Buffer | undefined;
  /** Where the frame ends, if that can be seen. */
  readonly end?: number | undefined;
}

/** The frame that starts at `start` and ends by `end`, its digests checked; or why there is none. */
export function readFrame(bytes: Buffer, start: number, end: number): Frame | Flaw {
  const head = readHead(bytes, start, end);
  if (!head) return { reason: 'it does not begin as a commit does' };
  const { from, metaEnd, wordsEnd } = head;
  if (metaEnd >= end) return { reason: 'it ends before its length' };
  const meta = bytes.subarray(from, metaEnd);
  const isClosed = wordsEnd < end && bytes[wordsEnd] === CLOSING;
  const frameEnd = isClosed ? wordsEnd + 1 : undefined;
  if (shaOf(meta) !== head.metaSha) return { reason: 'it does not match its digest', end: frameEnd };
  if (wordsEnd >= end) return { reason: 'it ends before its length', meta };
  if (frameEnd === undefined) return { reason: 'its length does not lead to its end', meta };
  const words = bytes.subarray(metaEnd, wordsEnd);
  if (shaOf(words) !== head.wordsSha) return { reason: 'its words do not match their digest', meta, end: frameEnd };
  return { start, end: frameEnd, meta, words };
}

interface FrameHead {
  /** Where the meta begins, where it ends and the words begin, and where these end. */
  readonly from: number;
  readonly metaEnd: number;
  readonly wordsEnd: number;
  readonly metaSha: string;
  readonly wordsSha: string;
}

/** What a frame says of its body. */
export function readHead(bytes: Buffer, start: number, end: number): FrameHead | undefined {
  const head = HEAD.exec(bytes.toString('latin1', start, Math.min(end, start + FRAME_HEAD_BYTES)));
  if (!head) return undefined;
  const [opening, metaBytes, metaSha = '', wordsBytes, wordsSha = ''] = head;
  const from = start + opening.length;
  const metaEnd = from + Number(metaBytes);
  return { from, metaEnd, wordsEnd: metaEnd + Number(wordsBytes), metaSha, wordsSha };
}

/** Bytes of a line that belong to no whole frame. */
export interface Gap {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
  /** The meta of the line that they were, where only the words are damaged. */
  readonly soundMeta?: Buffer | undefined;
}

/** The frames of one line and what stands between them: usually one frame and nothing else. */
export function readLine(bytes: Buffer, start: number, end: number): readonly (Frame | Gap)[] {
  const parts: (Frame | Gap)[] = [];
  for (let at = start; at < end;) {
    const frame = readFrame(bytes, at, end);
    if (!('reason' in frame)) {
      parts.push(frame);
      at = frame.end;
      continue;
    }
    const next = frame.end ?? nextFrame(bytes, at + 1, end);
    parts.push({ start: at, end: next, reason: frame.reason, soundMeta: frame.meta });
    at = next;
  }
  return parts;
}

/** Where the next whole frame of the line starts; its end where there is none. */
function nextFrame(bytes: Buffer, from: number, end: number): number {
  for (let at = from; ;) {
    const found = bytes.indexOf(OPENING, at, 'latin1');
    if (found < 0 || found >= end) return end;
    if (!('reason' in readFrame(bytes, found, end))) return found;
    at = found + 1;
  }
}

/** The place of the next line feed from `from` on, or -1. */
export function lineEnd(bytes: Buffer, from: number): number {
  return bytes.indexOf(LINE_FEED, from);
}
