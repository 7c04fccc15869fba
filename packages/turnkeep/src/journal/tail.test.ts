import { expect, test } from 'vitest';
import { Tail } from './tail.ts';
import type { Found } from './walk.ts';

const LENGTH = 100;

/** Lines as `n/group`, gaps as `x` (or `-`, one without its end), one after the other. */
function found(text: string): readonly Found[] {
  return text.split(' ').map((word, at): Found => {
    const place = { segment: 1, byte: at * LENGTH, length: LENGTH - 1 };
    if (word === 'x' || word === '-') return { kind: 'gap', ...place, reason: 'bad', ended: word === 'x', names: [] };
    const [n = 0, group = n] = word.split('/').map(Number);
    const meta = { store: 's', n, group, ns: 'ns', heads: [], rows: [] };
    return { kind: 'line', ...place, next: (at + 1) * LENGTH, meta };
  });
}

function outcome(text: string, durableLines?: number): object {
  const taken: number[] = [];
  const tail = new Tail(0, (line) => taken.push(line.meta.n));
  for (const one of found(text)) tail.push(one);
  const mark =
    durableLines === undefined
      ? undefined
      : { segment: 1, byte: durableLines * LENGTH, n: durableLines, fold: 0, boot: '' };
  const unfinished = tail.finish(mark)?.byte;
  return { taken, lost: tail.damages.map(({ lost }) => lost), unfinished };
}

test('a torn end that no sync reached is unfinished', () => {
  expect(outcome('1 2 -', 2)).toEqual({ taken: [1, 2], lost: [], unfinished: 200 });
  expect(outcome('1 2 -')).toEqual({ taken: [1, 2], lost: [], unfinished: 200 });
});

test('a broken line within the last group takes the rest of the group with it', () => {
  expect(outcome('1 2 3 x 5/3 6/3', 2)).toEqual({ taken: [1, 2, 3], lost: [], unfinished: 300 });
});

test('a broken line before a later group was acknowledged', () => {
  expect(outcome('1 x 3 4', 1)).toEqual({ taken: [1, 3, 4], lost: [true], unfinished: undefined });
  expect(outcome('1 x 3/2 4/4', 1)).toEqual({ taken: [1, 3, 4], lost: [true], unfinished: undefined });
});

test('a broken line below the mark was acknowledged', () => {
  expect(outcome('1 2 x', 3)).toEqual({ taken: [1, 2], lost: [true], unfinished: undefined });
  expect(outcome('1 x 3/2', 3)).toEqual({ taken: [1, 3], lost: [true], unfinished: undefined });
});

test('without a mark nothing but a torn end is taken for unfinished', () => {
  expect(outcome('1 x 3/2')).toEqual({ taken: [1, 3], lost: [true], unfinished: undefined });
});

test('bytes between lines that are all there lose nothing', () => {
  expect(outcome('1 x 2 3', 3)).toEqual({ taken: [1, 2, 3], lost: [false], unfinished: undefined });
});

test('lines that are missing without a trace are missed, and repeated ones dropped', () => {
  expect(outcome('1 4 5', 5)).toEqual({ taken: [1, 4, 5], lost: [true], unfinished: undefined });
  expect(outcome('1 2 1 2 3', 5)).toEqual({ taken: [1, 2, 3], lost: [], unfinished: undefined });
});
