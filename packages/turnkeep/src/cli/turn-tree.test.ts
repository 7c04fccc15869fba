import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LabelledTurn } from '../ledger/readings.ts';
import { treeLines } from './turn-tree.ts';

/** A tree of turns `t0`, `t1`, … by the index of each one's parent; −1 is the root. */
function turnsOf(parents: readonly number[]): readonly LabelledTurn[] {
  const ordinals = new Map<number, number>();
  return parents.map((parent, at) => {
    const ordinal = (ordinals.get(parent) ?? 0) + 1;
    ordinals.set(parent, ordinal);
    return {
      turnId: `t${at}`,
      conversationId: 'c',
      parentTurnId: parent < 0 ? null : `t${parent}`,
      parentMessageId: null,
      ordinal,
      why: 'start',
      state: 'completed',
      branch: 0,
      position: at,
      label: '',
    };
  });
}

function drawn(parents: readonly number[], leaf: number, full = false): string[] {
  return [...treeLines(turnsOf(parents), { leaf: `t${leaf}`, full })].map((line) =>
    line.kind === 'turn' ? `${line.rails}${line.turn.turnId}` : `${line.rails}${line.turns}/${line.branches}`,
  );
}

/** Each turn's parent is one before it, or the root. */
const anyTree = fc
  .array(fc.nat(), { maxLength: 200 })
  .map((numbers) => numbers.map((number, at) => (at === 0 ? -1 : (number % (at + 1)) - 1)));

test('the active path goes straight down, siblings hang beside it in order', () => {
  expect(drawn([-1, 0, 0, 2, 2, 1], 3)).toEqual(['t0', '├─t1', '│ t5', 't2', '├─t4', 't3']);
  expect(drawn([-1, -1, 0], 1)).toEqual(['├─t0', '│ t2', 't1']);
  expect(drawn([], 0)).toEqual([]);
});

test('every turn is drawn once, after its parent', () => {
  fc.assert(
    fc.property(anyTree, fc.nat(), (parents, leaf) => {
      const names = drawn(parents, leaf % (parents.length || 1), true).map((line) => line.replace(/^[│├─ ]*/, ''));
      expect(names.toSorted()).toEqual(parents.map((_, at) => `t${at}`).toSorted());
      const early = parents.filter(
        (parent, at) => parent >= 0 && names.indexOf(`t${parent}`) > names.indexOf(`t${at}`),
      );
      expect(early).toEqual([]);
    }),
  );
});

test('what is left out is counted', () => {
  fc.assert(
    fc.property(anyTree, (parents) => {
      const lines = [...treeLines(turnsOf(parents), { leaf: null, ends: 1 })];
      const turns = lines.reduce((sum, line) => sum + (line.kind === 'turn' ? 1 : line.turns), 0);
      expect(turns).toBe(parents.length);
    }),
  );
});

test('the indentation grows with the logarithm of the tree', () => {
  fc.assert(
    fc.property(anyTree, (parents) => {
      const deepest = Math.max(0, ...drawn(parents, 0, true).map((line) => line.search(/t/) / 2));
      expect(deepest).toBeLessThanOrEqual(Math.log2(parents.length + 1) + 1);
    }),
  );
});

test('a deep tree and a wide one stay short, and nothing overflows', () => {
  const deep = Array.from({ length: 200_000 }, (_, at) => at - 1);
  const shown = drawn(deep, deep.length - 1);
  expect(shown.length).toBeLessThan(30);
  expect(shown.at(-1)).toBe(`t${deep.length - 1}`);
  expect(drawn(deep, 0, true)).toHaveLength(deep.length);
  const wide = Array.from({ length: 200_000 }, (_, at) => (at === 0 ? -1 : 0));
  expect(drawn(wide, 7).length).toBeLessThan(30);
  expect(drawn(wide, 7).at(-1)).toBe('t7');
});

test('turns that have not ended are never left out', () => {
  const turns = turnsOf(Array.from({ length: 1_000 }, (_, at) => at - 1)).map((turn, at) =>
    at === 500 ? { ...turn, state: 'waiting' as const } : turn,
  );
  const lines = [...treeLines(turns, { leaf: 't999' })];
  expect(lines.some((line) => line.kind === 'turn' && line.turn.turnId === 't500')).toBe(true);
});
