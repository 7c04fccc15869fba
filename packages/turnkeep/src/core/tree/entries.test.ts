import { describe, expect, test } from 'vitest';
import type { Change } from '../change.ts';
import { advance, aim, fork, promise, say, select, submit, turn } from '../changes.testkit.ts';
import { readState } from '../read/state.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';

/** t1 waits for nothing any more: it has ended, and t2 stands under it. */
function two(): Story {
  return given(commit(...turn('t1')), commit(submit('t2')));
}

describe('what a turn sees of its ancestors', () => {
  test('is what they wrote before it started', () => {
    const story = two();
    // t2 prepares: the leaf is t1 still, and what it writes now is seen.
    story.write(commit(aim('before')));
    story.write(commit(advance('t2', 'running')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story.write(commit(aim('after'), promise('after')));
    expect(story.seen().state('t1').objective).toBe('after');
    expect(story.seen().state('t2').objective).toBe('before');
    expect(story.seen().open('t2')).toEqual([]);
  });

  test('is all of it while the turn has not started', () => {
    const story = two();
    story.write(commit(aim('late')));
    expect(story.seen().state('t2').objective).toBe('late');
    story.write(commit(advance('t2', 'dispatching')));
    story.write(commit(aim('later')));
    expect(story.seen().state('t2').objective).toBe('later');
  });

  test('a change of its own commit before its start is seen, one after it is its own', () => {
    const story = two();
    story.write(commit(aim('parent'), advance('t2', 'running'), aim('child')));
    expect(story.seen().state('t1').objective).toBe('parent');
    expect(story.seen().state('t2').objective).toBe('child');
    expect(story.seen().state('t2').stateVersion).toBe(2);
  });

  test('a turn that ended without running bounds it by its end', () => {
    const story = two();
    story.write(commit(aim('before')));
    story.write(commit(advance('t2', 'failed')));
    story.write(commit(submit('t3', { parent: { turnId: 't2' } })).expecting({ graphRevision: 3 }));
    story.write(commit(aim('after')));
    expect(story.seen().state('t1').objective).toBe('after');
    expect(story.seen().state('t3').objective).toBe('before');
  });

  test('of a branch it is what the parent wrote before the first turn of the branch started', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')));
    story.write(commit(submit('t3', { parent: { turnId: 't1' } })).expecting({ graphRevision: 4 }));
    story.write(commit(select('t1')).expecting({ graphRevision: 5 }));
    story.write(commit(aim('seen')));
    story.write(commit(advance('t3', 'running')));
    story.write(commit(select('t1')).expecting({ graphRevision: 7 }));
    story.write(commit(aim('unseen')));
    expect(story.seen().state('t3').objective).toBe('seen');
    expect(story.seen().state('t2').objective).toBeNull();
    expect(story.seen().state('t1').objective).toBe('unseen');
  });

  test('many unseen entries hide none that is seen', () => {
    const story = given(commit(...turn('t1', [aim('first')])), commit(...turn('t2')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    for (let at = 0; at < 40; at++) story.write(commit(aim(`late ${at}`), promise(`p${at}`)));
    expect(story.seen().state('t2').objective).toBe('first');
    expect(story.seen().open('t2')).toEqual([]);
    expect(story.seen().open('t1')).toHaveLength(40);
  });
});

describe('a cut within a turn', () => {
  test('sees what was stamped before the first message that it leaves out', () => {
    const story = given(commit(submit('t1'), advance('t1', 'running'), say('a1')));
    story.write(commit(aim('one')));
    story.write(commit(say('a2'), aim('two')));
    story.write(commit(say('a3'), advance('t1', 'completed')));
    story.write(commit(submit('t2', { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }));
    expect(story.seen().state('t2').objective).toBe('one');
    story.write(commit(advance('t2', 'failed')));
    story.write(commit(submit('t3', { parent: { messageId: 'a2' } })).expecting({ graphRevision: 3 }));
    expect(story.seen().state('t3').objective).toBe('two');
  });

  test('after the last message sees later entries, until the branch starts', () => {
    const story = given(commit(...turn('t1', [say('a1'), aim('one')])));
    story.write(commit(submit('t2', { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }));
    story.write(commit(aim('later')));
    expect(story.seen().state('t2').objective).toBe('later');
    story.write(commit(advance('t2', 'running')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story.write(commit(aim('too late')));
    expect(story.seen().state('t2').objective).toBe('later');
  });
});

describe('entries of a fork', () => {
  test('before its first turn hold for it, and end where that turn starts', () => {
    const story = given(commit(...turn('t1', [aim('source')])), commit(fork('c', 't1.q')).to('fork'));
    expect(story.seen('fork').state().objective).toBe('source');
    story.write(commit(aim('fork')).to('fork'));
    story.write(commit(...turn('f1')).to('fork'));
    expect(story.seen('fork').state().objective).toBe('fork');
    story.write(commit(select('t1')).to('fork').expecting({ graphRevision: 2 }));
    story.write(commit(aim('after')).to('fork'));
    expect(story.seen('fork').state('f1').objective).toBe('fork');
    expect(story.seen('fork').state('t1').objective).toBe('after');
    expect(story.seen('c').state().objective).toBe('source');
  });
});

test('the order of entries of many names is that of their first writing', () => {
  const story = given(commit(promise('b')), commit(...turn('t1', [promise('a')])), commit(promise('0')));
  story.write(commit({ kind: 'commitment.resolve', which: { commitmentId: 'b' } }));
  expect(
    story
      .seen()
      .commitments()
      .map(({ commitmentId }) => commitmentId),
  ).toEqual(['b', 'a', '0']);
});

test('a name is no prefix of another', () => {
  const story = given(commit(promise('p')), commit(promise('p1')), commit(promise('p\u{10ffff}')));
  story.write(commit({ kind: 'commitment.expire', which: { commitmentId: 'p' } }));
  expect(story.seen().open()).toEqual(['p1', 'p\u{10ffff}']);
});

test('a name of the highest code points is listed like any other', () => {
  const story = given(commit(promise('\u{10ffff}x')), commit(promise('a')));
  expect(story.seen().open()).toEqual(['\u{10ffff}x', 'a']);
});

test('entries at a version are those that stood then', () => {
  const story = given(commit(aim('one')), commit(...turn('t1', [aim('two')])), commit(aim('three')));
  const seen = story.seen();
  const at = (version: number, leaf: string | null) =>
    readState(seen.tree, seen.bodies, () => seen.path(leaf), { version }).objective;
  expect([at(1, null), at(2, 't1'), at(3, 't1')]).toEqual(['one', 'two', 'three']);
});

test('entries of one commit stand in the order of its changes, and the last of a key holds', () => {
  const fulfil: Change = { kind: 'commitment.resolve', which: { commitmentId: 'p2' } };
  const story = given(commit(promise('p2'), promise('p3'), promise('p1'), fulfil));
  const at = '2026-01-01T00:00:01.000Z';
  const found = story
    .seen()
    .commitments()
    .map(({ commitmentId, status, createdAt, resolvedAt }) => [commitmentId, status, createdAt, resolvedAt]);
  expect(found).toEqual([
    ['p2', 'fulfilled', at, at],
    ['p3', 'open', at, null],
    ['p1', 'open', at, null],
  ]);
});
