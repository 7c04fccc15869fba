import { ByteSink, type ByteSource } from './search-bytes.ts';

// Which documents of a segment hold a term, by ordinal: the position of a document in its segment, from 0. Three forms,
// whichever is shortest; most terms stand in one document, and the common ones in so many that a bit for each is less
// than a byte for each that has it.
//
//   header (varint): value × 4 + form
//     ONE     value: the ordinal
//     LIST    value: the length in bytes of what follows: the first ordinal, then each distance − 1, as varints
//     BITMAP  value: the length in bytes of what follows: bit 0 of byte 0 is ordinal 0

const ONE = 0;
const LIST = 1;
const BITMAP = 2;

const list = new ByteSink(); // one writer at a time: everything here is synchronous

/** Writes ordinals, ascending and without repeat, of which there is at least one. */
export function writePostings(sink: ByteSink, ordinals: Uint32Array): void {
  const [first = 0] = ordinals;
  if (ordinals.length === 1) {
    sink.varint(first * 4 + ONE);
    return;
  }
  const bitmapBytes = ((ordinals.at(-1) ?? 0) >> 3) + 1;
  if (ordinals.length >= bitmapBytes || writeList(ordinals) >= bitmapBytes) {
    writeBitmap(sink, ordinals, bitmapBytes);
    return;
  }
  sink.varint(list.length * 4 + LIST);
  sink.append(list.take());
}

/** Reads postings and calls with each ordinal, ascending. */
export function readPostings(source: ByteSource, visit: (ordinal: number) => void): void {
  const header = source.varint();
  const value = Math.floor(header / 4);
  const form = header & 3;
  if (form === ONE) visit(value);
  else if (form === LIST) readList(source, source.at + value, visit);
  else readBitmap(source, source.at + value, visit);
}

export function skipPostings(source: ByteSource): void {
  const header = source.varint();
  if ((header & 3) !== ONE) source.at += Math.floor(header / 4);
}

/** The length of the list in bytes, which is left in `list`. */
function writeList(ordinals: Uint32Array): number {
  list.length = 0;
  let previous = -1;
  for (const ordinal of ordinals) {
    list.varint(ordinal - previous - 1);
    previous = ordinal;
  }
  return list.length;
}

function writeBitmap(sink: ByteSink, ordinals: Uint32Array, bytes: number): void {
  sink.varint(bytes * 4 + BITMAP);
  const bitmap = sink.reserve(bytes);
  for (const ordinal of ordinals) bitmap[ordinal >> 3] = (bitmap[ordinal >> 3] ?? 0) | (1 << (ordinal & 7));
}

function readList(source: ByteSource, end: number, visit: (ordinal: number) => void): void {
  let previous = -1;
  while (source.at < end) {
    previous += source.varint() + 1;
    visit(previous);
  }
}

function readBitmap(source: ByteSource, end: number, visit: (ordinal: number) => void): void {
  for (let base = 0; source.at < end; source.at++, base += 8) {
    let bits = source.byteAt(source.at);
    for (; bits !== 0; bits &= bits - 1) visit(base + 31 - Math.clz32(bits & -bits));
  }
}
