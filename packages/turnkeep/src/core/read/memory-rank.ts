import { fold } from '../fold.ts';

/** How much repeats of a term count, and how much a long text counts against itself: the usual values of BM25. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

// These scripts do not separate words by spaces: their terms are pairs of characters.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]+/u;
const RUNS = new RegExp(
  `${UNSPACED.source}|(?:(?!${UNSPACED.source})[\\p{L}\\p{M}\\p{N}])+|\\p{Extended_Pictographic}|\\p{S}`,
  'gu',
);

/**
 * The terms of a text, in any script: words between spaces and signs, pairs of characters where a script has no spaces
 * (and each character alone), emoji and symbols one by one. Case is folded; nothing else is changed.
 */
export function termsOf(text: string): readonly string[] {
  return (fold(text).match(RUNS) ?? []).flatMap((run) => (UNSPACED.test(run) ? pairsOf(run) : [run]));
}

function pairsOf(run: string): readonly string[] {
  const characters = Array.from(run);
  return [...characters, ...characters.slice(1).map((next, at) => `${characters[at]}${next}`)];
}

/** What the rank of a text is computed from. */
export interface TermCounts {
  readonly counts: ReadonlyMap<string, number>;
  /** All terms of the text, repeats included. */
  readonly length: number;
}

export function countTerms(text: string): TermCounts {
  const terms = termsOf(text);
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}

/** How well each text answers a query, by BM25: 0 if it has none of the query's terms. In the order of the texts. */
export function scoresOf(documents: readonly TermCounts[], query: string): readonly number[] {
  const asked = [...new Set(termsOf(query))];
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  const weights = asked.map((term) => ({ term, weight: weightOf(documents, term) }));
  return documents.map(({ counts, length }) => {
    const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / Math.max(1, average));
    let score = 0;
    for (const { term, weight } of weights) {
      const count = counts.get(term) ?? 0;
      score += (weight * count * (SATURATION + 1)) / (count + norm);
    }
    return score;
  });
}

/** A term that few texts have weighs more. Never below 0. */
function weightOf(documents: readonly TermCounts[], term: string): number {
  const having = documents.filter(({ counts }) => counts.has(term)).length;
  return Math.log(1 + (documents.length - having + 0.5) / (having + 0.5));
}
