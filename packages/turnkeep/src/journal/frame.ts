import * as crypto from 'node:crypto';

// {"len":L,"sha":"S","commit":B} and a line feed: B is JSON of L bytes, S the SHA-256 of them.
const OPENING = '{"len":';
const HEAD = /^\{"len":(\d{1,10}),"sha":"([\w-]{43})","commit":/;
const HEAD_BYTES = OPENING.length + 10 + 8 + 43 + 11;
const CLOSING = 0x7d;
const LINE_FEED = 0x0a;

/** The frame around a body, which is JSON without a line feed. */
export function sealBody(body: string): string {
  return `{"len":${Buffer.byteLength(body)},"sha":"${crypto.hash('sha256', body, 'base64url')}","commit":${body}}`;
}

/** The line of one commit. */
export function frameLine(body: string): string {
  return `${sealBody(body)}\n`;
}

/** A frame within a buffer: where it starts and ends, its line feed not counted, and the bytes of its body. */
export interface Frame {
  readonly start: number;
  readonly end: number;
  readonly body: Buffer;
}

/** The frame that starts at `start` and ends by `end`, its digest checked; or why there is none. */
export function readFrame(bytes: Buffer, start: number, end: number): Frame | string {
  const head = HEAD.exec(bytes.toString('latin1', start, Math.min(end, start + HEAD_BYTES)));
  if (!head) return 'it does not begin as a commit does';
  const [opening, length, sha] = head;
  const from = start + opening.length;
  const to = from + Number(length);
  if (to >= end) return 'it ends before its length';
  const body = bytes.subarray(from, to);
  if (bytes[to] !== CLOSING) return 'its length does not lead to its end';
  if (crypto.hash('sha256', body, 'base64url') !== sha) return 'it does not match its digest';
  return { start, end: to + 1, body };
}

/** Bytes of a line that belong to no whole frame. */
export interface Gap {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** The frames of one line and what stands between them: usually one frame and nothing else. */
export function readLine(bytes: Buffer, start: number, end: number): readonly (Frame | Gap)[] {
  const parts: (Frame | Gap)[] = [];
  for (let at = start; at < end;) {
    const frame = readFrame(bytes, at, end);
    if (typeof frame !== 'string') {
      parts.push(frame);
      at = frame.end;
      continue;
    }
    const next = nextFrame(bytes, at + 1, end);
    parts.push({ start: at, end: next, reason: frame });
    at = next;
  }
  return parts;
}

/** Where the next whole frame of the line starts; its end where there is none. */
function nextFrame(bytes: Buffer, from: number, end: number): number {
  for (let at = from; ;) {
    const found = bytes.indexOf(OPENING, at, 'latin1');
    if (found < 0 || found >= end) return end;
    if (typeof readFrame(bytes, found, end) !== 'string') return found;
    at = found + 1;
  }
}

/** The place of the next line feed from `from` on, or -1. */
export function lineEnd(bytes: Buffer, from: number): number {
  return bytes.indexOf(LINE_FEED, from);
}
