import { expect, test } from 'vitest';
import { figuresPage } from './markdown.ts';
import type { Results } from './markdown.ts';

const machine = {
  cpu: 'a processor',
  cores: 2,
  memoryMiB: 1,
  system: 'a system',
  node: 'v20',
  disk: 'a disk',
  loadBefore: 0,
  commit: 'abc',
  versions: { turnkeep: '1' },
};
const row = { workload: 'alone', what: 'a turn', unit: 'ms', p99: 9, samples: 20, ratio: 1 } as const;
const results: Results = {
  machine,
  quick: false,
  rows: [
    { ...row, who: 'a', median: 2 },
    { ...row, who: 'b', median: 4, samples: 3 },
  ],
  bars: [
    { workload: 'alone', name: 'one', says: 'a against b', ratio: 3, limit: { atMost: 2 }, holds: false },
    { workload: 'alone', name: 'two', says: 'watched', ratio: 3, limit: { better: 'lower' }, holds: true },
  ],
  notes: [{ workload: 'alone', text: 'b is missing' }],
};

test('the page has the machine, the bars that promise something, and a table for each workload that ran', () => {
  const page = figuresPage(
    [results],
    new Map([
      ['alone', 'a turn'],
      ['other', 'nothing'],
    ]),
  );
  expect(page).toContain('- alone: 2 × a processor');
  expect(page).toContain('| one | a against b | 3.00 | at most 2 | **fails** |');
  expect(page).not.toContain('watched');
  expect(page).toContain('|  | a | b |\n|---|---:|---:|\n| a turn, ms | 2.00 (9.00) | 4.00 |');
  expect(page).toContain('- b is missing');
  expect(page).not.toContain('### other');
});

test('many who did it stand below each other', () => {
  const rows = ['a', 'b', 'c', 'd', 'e'].map((who) => ({ ...row, who, median: 1 }));
  const page = figuresPage([{ ...results, rows }], new Map([['alone', 'a turn']]));
  expect(page).toContain('|  | a turn, ms |\n|---|---:|\n| a | 1.00 (9.00) |\n| b |');
});

test('runs of two versions of Node.js do not mix', () => {
  const later = { ...results, machine: { ...machine, node: 'v22' }, rows: [{ ...row, who: 'c', median: 1 }] };
  const [, first, second] = figuresPage([results, later], new Map([['alone', 'a turn']])).split('## Node.js ');
  expect(first).toContain('|  | a | b |');
  expect(second).toContain('|  | c |');
});
