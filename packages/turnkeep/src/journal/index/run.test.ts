import { expect, test } from 'vitest';
import { hashesOf } from './bloom.ts';
import { BlockCache } from './block-cache.ts';
import { fromByteKey, toByteKey } from './byte-key.ts';
import { realFileSystem } from '../files/file-system.ts';
import { temporaryDirectory } from '../journal.testkit.ts';
import { Merge, sourceOf } from './merge.ts';
import type { Source } from './merge.ts';
import { RunReader } from './run-reader.ts';
import { RunWriter } from './run-writer.ts';

function keyOf(number: number): string {
  return `ns\u0000conv-${number % 7}\u0000row-${String(number).padStart(6, '0')}`;
}

function all<Entry>(source: Source<Entry>): readonly Entry[] {
  const entries: Entry[] = [];
  for (let entry = source.next(); entry; entry = source.next()) entries.push(entry);
  return entries;
}

function written(directory: string, name: string, entries: readonly (readonly [string, string | null])[]): RunReader {
  const file = realFileSystem.open(`${directory}/${name}`, 'replace');
  const writer = new RunWriter(file, { store: 's', name }, entries.length * 2);
  for (const [key, value] of entries) writer.add(key, value);
  writer.finish();
  file.close();
  const run = RunReader.open(realFileSystem, directory, { store: 's', name }, new BlockCache(100_000));
  if (!run) throw new Error('the run was written');
  return run;
}

test('a run answers keys and ranges, in both directions, and says of most others that it has not got them', () => {
  const keys = Array.from({ length: 5_000 }, (_, at) => keyOf(at * 2)).sort();
  const run = written(
    temporaryDirectory(),
    'a.run',
    keys.map((key, at) => [key, at % 10 === 0 ? null : `[${at}]`]),
  );
  expect(run.entries).toBe(5_000);
  for (const [at, key] of keys.entries()) {
    expect(run.get(key)?.toString() ?? null).toBe(at % 10 === 0 ? null : `[${at}]`);
  }
  const absent = Array.from({ length: 5_000 }, (_, at) => keyOf(at * 2 + 1));
  expect(absent.every((key) => run.get(key) === undefined)).toBe(true);
  expect(absent.filter((key) => run.mayHave(hashesOf(key))).length).toBeLessThan(250);
  expect(run.mayHave(hashesOf('ns\u0000conv-3\u0000'))).toBe(true);
  for (const [from, to] of [
    [0, 5_000],
    [17, 18],
    [100, 2_500],
    [4_990, 5_000],
  ] as const) {
    const expected = keys.slice(from, to);
    const range = [keys[from] ?? '', keys[to] ?? '\u00ff'] as const;
    expect(all(run.scan(...range, false)).map(({ key }) => key)).toEqual(expected);
    expect(all(run.scan(...range, true)).map(({ key }) => key)).toEqual(expected.toReversed());
  }
  expect([...run.all()].flat().map(({ key }) => key)).toEqual(keys);
  expect([...run.check()].every((problem) => problem === undefined)).toBe(true);
});

test('an empty run has nothing', () => {
  const run = written(temporaryDirectory(), 'a.run', []);
  expect(run.get('x')).toBeUndefined();
  expect(all(run.scan('', '\u00ff', true))).toEqual([]);
});

test('a merge takes the newest of each key', () => {
  const source = (...entries: readonly (readonly [string, number])[]) =>
    sourceOf(entries.map(([key, value]) => ({ key, value })));
  const up = new Merge([source(['b', 1], ['d', 1]), source(['a', 2], ['b', 2]), source(['b', 3], ['e', 3])], false);
  expect(all(up).map(({ key, value }) => key + value)).toEqual(['a2', 'b1', 'd1', 'e3']);
  const down = new Merge([source(['d', 1], ['b', 1]), source(['b', 2], ['a', 2])], true);
  expect(all(down).map(({ key, value }) => key + value)).toEqual(['d1', 'b1', 'a2']);
});

test('no two keys become one, and their bytes keep their order', () => {
  const keys = ['a', 'a\u0001', 'ü', '～', '😀', '\ud83d', '\ud83e', '\ud83dx', '\u{10ffff}'];
  expect(keys.map((key) => fromByteKey(toByteKey(key)))).toEqual(keys);
  expect(toByteKey('～') < toByteKey('😀')).toBe(true);
});
