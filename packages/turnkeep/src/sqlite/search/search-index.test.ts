import { describe, expect, test } from 'vitest';
import { openDatabase } from '../driver/open-database.ts';
import { DRIVERS } from '../driver/driver.testkit.ts';
import { type Block, BlockReader } from './search-blocks.ts';
import { addAll, bytesOfFiles, documents, scan, scrubAll, seal, search, withIndex } from './search-index.testkit.ts';

test('hostile queries', () => {
  const texts = [
    'deploy 🔥 done',
    'การประชุมพรุ่งนี้บ่ายสาม',
    '明天下午三点开会讨论',
    '修改youer服务端的计划',
    'multi-agent NEAR the end',
    '50% off foo_bar',
    'naïve café',
    'C++ and go',
    'ab',
    "don't panic",
    'path Downloads/transcripts',
    'say "hi" (now)',
    'straße STRASSE',
    'ＡＢＣ fullwidth',
    'family 👨‍👩‍👧 emoji',
    '100x axb',
  ];
  const expected: Record<string, number[]> = {
    '🔥': [1],
    ประชุม: [2],
    พ: [2],
    三点: [3],
    会: [3],
    youer: [4],
    r服: [4],
    NEAR: [5],
    'multi-agent': [5],
    '50%': [6],
    _: [6],
    NAÏVE: [7],
    'cafe\u0301': [],
    'C++': [8],
    AB: [9],
    "don't": [10],
    'S/t': [11],
    '"hi"': [12],
    '(': [12],
    Straße: [13],
    strasse: [13],
    ａｂ: [14],
    abc: [],
    '👨': [15],
    '\u200d': [15],
    '👨‍👩‍👧': [15],
    a_b: [],
    '*': [],
    'col:x': [],
    '\\': [],
    '%%': [],
    x: [16],
    ' ': [],
    '   ': [],
    '': [],
  };
  withIndex((index) => {
    const docs = documents(texts);
    addAll(index, docs);
    const found = () => Object.fromEntries(Object.keys(expected).map((query) => [query, search(index, docs, query)]));
    expect(found()).toEqual(expected);
    seal(index, 1_000);
    expect(found()).toEqual(expected);
  });
});

test('segments are merged, level by level, and still find everything', () => {
  withIndex((index, path) => {
    const docs = documents(Array.from({ length: 20_000 }, (_, i) => `m${i}${i % 7_000 === 1 ? ' 稀' : ''}`));
    for (let at = 0; at < docs.length; at += 1_000) addAll(index, docs.slice(at, at + 1_000));
    const levels = 'SELECT level, count(*), sum(count) FROM segment GROUP BY level ORDER BY level';
    // 144 × 128 documents, 12 × 128, and the rest in the tail.
    expect(rowsOf(path, levels)).toEqual([
      [1, 1, 1_536],
      [2, 1, 18_432],
    ]);
    expect(search(index, docs, '稀')).toEqual([14_002, 7_002, 2]);
    expect(search(index, docs, 'm1999')).toEqual(scan(docs, 'm1999'));
    expect(search(index, docs, '7', 777)).toEqual(scan(docs, '7'));
  });
});

test('pages go on where the last one ended', () => {
  withIndex((index) => {
    addAll(index, documents(Array<string>(300).fill('same')));
    expect(index.candidates('same', { limit: 3 })).toEqual({ docIds: [300, 299, 298], position: 300 });
    expect(index.candidates('same', { before: 298, limit: 2 }).docIds).toEqual([297, 296]);
    expect(index.candidates('same', { before: 130, limit: 2 }).docIds).toEqual([129, 128]);
    expect(index.candidates('same', { before: 3, limit: 9 }).docIds).toEqual([2, 1]);
    expect(index.candidates('same', { before: 1, limit: 9 }).docIds).toEqual([]);
    expect(index.candidates('same', { limit: 0 }).docIds).toEqual([]);
  });
});

test('candidates lack no term of the query', () => {
  withIndex((index) => {
    addAll(index, documents(['xabcdx', 'abc bcd', 'abcx', 'bcdx', 'abcabc', 'ab', 'ba', 'b']));
    seal(index, 100);
    const candidates = (query: string) => index.candidates(query, { limit: 99 }).docIds;
    expect(candidates('abcd')).toEqual([2, 1]); // the second has the terms, and is for the caller to tell apart
    expect(candidates('abc')).toEqual([5, 3, 2, 1]);
    expect(candidates('cab')).toEqual([5]);
    expect(candidates('ab')).toEqual([6, 5, 3, 2, 1]);
    expect(candidates('a')).toEqual([7, 6, 5, 3, 2, 1]);
    expect(candidates('abz')).toEqual([]);
  });
});

test('ids go to the last safe integer', () => {
  withIndex((index) => {
    addAll(index, [{ docId: Number.MAX_SAFE_INTEGER, text: 'last' }]);
    expect(index.candidates('last', { limit: 9 }).docIds).toEqual([Number.MAX_SAFE_INTEGER]);
    index.remove([Number.MAX_SAFE_INTEGER]);
    scrubAll(index);
    expect(index.candidates('last', { limit: 9 }).docIds).toEqual([]);
  });
  withIndex((index) => {
    const docs = [...documents(Array<string>(127).fill('')), { docId: Number.MAX_SAFE_INTEGER, text: 'last' }];
    addAll(index, docs); // a segment
    expect(search(index, docs, 'last')).toEqual([Number.MAX_SAFE_INTEGER]);
  });
});

test('a text of megabytes is a segment by itself', () => {
  withIndex((index) => {
    const docs = documents(['small', `${'long '.repeat(400_000)}needle`, 'small again']);
    addAll(index, docs);
    expect(search(index, docs, 'needle')).toEqual([2]);
    expect(search(index, docs, 'small')).toEqual([3, 1]);
  });
});

test('documents out of order, or twice, are a mistake', () => {
  withIndex((index) => {
    addAll(index, documents(['a', 'b']));
    const again = () => index.add(documents(['c'], 2), { after: 2, position: 3, mark: 'mark' });
    expect(again).toThrow('document 2 is added after 2');
    expect(index.position()).toBe(2);
  });
});

describe.each(DRIVERS)('removed words leave the files: %s', (driver) => {
  const isRare = (term: string) => /[xqz]|ugh|wib/.test(term);
  const rareBlocks = (path: string) => blocksOf(path).filter((block) => termsOf(block).some(isRare));

  test('as text, as terms, and as what is left of rows that were moved', () => {
    withIndex((index, path) => {
      const docs = documents(Array.from({ length: 200 }, (_, i) => `some words of no. ${i}`));
      docs[50] = { docId: 51, text: 'xyzzyplughfrob in a segment' };
      docs[190] = { docId: 191, text: 'quuxwibblefoo in the tail' };
      addAll(index, docs);
      const young = rareBlocks(path);
      addAll(index, documents(Array<string>(2_000).fill('more words'), 1_000)); // enough for a merge
      const merged = rareBlocks(path);
      expect(Math.min(young.length, merged.length)).toBeGreaterThan(0);
      addAll(index, documents(['quuxwibblefoo in the tail'], 5_000));
      index.remove([51, 191, 5_000]);
      expect(index.candidates('plugh', { limit: 9 }).docIds).toEqual([]);
      expect(index.candidates('wibble', { limit: 9 }).docIds).toEqual([]);

      scrubAll(index);
      const bytes = bytesOfFiles(path);
      for (const word of ['xyzzy', 'plugh', 'quux', 'wibble']) expect(bytes.includes(word)).toBe(false);
      expect(rareBlocks(path)).toEqual([]);
      const halves = [...young, ...merged].flatMap(({ data }) =>
        [data.subarray(4, 300), data.subarray(-300)].map((half) => Buffer.from(half)),
      );
      expect(halves.filter((half) => bytes.includes(half))).toEqual([]);
      expect(search(index, docs, 'some')).toHaveLength(198);
    }, driver);
  });
});

function rowsOf(path: string, sql: string): readonly (readonly unknown[])[] {
  const database = openDatabase(path, { readOnly: true });
  const rows = database.prepare(sql).all();
  database.close();
  return rows;
}

function blocksOf(path: string): Block[] {
  const rows = rowsOf(path, 'SELECT term, data FROM block');
  return rows.map(([firstTerm, data]) => ({ firstTerm: firstTerm as number, data: data as Uint8Array })); // its columns
}

/** The terms of a block as text. */
function termsOf(block: Block): string[] {
  const reader = new BlockReader(block);
  const terms: string[] = [];
  while (reader.next()) {
    const low = reader.term % 2 ** 32;
    terms.push(String.fromCharCode(reader.term / 2 ** 32, low >>> 16, low & 0xffff));
  }
  return terms;
}
