import { describe, expect, test } from 'vitest';
import { advance, answer, call, fork, say, submit, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { LIMITS } from '../limits.ts';
import { placedWindow } from './window.ts';
import type { PlacedWindow, WindowCursor } from './window.ts';

const windowOf = (story: Story, count: number, before?: WindowCursor, leaf?: string | null) =>
  placedWindow(story.seen().tree, { count, before, leaf });
const ids = (found: PlacedWindow) => found.messages.map(({ row }) => row.messageId);
const pages = (story: Story, count: number): readonly (readonly string[])[] => {
  const all: (readonly string[])[] = [];
  let before: WindowCursor | undefined;
  // A reading that does not end is longer than any path here.
  while (all.length < 20) {
    const found = windowOf(story, count, before);
    all.unshift(ids(found));
    if (!found.before) return all;
    before = found.before;
  }
  throw new Error('the windows do not end');
};

/** t1: a call with two results; t2: plain. */
const story = () =>
  given(
    commit(...turn('t1', [call('a1', ['x', 'y']), answer('r1', ['x']), answer('r2', ['y']), say('a2')])),
    commit(...turn('t2', [say('a3')])),
  );

describe('a window', () => {
  test('is the last messages, oldest first', () => {
    expect(ids(windowOf(story(), 3))).toEqual(['a2', 't2.q', 'a3']);
    expect(ids(windowOf(story(), 100))).toEqual(['t1.q', 'a1', 'r1', 'r2', 'a2', 't2.q', 'a3']);
    expect(windowOf(story(), 7).before).toBeNull();
    expect(windowOf(story(), 3).before).toEqual({ leaf: 't2', lastSequence: 7, messageId: 'a2' });
    expect(windowOf(given(commit({ kind: 'state.update' })), 5)).toEqual({ messages: [], before: null });
  });

  test('never begins between a call and its results', () => {
    for (const count of [3, 4, 5]) expect(ids(windowOf(story(), count))).toEqual(['a2', 't2.q', 'a3']);
    expect(ids(windowOf(story(), 6))).toEqual(['a1', 'r1', 'r2', 'a2', 't2.q', 'a3']);
  });

  test('pages from end to start hold every message once', () => {
    for (const count of [3, 4, 6, 7])
      expect(pages(story(), count).flat()).toEqual(['t1.q', 'a1', 'r1', 'r2', 'a2', 't2.q', 'a3']);
    expect(pages(story(), 3)).toEqual([['t1.q'], ['a1', 'r1', 'r2'], ['a2', 't2.q', 'a3']]);
  });

  test('a group that does not fit is said to be too large', () => {
    const before = windowOf(story(), 3).before ?? undefined;
    expect(() => windowOf(story(), 2, before)).toThrow(
      expect.objectContaining({ code: 'group_too_large', details: { count: 3 } }),
    );
    expect(() =>
      windowOf(given(commit(submit('t1'), advance('t1', 'running'), call('a1', ['x']), answer('r1', ['x']))), 1),
    ).toThrow(expect.objectContaining({ code: 'group_too_large', details: { count: 2 } }));
  });

  test('of a group that is much too large only so much is read as says so', () => {
    const ids = (of: number, count: number) => Array.from({ length: count }, (_, at) => `${of}.${at}`);
    const rounds = [0, 1, 2, 3, 4].map((of) => ids(of, 256));
    const results = rounds.flat().map((callId) => answer(`r${callId}`, [callId]));
    const long = given(
      commit(submit('t1'), advance('t1', 'running'), ...rounds.map((callIds, of) => call(`a${of}`, callIds))),
      commit(...results.slice(0, 900)),
      commit(...results.slice(900)),
    );
    expect(() => windowOf(long, 3)).toThrow(
      expect.objectContaining({ code: 'group_too_large', details: { count: 3 + 1_024 } }),
    );
  });

  test('a call without a result is no group', () => {
    expect(ids(windowOf(given(commit(...turn('t1', [call('a1', ['x']), say('a2')]))), 1))).toEqual(['a2']);
  });

  test('groups lie within one turn: an answer in another turn opens none', () => {
    const cut = given(commit(...turn('t1', [call('a1', ['x'])])));
    cut.write(
      commit(submit('t2', { parent: { messageId: 'a1' } }), advance('t2', 'running'), answer('r1', ['x'])).expecting({
        graphRevision: 2,
      }),
    );
    expect(cut.seen().ids()).toEqual(['t1.q', 'a1', 't2.q', 'r1']);
    expect(ids(windowOf(cut, 1))).toEqual(['r1']);
  });

  test('goes on before a message over branches and into what a fork inherits', () => {
    const forked = story();
    forked.write(commit(fork('c', 'a2')).to('c2'));
    forked.write(commit(...turn('f1')).to('c2'));
    const { tree } = forked.seen('c2');
    const last = placedWindow(tree, { count: 2 });
    expect(ids(last)).toEqual(['a2', 'f1.q']);
    expect(ids(placedWindow(tree, { count: 5, before: last.before ?? undefined }))).toEqual(['t1.q', 'a1', 'r1', 'r2']);
  });

  test('a cursor is pinned: what comes later does not move it', () => {
    const moved = given(commit(...turn('t1', [call('a1', ['x'])])), commit(...turn('t2', [say('a2')])));
    const { before } = windowOf(moved, 2);
    moved.write(commit(answer('late', ['x'])));
    moved.write(commit(...turn('t3')));
    expect(ids(windowOf(moved, 5, before ?? undefined))).toEqual(['t1.q', 'a1']);
    expect(ids(windowOf(moved, 5))).toEqual(['a1', 'late', 't2.q', 'a2', 't3.q']);
    // Neither does another leaf.
    moved.write(commit(...turn('t4', [], { parent: { messageId: 't1.q' } })).expecting({ graphRevision: 6 }));
    expect(ids(windowOf(moved, 5, before ?? undefined))).toEqual(['t1.q', 'a1']);
  });

  test('a cursor that is not of this path, or stands in a group, is refused', () => {
    const other = story();
    other.write(commit(...turn('t3', [], { parent: { turnId: 't1' } })).expecting({ graphRevision: 4 }));
    const at = (messageId: string) => () => windowOf(other, 3, { leaf: 't3', lastSequence: 8, messageId });
    expect(at('a3')).toThrow(
      expect.objectContaining({ code: 'bad_cursor', details: { reason: 'a3 is not on this path' } }),
    );
    expect(at('nothing')).toThrow(expect.objectContaining({ code: 'bad_cursor' }));
    for (const inside of ['r1', 'r2']) {
      const reason = `${inside} stands between a call and its result`;
      expect(at(inside)).toThrow(expect.objectContaining({ code: 'bad_cursor', details: { reason } }));
    }
    expect(ids(windowOf(other, 9, { leaf: 't3', lastSequence: 8, messageId: 'a2' }))).toEqual([
      't1.q',
      'a1',
      'r1',
      'r2',
    ]);
  });

  test('a size is a whole number within its limit', () => {
    for (const count of [0, -1, 1.5, Number.NaN])
      expect(() => windowOf(story(), count)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
    expect(windowOf(story(), LIMITS.pageMessages).messages).toHaveLength(7);
    expect(() => windowOf(story(), LIMITS.pageMessages + 1)).toThrow(
      expect.objectContaining({ code: 'limit_exceeded' }),
    );
  });

  test('of a named leaf is that leaf’s, and of the root the root’s', () => {
    const rooted = given(commit(say('r1')), commit(...turn('t1')), commit(...turn('t2')));
    expect(ids(windowOf(rooted, 5, undefined, 't1'))).toEqual(['r1', 't1.q']);
    expect(ids(windowOf(rooted, 5, undefined, null))).toEqual(['r1']);
  });
});
