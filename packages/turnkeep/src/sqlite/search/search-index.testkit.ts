import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { fold, matchFolded } from '../../core/fold.ts';
import type { DriverName } from '../driver/driver.ts';
import { withFile } from '../driver/driver.testkit.ts';
import type { SearchDoc } from './search-content.ts';
import { openSearchIndex, type SearchIndex } from './search-index.ts';

export const STORE = { storeId: 'store-1' };

/** Documents with ids from `from` on. */
export function documents(texts: readonly string[], from = 1): SearchDoc[] {
  return texts.map((text, i) => ({ docId: from + i, text }));
}

/** Adds as one span of the log that goes on where the index stands. */
export function addAll(index: SearchIndex, docs: readonly SearchDoc[]): void {
  const after = index.position();
  expect(index.add(docs, { after, position: Math.max(after + 1, docs.at(-1)?.docId ?? 0), mark: 'mark' })).toBe(true);
}

/** Fills the tail up, so that all that is in it becomes a segment. */
export function seal(index: SearchIndex, from: number): void {
  addAll(index, documents(Array<string>(128).fill(''), from));
}

export function scrubAll(index: SearchIndex): void {
  for (let calls = 0; index.scrub(); calls++) expect(calls).toBeLessThan(100);
}

/** What the index finds once each candidate is verified, in pages. */
export function search(index: SearchIndex, docs: readonly SearchDoc[], query: string, pageSize = 1_000): number[] {
  const texts = new Map(docs.map(({ docId, text }) => [docId, text]));
  const found: number[] = [];
  for (let before: number | undefined; ;) {
    const { docIds } = index.candidates(query, { before, limit: pageSize });
    found.push(...docIds);
    before = docIds.at(-1);
    if (docIds.length < pageSize) break;
  }
  expect(found).toEqual(found.toSorted((a, b) => b - a));
  return found.filter((docId) => matchFolded(texts.get(docId) ?? '', fold(query)) !== -1);
}

export function scan(docs: readonly SearchDoc[], query: string): number[] {
  const hits = docs.filter(({ text }) => matchFolded(text ?? '', fold(query)) !== -1);
  return hits.map(({ docId }) => docId).reverse();
}

export function withIndex(use: (index: SearchIndex, path: string) => void, driver?: DriverName): void {
  withFile((path) => {
    const index = openSearchIndex(path, { ...STORE, driver });
    try {
      use(index, path);
    } finally {
      index.close();
    }
  });
}

/** All bytes of the index's files. */
export function bytesOfFiles(path: string): Buffer {
  const folder = dirname(path);
  return Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
}
