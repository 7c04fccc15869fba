import { describe, expect, test } from 'vitest';
import type { RowReader } from '../backend.ts';
import { advance, answer, call, fork, say, submit, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { callPlaces, nearestOn, ownCallsAt } from './calls.ts';

function nearest(story: Story, id: string, kind: 'call' | 'result', leaf?: string): string | undefined {
  const seen = story.seen(id);
  const found = nearestOn(seen.tree, seen.path(leaf), 'x', kind);
  return found && `${found.place.owner} ${found.place.branch}:${found.place.position} ${found.place.sequence}`;
}

describe('the nearest call of an id on a path', () => {
  test('is the last one before the leaf', () => {
    const story = given(
      commit(...turn('t1', [call('a1', ['x'])])),
      commit(...turn('t2', [call('a2', ['x'])])),
      commit(...turn('t3')),
    );
    expect(nearest(story, 'c', 'call')).toBe('c 0:2 4');
    expect(nearest(story, 'c', 'call', 't1')).toBe('c 0:1 2');
    expect(nearest(story, 'c', 'result')).toBeUndefined();
  });

  test('is not one beyond the cut of a rewind, nor one of another branch', () => {
    const story = given(commit(...turn('t1', [say('a1'), call('a2', ['x'])])));
    story.write(commit(...turn('t2', [], { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }));
    expect(nearest(story, 'c', 'call', 't2')).toBeUndefined();
    expect(nearest(story, 'c', 'call', 't1')).toBe('c 0:1 3');
    story.write(
      commit(...turn('t3', [call('b1', ['x'])], { parent: { messageId: 'a1' } })).expecting({ graphRevision: 4 }),
    );
    expect(nearest(story, 'c', 'call', 't2')).toBeUndefined();
    expect(nearest(story, 'c', 'call', 't3')).toBe('c 2:1 6');
  });

  test('a call at the very cut is on the path', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x']), say('a2')])));
    story.write(commit(...turn('t2', [], { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }));
    expect(nearest(story, 'c', 'call')).toBe('c 0:1 2');
  });

  test('is an inherited one in a fork, and no answer that came after the fork', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x'])])), commit(...turn('t2')));
    story.write(commit(fork('c', 't2.q')).to('fork'));
    story.write(commit(answer('late', ['x'])));
    expect(nearest(story, 'fork', 'call')).toBe('c 0:1 2');
    expect(nearest(story, 'fork', 'result')).toBeUndefined();
    expect(nearest(story, 'c', 'result')).toBe('c 0:1 4');
  });
});

test('the places of a call id are by sequence, each turn’s apart', () => {
  const story = given(commit(...turn('t1', [call('a1', ['x']), answer('r1', ['x'])])));
  story.write(commit(submit('t2'), advance('t2', 'running'), call('a2', ['x', 'xx'])));
  const { tree } = story.seen();
  expect(
    callPlaces(tree, 'c', 'x').map(({ kind, position, sequence, version }) => [kind, position, sequence, version]),
  ).toEqual([
    ['call', 1, 2, 1],
    ['result', 1, 3, 1],
    ['call', 2, 5, 2],
  ]);
  expect(ownCallsAt(tree, 'x', 0, 2)).toHaveLength(1);
  expect(callPlaces(tree, 'c', 'nothing')).toEqual([]);
});

test('an id that every turn uses again costs no more than one that is new', () => {
  const story = given();
  for (let at = 1; at <= 60; at++) {
    story.write(commit(...turn(`t${at}`, [call(`a${at}`, ['x']), answer(`r${at}`, ['x'])])));
  }
  const { tree, path } = counted(story);
  expect(nearestOn(tree, path(), 'x', 'call')?.place).toMatchObject({ position: 60, sequence: 179 });
  expect(ownCallsAt(tree, 'x', 0, 30).map(({ kind, sequence }) => [kind, sequence])).toEqual([
    ['call', 89],
    ['result', 90],
  ]);
  expect(ownCallsAt(tree, 'x', 0, 61)).toEqual([]);
  expect(tree.read()).toBeLessThan(70);
});

/** The tree of a story's conversation, with the number of rows that were scanned. */
function counted(story: Story) {
  const seen = story.seen();
  let read = 0;
  const rows: RowReader = {
    head: (conversation) => seen.tree.rows.head(conversation),
    get: (conversation, key) => seen.tree.rows.get(conversation, key),
    log: (conversation, version) => seen.tree.rows.log(conversation, version),
    heads: (query) => seen.tree.rows.heads(query),
    scan: (conversation, range) => {
      const found = seen.tree.rows.scan(conversation, range);
      read += found.length;
      return found;
    },
  };
  return { tree: { rows, head: seen.head, read: () => read }, path: () => seen.path() };
}
