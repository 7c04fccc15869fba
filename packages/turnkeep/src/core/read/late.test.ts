import { describe, expect, test } from 'vitest';
import { answer, call, fork, say, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { lateResults } from './late.ts';

function late(story: Story, upTo: string, seen: number, id: string = 'c'): readonly string[] {
  const { tree, head } = story.seen(id);
  return lateResults(tree, head.leaf, upTo, seen).map(({ row }) => row.messageId);
}

/** Two turns with calls, results that come when both have ended: the second turn's first. */
function told(): Story {
  return given(
    commit(...turn('t1', [call('a1', ['x', 'y'])])),
    commit(...turn('t2', [call('a2', ['z']), say('b2')])),
    commit(...turn('t3')),
    commit(answer('late z', ['z'])),
    commit(answer('late x', ['x'])),
  );
}

describe('results that came late into a prefix', () => {
  test('are those up to its last message that it had not seen, in the order they came', () => {
    const story = told();
    expect(late(story, 't3.q', 6)).toEqual(['late z', 'late x']);
    expect(late(story, 't3.q', 7)).toEqual(['late x']);
    expect(late(story, 't3.q', 8)).toEqual([]);
  });

  test('one that stands behind the last message is no part of the prefix', () => {
    const story = told();
    expect(late(story, 'b2', 6)).toEqual(['late x']);
    expect(late(story, 'a1', 6)).toEqual([]);
  });

  test('are those of the path: none of another branch, and a fork has what it inherits', () => {
    const story = told();
    story.write(commit(fork('c', 't3.q')).to('early').as('fork'));
    story.write(commit(answer('late y', ['y'])));
    story.write(commit(...turn('f1')).to('early'));
    expect(late(story, 't3.q', 6)).toEqual(['late z', 'late x', 'late y']);
    expect(late(story, 't3.q', 6, 'early')).toEqual(['late z', 'late x']);
    story.write(commit(...turn('side', [], { parent: { messageId: 'a2' } })).expecting({ graphRevision: 6 }));
    expect(late(story, 'a2', 6)).toEqual(['late x', 'late y']);
  });

  test('a message that the path does not hold has no prefix', () => {
    expect(late(told(), 'nobody', 0)).toEqual([]);
  });
});
