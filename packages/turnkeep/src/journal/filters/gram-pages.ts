import { mixed } from './grams.ts';
import type { GramSet } from './grams.ts';

/** Bytes of a page, which is read and checked by itself. */
export const PAGE_BYTES = 4_096;
/** One gram in 30 is taken for there though it is not. */
const BITS_A_GRAM = 8;
const PROBES = 3;
const PAGE_BITS = PAGE_BYTES * 8;

/** The pages of a set: each gram has its bits in one of them. */
export function pagesOf(grams: GramSet): readonly Buffer[] {
  const count = Math.max(1, Math.ceil((grams.size * BITS_A_GRAM) / PAGE_BITS));
  const pages = Array.from({ length: count }, () => Buffer.alloc(PAGE_BYTES));
  for (const gram of grams.values()) {
    const page = pages[pageOf(gram, count)] as Buffer; // within the array
    const [first, step] = startOf(gram);
    for (let probe = 0, bit = first; probe < PROBES; probe++, bit = (bit + step) % PAGE_BITS)
      page[bit >>> 3] = (page[bit >>> 3] as number) | (1 << (bit & 7));
  }
  return pages;
}

/** Which of so many pages has a gram's bits. */
export function pageOf(gram: number, pages: number): number {
  return Math.floor((gram / 0x1_0000_0000) * pages);
}

/** False where a gram is surely not in the set whose page this is. */
export function mayHave(page: Buffer, gram: number): boolean {
  const [first, step] = startOf(gram);
  for (let probe = 0, bit = first; probe < PROBES; probe++, bit = (bit + step) % PAGE_BITS)
    if (((page[bit >>> 3] as number) & (1 << (bit & 7))) === 0) return false;
  return true;
}

/** The first bit, and how far the next ones are from each other. */
function startOf(gram: number): readonly [bit: number, step: number] {
  const bits = mixed(gram);
  return [bits % PAGE_BITS, ((bits >>> 15) % PAGE_BITS) | 1];
}
