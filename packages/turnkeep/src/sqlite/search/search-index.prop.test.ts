import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DRIVERS, withFile } from '../driver/driver.testkit.ts';
import type { SearchDoc } from './search-content.ts';
import { openSearchIndex, type SearchIndex } from './search-index.ts';
import { addAll, documents, scan, scrubAll, seal, search, STORE, withIndex } from './search-index.testkit.ts';

const PIECES = [
  ['a', 'B', 'ab', 'Abc', ' ', '  ', '.', '%', '_', '*', '-', '"', "'", '\\', '\0', '\u2028', '\ufeff', '\n'],
  ['ก', 'ำ', 'การประชุม', '明', '三点', '开会讨论', '한', '🔥', '👨‍👩‍👧', '👍🏽', '𠀀', '𐐀', '𐐨', '\u{10ffff}'],
  ['e\u0301', 'é', 'É', 'İ', 'ı', 'I', 'i', 'ß', 'ẞ', 'ΣΑΣ', 'ς', 'ＡＢＣ', 'ａ', 'K', 'ſ', '\ud83d', '\udd25'],
  ['NEAR', 'OR', 'col:x', 'don’t', 'AND NOT', '^x', '(', '{"a":1}', '\uffff', '\ufffd', '\ue000', '\ud7ff'],
].flat();
const pieces = fc.constantFrom(...PIECES);
const text = fc.oneof(
  fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
/** A query that is a piece of one of the texts, or anything. */
const queryOf = (texts: readonly string[]) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constantFrom('', ...texts), fc.nat(20), fc.integer({ min: 1, max: 6 })).map(cut),
    },
    { weight: 1, arbitrary: text },
    { weight: 1, arbitrary: pieces },
  );
const cut = ([from, start, length]: readonly [string, number, number]) =>
  Array.from(from)
    .slice(start, start + length)
    .join('');

/** What may happen to an index; numbers pick among what is there. */
type Step =
  | { readonly kind: 'add'; readonly texts: readonly string[]; readonly pad: number }
  | { readonly kind: 'remove'; readonly picks: readonly number[] }
  | { readonly kind: 'search'; readonly pick: number; readonly start: number; readonly length: number }
  | { readonly kind: 'scrub' | 'reopen' | 'clear' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), texts: fc.array(text, { maxLength: 30 }), pad: fc.nat(300) }),
  fc.record({ kind: fc.constant('remove' as const), picks: fc.array(fc.nat(), { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('search' as const), pick: fc.nat(), start: fc.nat(9), length: fc.nat(5) }),
  fc.record({ kind: fc.constantFrom('scrub' as const, 'reopen' as const, 'clear' as const) }),
);

/** An index and what it should hold. */
class Model {
  readonly #open: () => SearchIndex;
  index: SearchIndex;
  docs: SearchDoc[] = [];
  /** Searches that did not find what a scan finds. */
  readonly wrong: object[] = [];
  #next = 1;

  constructor(open: () => SearchIndex) {
    this.#open = open;
    this.index = open();
  }

  run(step: Step): void {
    if (step.kind === 'add') this.#add(step.texts, step.pad);
    else if (step.kind === 'remove') this.#remove(step.picks);
    else if (step.kind === 'search') this.check(this.#query(step));
    else if (step.kind === 'scrub') this.index.scrub();
    else if (step.kind === 'clear') this.#clear();
    else this.#reopen();
  }

  check(query: string): void {
    const [found, expected] = [search(this.index, this.docs, query), scan(this.docs, query)];
    if (found.join() !== expected.join()) this.wrong.push({ query, found, expected });
  }

  #add(texts: readonly string[], pad: number): void {
    const added = documents([...texts, ...Array<string>(pad).fill('pad 三点')], this.#next);
    this.#next += added.length;
    this.docs.push(...added);
    addAll(this.index, added);
  }

  #remove(picks: readonly number[]): void {
    const gone = new Set(picks.flatMap((pick) => this.docs[pick % this.docs.length]?.docId ?? []));
    this.index.remove([...gone]);
    this.docs = this.docs.filter(({ docId }) => !gone.has(docId));
  }

  #query({ pick, start, length }: { readonly pick: number; readonly start: number; readonly length: number }): string {
    return cut([this.docs[pick % this.docs.length]?.text ?? 'x', start, length]);
  }

  #clear(): void {
    this.index.clear();
    addAll(this.index, this.docs);
  }

  #reopen(): void {
    this.index.close();
    this.index = this.#open();
  }
}

describe.each(DRIVERS)('%s', (driver) => {
  test('the index finds what a scan finds', () => {
    const cases = fc
      .array(text, { minLength: 1, maxLength: 20 })
      .chain((texts) => fc.tuple(fc.constant(texts), fc.array(queryOf(texts), { maxLength: 20 })));
    fc.assert(
      fc.property(cases, fc.integer({ min: 1, max: 3 }), fc.boolean(), ([texts, queries], pageSize, isSealed) => {
        withIndex((index) => {
          const docs = documents(texts);
          addAll(index, docs);
          if (isSealed) seal(index, 1_000);
          for (const query of queries) expect(search(index, docs, query, pageSize)).toEqual(scan(docs, query));
        }, driver);
      }),
      { numRuns: 60 },
    );
  });

  test('it does so while documents come and go, and the file is closed and opened', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        withFile((path) => {
          const model = new Model(() => openSearchIndex(path, { ...STORE, driver }));
          for (const step of steps) model.run(step);
          scrubAll(model.index);
          for (const query of ['三点', 'a', '🔥']) model.check(query);
          model.index.close();
          expect(model.wrong).toEqual([]);
        });
      }),
      { numRuns: 40 },
    );
  });
});
