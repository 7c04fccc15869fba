import { describe, expect, test } from 'vitest';
import { countTerms, scoresOf, termsOf } from './memory-rank.ts';

/** The places of the texts that have any of the query, the best first. */
function ranked(texts: readonly string[], query: string): readonly number[] {
  const scores = scoresOf(
    texts.map((text) => countTerms(text)),
    query,
  );
  return [...scores.entries()]
    .filter(([, score]) => score > 0)
    .sort(([, left], [, right]) => right - left)
    .map(([at]) => at);
}

describe('terms', () => {
  test('are words, case folded', () => {
    expect(termsOf('Ann likes GREEN tea, and ann-marie.')).toEqual([
      'ann',
      'likes',
      'green',
      'tea',
      'and',
      'ann',
      'marie',
    ]);
    expect(termsOf('ΣΊΣΥΦΟΣ Ярослав')).toEqual(termsOf('σίσυφοσ ярослав'));
    expect(termsOf('  \n.,;')).toEqual([]);
  });

  test('are characters and pairs of them where a script has no spaces', () => {
    expect(termsOf('緑茶好き')).toEqual(['緑', '茶', '好', 'き', '緑茶', '茶好', '好き']);
    expect(termsOf('ชา')).toEqual(['ช', 'า', 'ชา']);
    expect(termsOf('likes緑茶too')).toEqual(['likes', '緑', '茶', '緑茶', 'too']);
  });

  test('keep words of scripts with marks whole, and take emoji and symbols one by one', () => {
    expect(termsOf('हिन्दी भाषा')).toEqual(['हिन्दी', 'भाषा']);
    expect(termsOf('café e\u0301')).toEqual(['café', 'e\u0301']);
    expect(termsOf('🍵 costs 5€')).toEqual(['🍵', 'costs', '5', '€']);
  });
});

describe('scores', () => {
  const texts = [
    'Ann drinks green tea in the morning',
    'Bob drinks coffee in the morning, coffee at noon and coffee in the evening',
    'The office has green chairs',
    'アンさんは緑茶が好き',
    'Анна пьёт зелёный чай',
  ];

  test('rank a text with more of the query higher, and find no text without any', () => {
    expect(ranked(texts, 'green tea')).toEqual([0, 2]);
    expect(ranked(texts, 'coffee')).toEqual([1]);
    expect(ranked(texts, 'whisky')).toEqual([]);
    expect(ranked(texts, '')).toEqual([]);
  });

  test('find every script', () => {
    expect(ranked(texts, '緑茶')).toEqual([3]);
    expect(ranked(texts, '茶')).toEqual([3]);
    expect(ranked(texts, 'ЧАЙ')).toEqual([4]);
  });

  test('hold a rare term for more than a frequent one, and a long text against itself', () => {
    const rare = ['tea tea', 'tea cup', 'tea pot', 'oolong cup'];
    expect(ranked(rare, 'tea oolong')[0]).toBe(3);
    const long = [`oolong ${'and more '.repeat(50)}`, 'oolong'];
    expect(ranked(long, 'oolong')).toEqual([1, 0]);
  });

  test('a term that is repeated counts less each time, and none counts below 0', () => {
    const documents = ['tea x x', 'tea tea x', 'tea tea tea'].map((text) => countTerms(text));
    const [once = 0, twice = 0, often = 0] = scoresOf(documents, 'tea');
    expect(once).toBeGreaterThan(0);
    expect(twice - once).toBeGreaterThan(often - twice);
  });
});
