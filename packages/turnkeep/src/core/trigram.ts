import { fold } from './fold.ts';

// A term stands for three code points in a row. Each code point has a code of 16 bits: its own number within the basic
// plane, a shared one above it. Code points that share a code are found together; whoever verifies the hit tells them apart.

/** Appended to a text twice, so that its last code points also begin a term; no code point has this code. */
const END = 0;
const REPLACEMENT = 0xfffd;
const CODE = 0x1_0000;

/** The most terms that a query is looked up by: more would hardly rule out any of the remaining texts. */
const QUERY_TERMS = 12;

/** Terms from `first` to `last`, both included: one term, or all that begin alike. */
export interface TermRange {
  readonly first: number;
  readonly last: number;
}

/** The codes of a folded text, one for each code point. */
export function textCodes(folded: string): Uint16Array {
  const codes = new Uint16Array(folded.length);
  return codes.subarray(0, writeCodes(folded, codes, 0));
}

/** Writes the codes of a folded text to a place that has room for `folded.length`; answers where they end. */
export function writeCodes(folded: string, codes: Uint16Array, at: number): number {
  let end = at;
  for (let i = 0; i < folded.length; i++) {
    const unit = folded.charCodeAt(i);
    if ((unit & 0xf800) !== 0xd800) {
      codes[end++] = unit === END ? REPLACEMENT : unit;
      continue;
    }
    const codePoint = folded.codePointAt(i) ?? REPLACEMENT;
    codes[end++] = codePoint > 0xffff ? sharedCode(codePoint) : REPLACEMENT;
    if (codePoint > 0xffff) i++;
  }
  return end;
}

/** The term of three codes: an integer below 2^48, in the order of the codes. */
export function termOf(first: number, second: number, third: number): number {
  return first * (CODE * CODE) + second * CODE + third;
}

/**
 * What a text has to contain in order to contain a query: a term of each range. For one or two code points that is one
 * range, all terms that begin with them; for more, their terms (some of them, when there are many). Empty for an empty
 * query alone.
 */
export function queryTerms(query: string): TermRange[] {
  const codes = textCodes(fold(query));
  if (codes.length === 0) return [];
  if (codes.length < 3) return [prefixRange(codes)];
  const terms = new Set<number>();
  for (let i = 0; i + 2 < codes.length; i++)
    terms.add(termOf(codes[i] ?? END, codes[i + 1] ?? END, codes[i + 2] ?? END));
  return spread([...terms], QUERY_TERMS).map((term) => ({ first: term, last: term }));
}

/** Emoji use the numbers of the surrogates, which no code point has; the rest share those for private use. */
function sharedCode(codePoint: number): number {
  return codePoint >> 12 === 0x1f ? 0xd800 | (codePoint & 0x7ff) : 0xe000 + (codePoint % 0x1900);
}

function prefixRange([first = END, second]: Uint16Array): TermRange {
  return second === undefined
    ? { first: termOf(first, 0, 0), last: termOf(first, CODE - 1, CODE - 1) }
    : { first: termOf(first, second, 0), last: termOf(first, second, CODE - 1) };
}

/** At most `count` of the items, evenly spread. */
function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  const step = Math.max(1, items.length / count);
  return items.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
}
