import { expect, test } from 'vitest';
import { Findings, holds } from './findings.ts';

test('ratios are to the first figure of the same thing in the same workload', () => {
  const findings = new Findings();
  findings.addFigure('one', { what: 'a turn', who: 'a', unit: 'ms', samples: [2, 1, 3] });
  findings.addFigure('one', { what: 'a turn', who: 'b', unit: 'ms', samples: [8] });
  findings.addFigure('two', { what: 'a turn', who: 'c', unit: 'ms', samples: [5] });
  expect(findings.rows.map(({ who, median, ratio }) => [who, median, ratio])).toEqual([
    ['a', 2, 1],
    ['b', 8, 4],
    ['c', 5, 1],
  ]);
});

test('a bar holds at its limit, fails past it, and holds nothing that could not be measured', () => {
  expect(holds({ ratio: 2.5, limit: { atMost: 2.5 } })).toBe(true);
  expect(holds({ ratio: 2.51, limit: { atMost: 2.5 } })).toBe(false);
  expect(holds({ ratio: 2, limit: { atLeast: 2 } })).toBe(true);
  expect(holds({ ratio: 1.99, limit: { atLeast: 2 } })).toBe(false);
  expect(holds({ ratio: Number.NaN, limit: { atMost: 1 } })).toBe(false);
  expect(holds({ ratio: Number.NaN, limit: { atLeast: 1 } })).toBe(false);
});

test('a note is kept once', () => {
  const findings = new Findings();
  findings.addNote('one', 'it is missing');
  findings.addNote('one', 'it is missing');
  expect(findings.notes).toEqual([{ workload: 'one', text: 'it is missing' }]);
});
