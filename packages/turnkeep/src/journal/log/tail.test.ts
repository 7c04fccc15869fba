import { expect, test } from 'vitest';
import { LOG_START } from './position.ts';
import { Tail } from './tail.ts';
import type { Found } from './walk.ts';

const LENGTH = 100;

/**
 * Lines as `n/group`, with `!` where their words are damaged; gaps as `x` (or `-`, one without its end), followed by the
 * conversations that they name. One after the other.
 */
function found(text: string): readonly Found[] {
  return text.split(' ').map((word, at): Found => {
    const stretch = { segment: 1, byte: at * LENGTH, length: LENGTH - 1, next: (at + 1) * LENGTH };
    const [, kind, names = ''] = /^([x-])(\w*)$/.exec(word) ?? [];
    if (kind !== undefined)
      return { kind: 'gap', ...stretch, flaw: { reason: 'bad', ended: kind === 'x' }, names: names.split('') };
    const [n = 0, group = n] = word.split('/').map(Number.parseFloat);
    const meta = { store: 's', n, group, ns: 'ns', heads: [], rows: [] };
    return { kind: 'line', ...stretch, meta, flaw: word.endsWith('!') ? { reason: 'words', ended: true } : undefined };
  });
}

function outcome(text: string, durableLines?: number): object {
  const taken: number[] = [];
  const tail = new Tail(LOG_START, (line) => taken.push(line.meta.n));
  for (const one of found(text)) tail.push(one);
  const mark =
    durableLines === undefined
      ? undefined
      : { segment: 1, byte: durableLines * LENGTH, n: durableLines, fold: 0, boot: '' };
  const unfinished = tail.finish(mark)?.byte;
  const lost = tail.damages.map((damage) =>
    damage.lost ? lostText(damage.lost) : damage.isLine ? 'words' : 'nothing',
  );
  return { taken, lost, unfinished };
}

function lostText({ from, to, names }: { from: number; to: number; names: readonly string[] }): string {
  return `${from}-${to} ${names.join('')}`.trimEnd();
}

test('a torn end that no sync reached is unfinished', () => {
  expect(outcome('1 2 -', 2)).toEqual({ taken: [1, 2], lost: [], unfinished: 200 });
  expect(outcome('1 2 -')).toEqual({ taken: [1, 2], lost: [], unfinished: 200 });
});

test('a broken line within the last group takes the rest of the group with it', () => {
  expect(outcome('1 2 3 x 5/3 6/3', 2)).toEqual({ taken: [1, 2, 3], lost: [], unfinished: 300 });
  expect(outcome('1 2 3 4/3! 5/3', 2)).toEqual({ taken: [1, 2, 3], lost: [], unfinished: 300 });
});

test('a broken line before a later group was acknowledged', () => {
  expect(outcome('1 x 3 4', 1)).toEqual({ taken: [1, 3, 4], lost: ['2-2'], unfinished: undefined });
  expect(outcome('1 x 3/2 4/4', 1)).toEqual({ taken: [1, 3, 4], lost: ['2-2'], unfinished: undefined });
});

test('a broken line below the mark was acknowledged', () => {
  expect(outcome('1 2 x', 3)).toEqual({ taken: [1, 2], lost: ['3-3'], unfinished: undefined });
  expect(outcome('1 x 3/2', 3)).toEqual({ taken: [1, 3], lost: ['2-2'], unfinished: undefined });
});

test('without a mark nothing but a torn end is taken for unfinished', () => {
  expect(outcome('1 x 3/2')).toEqual({ taken: [1, 3], lost: ['2-4'], unfinished: undefined });
  expect(outcome('1 2 x')).toEqual({ taken: [1, 2], lost: ['3-3'], unfinished: undefined });
});

test('a line counts where only its words are damaged, once later lines or the mark say that it was acknowledged', () => {
  expect(outcome('1 2! 3 4', 4)).toEqual({ taken: [1, 2, 3, 4], lost: ['words'], unfinished: undefined });
  expect(outcome('1 2! 3/2 4/4', 1)).toEqual({ taken: [1, 2, 3, 4], lost: ['words'], unfinished: undefined });
  expect(outcome('1 2!', 2)).toEqual({ taken: [1, 2], lost: ['words'], unfinished: undefined });
  expect(outcome('1 2!', 1)).toEqual({ taken: [1], lost: [], unfinished: 100 });
  expect(outcome('1 2! 4 5', 5)).toEqual({ taken: [1, 2, 4, 5], lost: ['3-3', 'words'], unfinished: undefined });
});

test('bytes between lines that are all there lose nothing', () => {
  expect(outcome('1 x 2 3', 3)).toEqual({ taken: [1, 2, 3], lost: ['nothing'], unfinished: undefined });
  expect(outcome('1 2 1! 3', 3)).toEqual({ taken: [1, 2, 3], lost: ['nothing'], unfinished: undefined });
});

test('lines that are missing without a trace are missed, and repeated ones dropped', () => {
  expect(outcome('1 4 5', 5)).toEqual({ taken: [1, 4, 5], lost: ['2-3'], unfinished: undefined });
  expect(outcome('1 2 1 2 3', 5)).toEqual({
    taken: [1, 2, 3],
    lost: ['nothing', 'nothing', '4-5'],
    unfinished: undefined,
  });
  expect(outcome('1 2', 5)).toEqual({ taken: [1, 2], lost: ['3-5'], unfinished: undefined });
  expect(outcome('1 xa 3', 4)).toEqual({ taken: [1, 3], lost: ['2-2 a', '4-4'], unfinished: undefined });
});

test('lines that stand behind later ones are passed, and told', () => {
  expect(outcome('1 4/2 2 5', 5)).toEqual({ taken: [1, 4, 5], lost: ['2-3', 'nothing'], unfinished: undefined });
  expect(outcome('1 3 2 4', 4)).toEqual({ taken: [1, 3, 4], lost: ['2-2', 'nothing'], unfinished: undefined });
});

test('lost lines have names only where each of them left some', () => {
  expect(outcome('1 xa 3', 3)).toMatchObject({ lost: ['2-2 a'] });
  expect(outcome('1 xab 3', 3)).toMatchObject({ lost: ['2-2 ab'] });
  expect(outcome('1 xa x 3', 3)).toMatchObject({ lost: ['2-2 a', '2-2 a'] });
  expect(outcome('1 x xa 3', 3)).toMatchObject({ lost: ['2-2', '2-2'] });
  expect(outcome('1 xa xb 4', 4)).toMatchObject({ lost: ['2-3 ab', '2-3 ab'] });
  expect(outcome('1 xa 4', 4)).toMatchObject({ lost: ['2-3'] });
  expect(outcome('1 xa x 4', 4)).toMatchObject({ lost: ['2-3', '2-3'] });
});
