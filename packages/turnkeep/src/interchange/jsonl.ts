import { constants, isUtf8 } from 'node:buffer';
import { assertFits, count, oneOf } from '../ledger/given.ts';
import type { Checks } from '../ledger/given.ts';
import { assertBytes } from './byte-source.ts';
import { endOfString, parseExact } from '../core/exact.ts';
import type { ExactJson } from '../core/exact.ts';

/**
 * What is wrong with a stretch of a file:
 * - `torn_tail`: the last line, without its end, is not whole;
 * - `not_json`: a line that does not parse;
 * - `glued`: records on one line, the first torn or both whole;
 * - `nul_run`: zero bytes, as a crash leaves them;
 * - `invalid_utf8`: bytes that are not text;
 * - `too_long`: a line past the limit, not read.
 */
export type DamageKind = 'torn_tail' | 'not_json' | 'glued' | 'nul_run' | 'invalid_utf8' | 'too_long';

export interface Damage {
  readonly kind: DamageKind;
  /** For a person. */
  readonly reason: string;
  /** How many bytes could not be used. */
  readonly bytes: number;
}

/** A record of a file, with what its value does not hold (see {@link parseExact}). */
export interface JsonlRecord extends ExactJson {
  /** From 1. */
  readonly line: number;
  /** Where the record's own text starts, from 0, and how many bytes it takes. */
  readonly byte: number;
  readonly bytes: number;
  readonly text: string;
  /** True where it was found on a damaged line. */
  readonly isSalvaged: boolean;
  readonly damage?: undefined;
}

export interface JsonlDamage {
  readonly line: number;
  readonly byte: number;
  readonly damage: Damage;
}

export type JsonlEntry = JsonlRecord | JsonlDamage;

export interface JsonlOptions {
  /** What to do with bytes that are not UTF-8: `refuse` the line, or keep it with U+FFFD in their place. Both report it. */
  readonly invalidUtf8?: 'refuse' | 'replace' | undefined;
  /** A longer line is reported and not held in memory. 256 MiB when absent. */
  readonly maxLineBytes?: number | undefined;
}

/** What a reading counted. Every line is blank, damaged or whole; a damaged one may still give records. */
export interface JsonlCounts {
  lines: number;
  blank: number;
  damaged: number;
  records: number;
  salvaged: number;
  bytes: number;
}

const MAX_LINE_BYTES = 268_435_456;

/** What the options of a reading are to be; a line past the longest string could not be looked at. */
export const JSONL_CHECKS: Checks<JsonlOptions> = {
  invalidUtf8: oneOf('refuse', 'replace'),
  maxLineBytes: (value) =>
    count(value) ?? ((value as number) <= constants.MAX_STRING_LENGTH ? undefined : 'a line cannot be that long'),
};

const NEWLINE = 0x0a;

/**
 * Reads records from lines that end at 0x0A and nowhere else, in memory bounded by the longest line. Damage is yielded
 * beside the records, never skipped; a whole record behind a torn one on the same line is salvaged.
 */
export class JsonlReader implements AsyncIterable<JsonlEntry> {
  readonly counts: JsonlCounts = { lines: 0, blank: 0, damaged: 0, records: 0, salvaged: 0, bytes: 0 };
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #invalidUtf8: 'refuse' | 'replace';
  readonly #maxLineBytes: number;

  constructor(source: AsyncIterable<Uint8Array>, options: JsonlOptions = {}) {
    const { invalidUtf8 = 'refuse', maxLineBytes = MAX_LINE_BYTES } = options;
    assertFits(invalidUtf8, JSONL_CHECKS.invalidUtf8, 'options.invalidUtf8');
    assertFits(maxLineBytes, JSONL_CHECKS.maxLineBytes, 'options.maxLineBytes');
    this.#source = source;
    this.#invalidUtf8 = invalidUtf8;
    this.#maxLineBytes = maxLineBytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<JsonlEntry> {
    for await (const line of this.#lines()) yield* this.#counted(line);
  }

  *#counted(line: Line): Generator<JsonlEntry> {
    const { counts } = this;
    counts.lines += 1;
    let isBlank = true;
    let isDamaged = false;
    for (const entry of this.#entriesOf(line)) {
      isBlank = false;
      if (entry.damage) isDamaged = true;
      else {
        counts.records += 1;
        if (entry.isSalvaged) counts.salvaged += 1;
      }
      yield entry;
    }
    if (isBlank) counts.blank += 1;
    if (isDamaged) counts.damaged += 1;
  }

  async *#lines(): AsyncGenerator<Line> {
    let pending = new PendingLine(1, 0, this.#maxLineBytes);
    for await (const chunk of this.#source) {
      assertBytes(chunk);
      const data = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.counts.bytes += data.length;
      let from = 0;
      for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, from)) {
        pending.add(data.subarray(from, end));
        yield pending.finish(true);
        from = end + 1;
        pending = pending.next();
      }
      // What a source lends may be written over before the line ends.
      if (from < data.length) pending.add(Buffer.from(data.subarray(from)));
    }
    if (pending.length > 0) yield pending.finish(false);
  }

  *#entriesOf(line: Line): Generator<JsonlEntry> {
    if (line.data === null) {
      const reason = `the line has ${line.length} bytes, more than ${this.#maxLineBytes}`;
      yield { line: line.number, byte: line.byte, damage: { kind: 'too_long', reason, bytes: line.length } };
      return;
    }
    for (const { byte, data, isPart } of withoutNuls(line.number, line.byte, line.data)) {
      if (!Buffer.isBuffer(data)) {
        yield { line: line.number, byte, damage: data };
        continue;
      }
      yield* this.#entriesOfStretch({ line: line.number, byte, data, isSalvaged: isPart, isEnded: line.isEnded });
    }
  }

  *#entriesOfStretch(stretch: Stretch): Generator<JsonlEntry> {
    const { line, byte, data } = stretch;
    if (isUtf8(data)) {
      yield* recordsOf(stretch, data.toString('utf8'));
      return;
    }
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(data);
    const count = text.split('\ufffd').length - 1;
    const kept = this.#invalidUtf8 === 'replace';
    const reason = kept
      ? `bytes that are not UTF-8 were replaced (${count} marks)`
      : 'the line holds bytes that are not UTF-8';
    yield { line, byte, damage: { kind: 'invalid_utf8', reason, bytes: kept ? 0 : data.length } };
    if (kept) yield* recordsOf({ ...stretch, isSalvaged: true }, text);
  }
}

interface Line {
  readonly number: number;
  readonly byte: number;
  readonly length: number;
  /** `null` where the line is too long to hold. */
  readonly data: Buffer | null;
  /** False for a last line without a line end. */
  readonly isEnded: boolean;
}

/** A line while its bytes come in. */
class PendingLine {
  readonly #number: number;
  readonly #byte: number;
  readonly #max: number;
  #chunks: Buffer[] = [];
  length = 0;

  constructor(number: number, byte: number, max: number) {
    this.#number = number;
    this.#byte = byte;
    this.#max = max;
  }

  add(data: Buffer): void {
    this.length += data.length;
    if (this.length <= this.#max) this.#chunks.push(data);
    else this.#chunks = [];
  }

  finish(isEnded: boolean): Line {
    const fits = this.length <= this.#max;
    const data = fits ? (this.#chunks.length === 1 ? (this.#chunks[0] ?? null) : Buffer.concat(this.#chunks)) : null;
    return { number: this.#number, byte: this.#byte, length: this.length, data, isEnded };
  }

  next(): PendingLine {
    return new PendingLine(this.#number + 1, this.#byte + this.length + 1, this.#max);
  }
}

interface Piece {
  readonly byte: number;
  readonly data: Buffer | Damage;
  /** True where the line holds zero bytes beside. */
  readonly isPart: boolean;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
/** A crash leaves a few runs of zero bytes on a line; another encoding, or what is no text, has them everywhere. */
const MAX_NUL_RUNS = 64;

/** The stretches of a line between runs of NUL, and the runs as damage. A byte order mark is none of the first line. */
function* withoutNuls(number: number, byte: number, line: Buffer): Generator<Piece> {
  let at = number === 1 && line.subarray(0, 3).equals(BOM) ? 3 : 0;
  const isPart = line.includes(0);
  if (isPart && hasManyNuls(line)) {
    const reason = `zero bytes in more than ${MAX_NUL_RUNS} places: text of another encoding (UTF-16?), or no text`;
    yield { byte, data: { kind: 'nul_run', reason, bytes: line.length }, isPart };
    return;
  }
  while (at < line.length) {
    const nul = line.indexOf(0, at);
    const end = nul < 0 ? line.length : nul;
    if (end > at) yield { byte: byte + at, data: line.subarray(at, end), isPart };
    if (nul < 0) return;
    at = nul;
    while (line[at] === 0) at += 1;
    const bytes = at - nul;
    yield { byte: byte + nul, data: { kind: 'nul_run', reason: `${bytes} zero bytes`, bytes }, isPart };
  }
}

function hasManyNuls(line: Buffer): boolean {
  let runs = 0;
  for (let at = line.indexOf(0); at >= 0 && runs <= MAX_NUL_RUNS; at = line.indexOf(0, at)) {
    runs += 1;
    while (line[at] === 0) at += 1;
  }
  return runs > MAX_NUL_RUNS;
}

interface Stretch {
  readonly line: number;
  readonly byte: number;
  readonly data: Buffer;
  readonly isSalvaged: boolean;
  readonly isEnded: boolean;
}

/** @param whole The stretch's text, with U+FFFD for what is none. */
function* recordsOf(stretch: Stretch, whole: string): Generator<JsonlEntry> {
  const text = whole.trim();
  if (text === '') return;
  const exact = parsed(text);
  // On a damaged line a number or a word is a piece of a record more likely than one.
  if (!exact || (stretch.isSalvaged && !isRecord(exact))) {
    yield* salvaged(stretch, whole);
    return;
  }
  const { line, isSalvaged, data } = stretch;
  const start = whole.length - whole.trimStart().length;
  const before = Buffer.byteLength(whole.slice(0, start));
  const after = Buffer.byteLength(whole.slice(start + text.length));
  const place = { byte: stretch.byte + before, bytes: data.length - before - after };
  yield { line, ...place, text, isSalvaged, ...exact };
}

function isRecord({ value }: ExactJson): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): ExactJson | undefined {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Whole records on a line that does not parse as one, and the damage. */
function* salvaged(stretch: Stretch, whole: string): Generator<JsonlEntry> {
  const { line, byte, data } = stretch;
  const records: JsonlRecord[] = [];
  const work = { left: SALVAGE_WORK };
  const cursor = new Cursor(whole, data);
  let lost = '';
  for (let rest = 0; rest < whole.length;) {
    const found = nextRecord(whole, rest, work);
    lost += whole.slice(rest, found?.start).trim();
    if (!found) break;
    const { start, end, exact } = found;
    const first = cursor.byteOf(start);
    const place = { byte: byte + first, bytes: cursor.byteOf(end - 1) + 1 - first };
    records.push({ line, ...place, text: whole.slice(start, end), isSalvaged: true, ...exact });
    rest = end;
  }
  yield { line, byte, damage: damageOf(stretch, records.length, Buffer.byteLength(lost)) };
  yield* records;
}

/**
 * Finds characters of a text among the bytes that it was decoded from, going forward. It looks for characters of ASCII
 * only: whatever a decoder replaces, it takes none of them away and adds none.
 */
class Cursor {
  readonly #text: string;
  readonly #data: Buffer;
  #at = 0;
  #byte = 0;

  constructor(text: string, data: Buffer) {
    this.#text = text;
    this.#data = data;
  }

  /** The byte of the character at `at`, which stands behind the last one that was asked for. */
  byteOf(at: number): number {
    const char = this.#text.charAt(at);
    for (; this.#at <= at; this.#byte += 1) {
      this.#at = this.#text.indexOf(char, this.#at) + 1;
      this.#byte = this.#data.indexOf(char, this.#byte);
    }
    return this.#byte - 1;
  }
}

function damageOf(stretch: Stretch, records: number, bytes: number): Damage {
  if (records > 0)
    return { kind: 'glued', reason: `${records} whole and ${bytes === 0 ? 'no' : 'a'} torn record on one line`, bytes };
  if (!stretch.isEnded) return { kind: 'torn_tail', reason: 'the last line ends in the middle of a record', bytes };
  return { kind: 'not_json', reason: 'the line is not JSON', bytes };
}

interface Found {
  readonly exact: ExactJson;
  readonly start: number;
  readonly end: number;
}

/** Characters that are looked at for one line, since a candidate that does not close costs a look to the line's end. */
const SALVAGE_WORK = 100_000_000;

/**
 * The next whole record from `from` on. Inside a torn record an object may begin only where its grammar has none: within
 * a string, or right behind a value. An object that stands where one belongs is a part of the torn record.
 */
function nextRecord(whole: string, from: number, work: { left: number }): Found | undefined {
  let isFirst = true;
  for (const start of objectStarts(whole, from)) {
    if (work.left < 0 && !isFirst) return undefined;
    isFirst = false;
    const end = endOfObject(whole, start);
    work.left -= (end ?? whole.length) - start;
    const exact = end === undefined ? undefined : parsed(whole.slice(start, end));
    if (exact && end !== undefined) return { exact, start, end };
  }
  return undefined;
}

function* objectStarts(text: string, from: number): Generator<number> {
  let before = '';
  for (let at = from; at < text.length;) {
    const unit = text[at] ?? '';
    if (unit === '"') {
      const end = endOfString(text, at);
      for (
        let inside = text.indexOf('{"', at + 1);
        inside >= 0 && inside < end;
        inside = text.indexOf('{"', inside + 1)
      )
        yield inside;
      before = unit;
      at = end;
      continue;
    }
    if (unit === '{' && !':,['.includes(before || ' ')) yield at;
    if (unit.trim() !== '') before = unit;
    at += 1;
  }
}

/** The place after the object that opens at `start`, by its braces; `undefined` where it does not close. */
function endOfObject(text: string, start: number): number | undefined {
  let open = 0;
  for (let at = start; at < text.length;) {
    const unit = text[at];
    if (unit === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (unit === '{') open += 1;
    at += 1;
    if (unit === '}' && --open === 0) return at;
  }
  return undefined;
}
