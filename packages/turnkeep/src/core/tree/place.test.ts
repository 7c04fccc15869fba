import { describe, expect, test } from 'vitest';
import { advance, aim, answer, call, fork, say, select, submit, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { branchRow } from './path.ts';
import { lastOrdinal } from './place.ts';

const branch = (story: Story, id: string, number: number) => branchRow(story.rows, id, number);
const under = (turnId: string, parent: string | null, graphRevision: number) =>
  commit(...turn(turnId, [], { parent: parent === null ? null : { turnId: parent } })).expecting({ graphRevision });
const rewind = (turnId: string, messageId: string, graphRevision: number) =>
  commit(...turn(turnId, [], { parent: { messageId } })).expecting({ graphRevision });

describe('a new turn', () => {
  test('goes on at the tip of its branch, and starts a branch anywhere else', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')));
    story.write(under('t3', 't2', 4));
    expect(story.seen().turn('t3')).toMatchObject({ branch: 0, position: 3 });
    story.write(under('t4', 't1', 6));
    expect(story.seen().turn('t4')).toMatchObject({ branch: 1, position: 1 });
    const whole = { cutPosition: 1, cutSequence: Number.MAX_SAFE_INTEGER, asOf: Number.MAX_SAFE_INTEGER, bound: null };
    expect(branch(story, 'c', 1)).toMatchObject({
      parent: { owner: 'c', branch: 0 },
      forkRoot: false,
      depth: 1,
      ...whole,
    });
    story.write(under('t5', 't4', 8));
    expect(story.seen().turn('t5')).toMatchObject({ branch: 1, position: 2 });
  });

  test('under the root goes on there before the first turn, and starts a branch after it', () => {
    const story = given(commit(say('r1')));
    story.write(under('t1', null, 0));
    story.write(under('t2', null, 2));
    expect([story.seen().turn('t1'), story.seen().turn('t2')]).toMatchObject([
      { branch: 0, position: 1, ordinal: 1 },
      { branch: 1, position: 1, ordinal: 2, parentTurnId: null },
    ]);
    expect(story.seen().ids('t2')).toEqual(['r1', 't2.q']);
  });

  test('after a root message starts a branch that leaves later ones out', () => {
    const story = given(commit(say('r1'), say('r2')), commit(...turn('t1')));
    story.write(rewind('t2', 'r1', 2));
    expect(story.seen().turn('t2')).toMatchObject({ parentTurnId: null, parentMessageId: 'r1', ordinal: 2 });
    expect(story.seen().ids('t2')).toEqual(['r1', 't2.q']);
  });

  test('a whole cut takes later results of its turn, a cut at a message never does', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x'])])), commit(...turn('t2')));
    story.write(under('t3', 't1', 4));
    story.write(rewind('t4', 'a1', 6));
    story.write(commit(select('t2'), answer('r1', ['x'])).expecting({ graphRevision: 8 }));
    expect(story.seen().ids('t3')).toEqual(['t1.q', 'a1', 'r1', 't3.q']);
    expect(story.seen().ids('t4')).toEqual(['t1.q', 'a1', 't4.q']);
  });

  test('in a fork under the turn that it was cut at goes on in the fork’s own branch', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')), commit(fork('c', 't2.q')).to('fork'));
    story.write(under('f1', 't2', 0).to('fork'));
    expect(story.seen('fork').turn('f1')).toMatchObject({ branch: 0, position: 1, parentTurnId: 't2' });
    story.write(under('f2', 't2', 2).to('fork'));
    expect(story.seen('fork').turn('f2')).toMatchObject({ branch: 1, position: 1 });
    expect(branch(story, 'fork', 1)).toMatchObject({ parent: { owner: 'fork', branch: 0 }, cutPosition: 0, depth: 2 });
    expect(story.seen('fork').ids('f2')).toEqual(['t1.q', 't2.q', 'f2.q']);
  });

  test('in a fork under the root stands after the inherited root messages', () => {
    const story = given(commit(say('r1'), aim('root')), commit(...turn('t1')), commit(fork('c', 't1.q')).to('fork'));
    story.write(under('f1', null, 0).to('fork'));
    expect(story.seen('fork').ids('f1')).toEqual(['r1', 'f1.q']);
    expect(story.seen('fork').state('f1').objective).toBe('root');
    expect(story.seen('fork').turn('f1')).toMatchObject({ parentTurnId: null, ordinal: 2 });
  });

  test('in a fork under an inherited turn keeps what that turn had written when the next one started', () => {
    const story = given(commit(...turn('t1', [aim('one')])), commit(...turn('t2', [aim('two')])));
    story.write(commit(fork('c', 't2.q')).to('fork'));
    story.write(under('f1', 't1', 0).to('fork'));
    expect(story.seen('fork').state('f1').objective).toBe('one');
    expect(story.seen('fork').state().objective).toBe('one');
    expect(story.seen('fork').state('t2').objective).toBe('two');
  });
});

describe('a turn in the middle of what a fork inherits', () => {
  // What t1 wrote after t2 began was never on the path that the fork was cut from.
  const forked = () => {
    const story = given(commit(...turn('t1', [say('a1'), aim('one'), say('a2'), aim('two')])), commit(...turn('t2')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story.write(commit(aim('unseen')));
    story.write(commit(fork('c', 't2.q')).to('fork'));
    return story;
  };
  const objective = (story: Story) => story.seen('fork').state('f1').objective;

  test('under the whole turn sees what was written before the next one began', () => {
    const story = forked();
    story.write(under('f1', 't1', 0).to('fork'));
    expect(objective(story)).toBe('two');
  });

  test('under its last message sees the same', () => {
    const story = forked();
    story.write(rewind('f1', 'a2', 0).to('fork'));
    expect(objective(story)).toBe('two');
  });

  test('under an earlier message sees what stood before the next message', () => {
    const story = forked();
    story.write(rewind('f1', 'a1', 0).to('fork'));
    expect(objective(story)).toBe('one');
    expect(story.seen('fork').ids('f1')).toEqual(['t1.q', 'a1', 'f1.q']);
  });
});

describe('the last ordinal of a parent', () => {
  test('is that of its own children, else of the inherited child, else 0', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')));
    story.write(under('t3', 't1', 4));
    story.write(commit(fork('c', 't3.q')).to('fork'));
    const of = (id: string, parent: string | null) => lastOrdinal(story.seen(id).tree, parent);
    expect([of('c', null), of('c', 't1'), of('c', 't2'), of('c', 't3')]).toEqual([1, 2, 0, 0]);
    expect([of('fork', null), of('fork', 't1'), of('fork', 't3'), of('fork', 't2')]).toEqual([1, 2, 0, 0]);
    story.write(under('f1', 't1', 0).to('fork'));
    story.write(under('f2', 't3', 2).to('fork'));
    expect([of('fork', 't1'), of('fork', 't3'), of('c', 't1')]).toEqual([3, 1, 2]);
  });

  test('counts past nine and past thirty-five', () => {
    const story = given(commit(...turn('t0')));
    for (let at = 1; at <= 40; at++) story.write(under(`b${at}`, 't0', 2 * at));
    expect(lastOrdinal(story.seen().tree, 't0')).toBe(40);
  });

  test('a rewind counts under the turn of its message', () => {
    const story = given(commit(...turn('t1', [say('a1')])));
    story.write(rewind('t2', 't1.q', 2));
    story.write(under('t3', 't1', 4));
    expect([story.seen().turn('t2')?.ordinal, story.seen().turn('t3')?.ordinal]).toEqual([1, 2]);
  });
});

test('a turn that waits is no parent, an inherited one has always ended', () => {
  const story = given(commit(submit('t1'), advance('t1', 'waiting')));
  story.when(under('t2', 't1', 2)).thenRefuses('path_busy', { turnId: 't1', state: 'waiting' });
});
