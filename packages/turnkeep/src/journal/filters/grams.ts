import { fold } from '../../core/fold.ts';
import { textCodes } from '../../core/trigram.ts';

// A gram stands for 1, 2, 3 or 6 code points in a row, folded, as a hash of 32 bits. Three alone tell rare words: of two
// common words after each other that are nowhere, four in five stretches have all threes; one in thirty has all sixes.

const SHORT = 3;
const LONG = 6;
/** The longest gram in UTF-16 units. */
export const GRAM_UNITS: number = 2 * LONG;

/** Collects hashes, each once. */
export class GramSet {
  #table = new Uint32Array(65_536);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  add(gram: number): void {
    const slot = this.#slot(gram);
    if (this.#table[slot] === gram) return;
    this.#table[slot] = gram;
    this.#count += 1;
    if (this.#count * 2 > this.#table.length) this.#grow();
  }

  *values(): Generator<number> {
    for (const gram of this.#table) if (gram !== 0) yield gram;
  }

  clear(): void {
    this.#table.fill(0);
    this.#count = 0;
  }

  /** Where the gram is, or would be. */
  #slot(gram: number): number {
    const mask = this.#table.length - 1;
    let slot = gram & mask;
    for (let there = this.#table[slot]; there !== 0 && there !== gram; there = this.#table[slot])
      slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const before = this.#table;
    this.#table = new Uint32Array(before.length * 2);
    for (const gram of before) if (gram !== 0) this.#table[this.#slot(gram)] = gram;
  }
}

/** Adds all grams of a text. */
export function addGrams(text: string, grams: GramSet): void {
  const codes = textCodes(fold(text));
  const threes = new Uint32Array(codes.length);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] as number;
    grams.add(single(code));
    if (at < 1) continue;
    const two = pair(codes[at - 1] as number, code);
    grams.add(two);
    if (at < 2) continue;
    const three = triple(pair(codes[at - 2] as number, codes[at - 1] as number), code);
    threes[at] = three;
    grams.add(three);
    if (at >= LONG - 1) grams.add(six(threes[at - SHORT] as number, three));
  }
}

/** What a text has to have in order to contain a query: the longest grams that fit into it. Empty for an empty query. */
export function queryGrams(query: string): number[] {
  const codes = textCodes(fold(query));
  if (codes.length === 0) return [];
  if (codes.length === 1) return [single(codes[0] as number)];
  if (codes.length === 2) return [pair(codes[0] as number, codes[1] as number)];
  const threes = Array.from({ length: codes.length - SHORT + 1 }, (_, at) =>
    triple(pair(codes[at] as number, codes[at + 1] as number), codes[at + 2] as number),
  );
  if (codes.length < LONG) return [...new Set(threes)];
  return [...new Set(threes.slice(SHORT).map((three, at) => six(threes[at] as number, three)))];
}

function single(code: number): number {
  return mixed(code + 1);
}

function pair(first: number, second: number): number {
  return mixed(0x3c6ef372 ^ ((first << 16) | second));
}

function triple(two: number, third: number): number {
  return mixed(Math.imul(two, 0x9e3779b1) + third);
}

function six(first: number, second: number): number {
  return mixed(Math.imul(first, 0x85ebca77) ^ second);
}

/** Every bit of the answer hangs on every bit of the number. Never 0. */
export function mixed(number: number): number {
  let bits = Math.imul(number ^ (number >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0 || 1;
}
