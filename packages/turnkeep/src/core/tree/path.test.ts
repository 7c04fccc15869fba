import { describe, expect, test } from 'vitest';
import { call, answer, fork, say, select, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { lastSequenceOn } from './messages.ts';
import { findInherited, inheritedSegments, lastPosition, ownTurn, pathTo } from './path.ts';

function chain(): Story {
  const story = given(commit(say('r1')), commit(...turn('t1', [say('a1')])), commit(...turn('t2', [say('a2')])));
  story.write(commit(fork('c', 'a2')).to('child'));
  story.write(commit(...turn('f1', [say('b1')])).to('child'));
  story.write(commit(fork('child', 'b1')).to('grandchild'));
  story.write(commit(...turn('g1')).to('grandchild'));
  return story;
}

const walk = (story: Story, id: string, leaf?: string | null) =>
  [...story.seen(id).path(leaf)].map(
    ({ owner, branch, position, own }) => `${owner} ${branch}:${position}${own ? '' : ' inherited'}`,
  );

describe('a path', () => {
  test('is walked from the leaf to the root, branch by branch', () => {
    const story = chain();
    expect(walk(story, 'grandchild')).toEqual(['grandchild 0:1', 'child 0:1 inherited', 'c 0:2 inherited']);
    expect(walk(story, 'child')).toEqual(['child 0:1', 'c 0:2 inherited']);
    expect(walk(story, 'c')).toEqual(['c 0:2']);
    expect(walk(story, 'c', 't1')).toEqual(['c 0:1']);
    expect(walk(story, 'c', null)).toEqual(['c 0:0']);
  });

  test('to an inherited turn ends there', () => {
    const story = chain();
    expect(story.seen('grandchild').ids('t1')).toEqual(['r1', 't1.q', 'a1']);
    expect(story.seen('grandchild').ids('f1')).toEqual(['r1', 't1.q', 'a1', 't2.q', 'a2', 'f1.q', 'b1']);
    // The root of a fork is what it inherits, whole.
    expect(story.seen('child').ids(null)).toEqual(['r1', 't1.q', 'a1', 't2.q', 'a2']);
  });

  test('to what is not there is refused, of relatives and strangers alike', () => {
    const story = chain();
    for (const leaf of ['nobody', 'g1']) {
      expect(() => pathTo(story.seen('child').tree, leaf)).toThrow(
        expect.objectContaining({ code: 'no_turn', details: { turnId: leaf } }),
      );
    }
    expect(() => pathTo(story.seen('c').tree, 'f1')).toThrow(expect.objectContaining({ code: 'no_turn' }));
  });

  test('what a fork inherits is root first, and nothing in an original', () => {
    const story = chain();
    expect(inheritedSegments(story.seen('c').tree)).toEqual([]);
    expect(inheritedSegments(story.seen('grandchild').tree).map(({ owner }) => owner)).toEqual(['c', 'child']);
  });

  test('versions of a source after the fork are not seen, nor those after an older fork on the way', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x', 'y'])])));
    story.write(commit(fork('c', 'a1')).to('child'));
    story.write(commit(answer('r1', ['x'])));
    story.write(commit(...turn('f1')).to('child'));
    story.write(commit(fork('child', 'f1.q')).to('grandchild'));
    for (const id of ['child', 'grandchild']) expect(story.seen(id).ids().slice(0, 2)).toEqual(['t1.q', 'a1']);
    const [first] = inheritedSegments(story.seen('grandchild').tree);
    expect(first).toMatchObject({ owner: 'c', asOf: 1 });
  });
});

describe('turns', () => {
  test('are found by id, own ones and inherited ones, never those beside the cut', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')), commit(...turn('t3')));
    story.write(commit(fork('c', 't2.q')).to('fork'));
    const { tree } = story.seen('fork');
    expect(findInherited(tree, 't2')).toMatchObject({ position: 2, turn: { turnId: 't2' } });
    expect(findInherited(tree, 't1')).toMatchObject({ position: 1 });
    expect(findInherited(tree, 't3')).toBeUndefined();
    expect(ownTurn(tree, 't2')).toBeUndefined();
    expect(ownTurn(story.seen('c').tree, 't3')).toMatchObject({ branch: 0, position: 3 });
  });

  test('a branch’s tip is its last position', () => {
    const story = given();
    for (let at = 1; at <= 40; at++) story.write(commit(...turn(`t${at}`)));
    story.write(commit(select('t3')).expecting({ graphRevision: 80 }));
    story.write(commit(...turn('t41')));
    const { tree } = story.seen();
    expect([lastPosition(tree.rows, 'c', 0), lastPosition(tree.rows, 'c', 1), lastPosition(tree.rows, 'c', 2)]).toEqual(
      [40, 1, 0],
    );
    expect(story.seen().turn('t41')).toMatchObject({ branch: 1, position: 1, parentTurnId: 't3' });
  });
});

describe('the last sequence of a path', () => {
  const last = (story: Story, id: string, leaf?: string | null) => {
    const seen = story.seen(id);
    return lastSequenceOn(seen.tree, seen.path(leaf));
  };

  test('is 0 where nothing stands, and that of the last message else', () => {
    const story = chain();
    expect([
      last(story, 'c', null),
      last(story, 'c', 't1'),
      last(story, 'c'),
      last(story, 'child'),
      last(story, 'grandchild'),
    ]).toEqual([1, 3, 5, 7, 8]);
    expect(last(given(commit({ kind: 'state.update' })), 'c')).toBe(0);
  });

  test('counts late results that the path sees, and no others', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x', 'y']), say('a2')])), commit(...turn('t2')));
    story.write(commit(fork('c', 't2.q')).to('fork'));
    story.write(commit(answer('r1', ['x'])));
    expect([last(story, 'c'), last(story, 'c', 't1'), last(story, 'fork')]).toEqual([5, 5, 4]);
    story.write(commit(...turn('t3', [], { parent: { messageId: 'a1' } })).expecting({ graphRevision: 4 }));
    story.write(commit(select('t2')).expecting({ graphRevision: 6 }));
    story.write(commit(answer('r2', ['y'])));
    expect([last(story, 'c', 't2'), last(story, 'c', 't3')]).toEqual([7, 6]);
  });
});
