import { describe, expect, test } from 'vitest';
import { advance, fork, submit, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import { graphTurnOf, graphTurns, parentOf } from './graph.ts';
import type { GraphTurn } from './graph.ts';

describe('the tree', () => {
  const story = given(
    commit(submit('z')),
    commit(advance('z', 'running')),
    commit(advance('z', 'completed')),
    commit(...turn('a')),
  );
  story.write(commit(...turn('m', [], { parent: { turnId: 'z' } })).expecting({ graphRevision: 4 }));

  test('lists turns in the order that they were made in, each after its parent', () => {
    const turns = graphTurns(story.seen().tree);
    expect(turns.map(({ turnId, parentTurnId, ordinal }) => [turnId, parentTurnId, ordinal])).toEqual([
      ['z', null, 1],
      ['a', 'z', 1],
      ['m', 'z', 2],
    ]);
  });

  test('at a version holds the turns of then, in the states of then', () => {
    const at = (version: number) =>
      graphTurns(story.seen().tree, version).map(({ turnId, state }) => `${turnId} ${state}`);
    expect([1, 2, 3, 4].map(at)).toEqual([
      ['z preparing'],
      ['z running'],
      ['z completed'],
      ['z completed', 'a completed'],
    ]);
  });

  test('of a fork begins with what it inherits', () => {
    story.write(commit(fork('c', 'a.q')).to('fork'));
    story.write(commit(...turn('f')).to('fork'));
    const turns = graphTurns(story.seen('fork').tree);
    expect(turns.map(({ turnId, conversationId }) => [turnId, conversationId])).toEqual([
      ['z', 'c'],
      ['a', 'c'],
      ['f', 'fork'],
    ]);
  });

  test('finds each turn by its id, an inherited one too, and none beyond the cut', () => {
    for (const conversationId of ['c', 'fork']) {
      const { tree } = story.seen(conversationId);
      for (const turn of graphTurns(tree)) expect(graphTurnOf(tree, turn.turnId)).toEqual(turn);
    }
    expect(graphTurnOf(story.seen('fork').tree, 'm')).toBeUndefined();
    expect(graphTurnOf(story.seen().tree, 'f')).toBeUndefined();
  });

  test('names what a turn stands under as a new turn would', () => {
    story.write(commit(...turn('r', [], { parent: { messageId: 'a.q' } })).expecting({ graphRevision: 6 }));
    const { tree } = story.seen();
    const parents = ['z', 'm', 'r'].map((turnId) => parentOf(graphTurnOf(tree, turnId) as GraphTurn));
    expect(parents).toEqual([null, { turnId: 'z' }, { messageId: 'a.q' }]);
  });
});
