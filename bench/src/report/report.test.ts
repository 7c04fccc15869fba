import { expect, test } from 'vitest';
import { svgOf } from './plot.ts';
import { barLine, numberOf, tableOf } from './table.ts';

test('numbers keep three digits that count', () => {
  expect([0, 0.0123, 1.5, 42, 1_234_567].map(numberOf)).toEqual(['0', '0.0123', '1.50', '42.0', '1,234,567']);
  expect(numberOf(Number.NaN)).toBe('none');
});

test('a table has a headline for each thing and a line for each who did it', () => {
  const row = { workload: 'one', unit: 'ms', p99: 9, samples: 20, ratio: 1 } as const;
  const lines = tableOf([
    { ...row, what: 'a turn', who: 'a', median: 2 },
    { ...row, what: 'a turn', who: 'b', median: 4, ratio: 2 },
    { ...row, what: 'a read', who: 'a', median: 1, samples: 3 },
  ]).split('\n');
  expect(lines.map((line) => line.trim().split(/\s{2,}/))).toEqual([
    ['a turn, ms', 'median', 'p99', 'ratio samples'],
    ['a', '2.00', '9.00', '1.00', '20'],
    ['b', '4.00', '9.00', '2.00', '20'],
    ['a read, ms', 'median', 'p99', 'ratio samples'],
    ['a', '1.00', '1.00', '3'],
  ]);
});

test('a bar says whether it holds, what was measured and what was asked for', () => {
  const bar = { workload: 'one', name: 'sqlite-alone', says: 'a turn against the disk', limit: { atMost: 2.5 } };
  expect(barLine({ ...bar, ratio: 2, holds: true })).toMatch(/holds {2}sqlite-alone +2\.00 \(at most 2\.5\): a turn/);
  expect(barLine({ ...bar, ratio: 3, holds: false })).toMatch(/FAILS {2}sqlite-alone +3\.00 \(at most 2\.5\)/);
});

test('a plot is one picture for light and dark that names every line and escapes what it says', () => {
  const svg = svgOf({
    name: 'a',
    title: 'a < b & c',
    x: 'turns',
    y: 'ms',
    lines: [
      {
        who: 'one',
        points: [
          [1, 0.5],
          [100, 5],
        ],
      },
      {
        who: 'two',
        points: [
          [1, 0.5],
          [100, 5],
        ],
      },
    ],
  });
  expect(svg).toContain('a &lt; b &amp; c');
  expect(svg).toContain('prefers-color-scheme: dark');
  // A hundred is two decades right of one, at the end of the area.
  expect(svg).toContain('points="64,');
  expect(svg.match(/<polyline/g)).toHaveLength(2);
  // Both end at the same place, and their names do not lie on each other.
  const labels = [...svg.matchAll(/y="([\d.]+)">(?:one|two)</g)].map(([, y]) => Number(y));
  expect(Math.abs((labels[0] ?? 0) - (labels[1] ?? 0))).toBe(15);
});
