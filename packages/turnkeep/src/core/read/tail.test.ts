import { describe, expect, test } from 'vitest';
import { answer, call, fork, say, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { placedTail } from './tail.ts';
import type { TailMessage } from './tail.ts';

/** A path read from its leaf backwards, `limit` messages at a time, root first: ids with the turns that lead to them. */
function backwards(story: Story, limit: number, id: string = 'c'): readonly string[] {
  const { tree, head } = story.seen(id);
  const found: TailMessage[] = [];
  for (let before: TailMessage | undefined; ;) {
    const step = placedTail(tree, { leaf: head.leaf, lastSequence: head.lastSequence, before, limit });
    found.push(...step);
    before = step.at(-1);
    if (step.length < limit) break;
  }
  return found.toReversed().map(({ row, depth }) => `${row.messageId} ${depth}`);
}

describe('the tail of a path', () => {
  test('is the path, whatever the steps, and counts the turns from the root', () => {
    const story = given(
      commit(say('r1')),
      commit(...turn('t1', [call('a1', ['x'])])),
      commit(...turn('t2')),
      commit(answer('late', ['x'])),
    );
    for (const limit of [1, 2, 3, 9]) {
      expect(backwards(story, limit)).toEqual(['r1 0', 't1.q 1', 'a1 1', 'late 1', 't2.q 2']);
    }
  });

  test('goes over branches and over what a fork inherits, cut messages aside', () => {
    const story = given(commit(...turn('t1', [say('a1'), say('a2')])));
    story.write(commit(...turn('t2', [say('b1')], { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }));
    story.write(commit(fork('c', 'b1')).to('fork'));
    story.write(commit(...turn('f1')).to('fork'));
    for (const limit of [1, 2, 5]) {
      expect(backwards(story, limit)).toEqual(['t1.q 1', 'a1 1', 't2.q 2', 'b1 2']);
      expect(backwards(story, limit, 'fork')).toEqual(['t1.q 1', 'a1 1', 't2.q 2', 'b1 2', 'f1.q 3']);
    }
  });

  test('sees nothing after the sequence that its reading is pinned to', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x'])])), commit(...turn('t2')));
    const { head } = story.seen();
    story.write(commit(answer('late', ['x'])));
    const { tree } = story.seen();
    const found = placedTail(tree, { leaf: 't2', lastSequence: head.lastSequence, limit: 9 });
    expect(found.map(({ row }) => row.messageId)).toEqual(['t2.q', 'a1', 't1.q']);
  });
});
