import { describe, expect, test } from 'vitest';
import {
  advance,
  aim,
  answer,
  call,
  fork,
  promise,
  redact,
  say,
  select,
  submit,
  task,
  turn,
} from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';

/** Turns t1 to t3, one message each beside the prompt. */
function three(): Story {
  return given(...['1', '2', '3'].map((n) => commit(...turn(`t${n}`, [say(`a${n}`)]))));
}

describe('conversation.fork', () => {
  test('of forks inherits at their common message what stands before it alone, not the root messages of one between', () => {
    const story = given(commit(say('r1')), commit(say('r2')));
    story.write(commit(fork('c', 'r2')).to('f1'));
    story.write(commit(fork('f1', 'r1')).to('f2'));
    story.write(commit(fork('f2', 'r1')).to('f3'));
    story.write(commit(say('own')).to('f3'));
    story.write(
      commit({ kind: 'turn.record', turnId: 't1', origin: 'import', parent: null }, say('a1', 't1'))
        .to('f3')
        .expecting({ graphRevision: 0 }),
    );
    story.write(commit(fork('f3', 'a1')).to('f4'));
    story.when(commit(fork('f4', 'r1')).to('f5')).thenWrites({ source: 'f4', at: 'r1', startSequence: 2 });
    expect(story.seen('f5').ids()).toEqual(['r1']);
  });

  test('inherits what stands before its cut, and goes on from there', () => {
    const story = three();
    story
      .when(commit(fork('c', 'a2')).to('fork'))
      .thenWrites({ source: 'c', at: 'a2', sourceVersion: 3, startSequence: 5 });
    const seen = story.seen('fork');
    expect(seen.ids()).toEqual(['t1.q', 'a1', 't2.q', 'a2']);
    expect(seen.messages().map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(seen.head).toMatchObject({ version: 1, leaf: 't2', cutTurn: 't2', source: 'c', turns: 0, graphRevision: 0 });
    story.write(commit(...turn('f1')).to('fork'));
    expect(story.seen('fork').messages().at(-1)).toMatchObject({ messageId: 'f1.q', sequence: 5 });
    expect(story.seen('c').ids()).toEqual(['t1.q', 'a1', 't2.q', 'a2', 't3.q', 'a3']);
  });

  test('a cut inside a turn leaves out the rest of it', () => {
    const story = given(commit(...turn('t1', [say('a1'), say('a2')])));
    story.write(commit(fork('c', 'a1')).to('fork'));
    expect(story.seen('fork').ids()).toEqual(['t1.q', 'a1']);
    story.write(commit(...turn('f1')).to('fork'));
    expect(story.seen('fork').messages().at(-1)?.sequence).toBe(3);
  });

  test('is the first change of the first commit', () => {
    const details = { conversationId: 'fork' };
    const story = three();
    story.when(commit(say('x'), fork('c', 'a1')).to('fork')).thenRefuses('conversation_exists', details);
    story
      .whenOvertaken(commit(fork('c', 'a1')).to('fork'), commit(say('x')).to('fork'))
      .thenRefuses('conversation_exists', details);
  });

  test('needs a source, a message that the source sees, and a turn that has ended', () => {
    const story = three();
    story.write(commit(submit('t4'), advance('t4', 'waiting'), say('a4')));
    story.write(commit(...turn('s1')).to('stranger'));
    const at = (messageId: string, source = 'c') => story.when(commit(fork(source, messageId)).to('fork'));
    at('a1', 'nobody').thenRefuses('conversation_not_found', { conversationId: 'nobody' });
    at('nothing').thenRefuses('no_message', { messageId: 'nothing' });
    at('s1.q').thenRefuses('no_message', { messageId: 's1.q' });
    at('a4').thenRefuses('turn_open', { turnId: 't4', state: 'waiting' });
    at('a3').thenWrites();
  });

  test('takes the branch that its message is on, wherever the leaf of the source is', () => {
    const story = three();
    story.write(commit(...turn('t4', [say('a4')], { parent: { turnId: 't1' } })).expecting({ graphRevision: 6 }));
    story.write(commit(select('t3')).expecting({ graphRevision: 8 }));
    story.write(commit(fork('c', 'a4')).to('fork'));
    expect(story.seen('fork').ids()).toEqual(['t1.q', 'a1', 't4.q', 'a4']);
  });

  test('at a root message it inherits no turn, and takes messages before its own first', () => {
    const story = given(commit(say('r1'), say('r2')), commit(...turn('t1')));
    story.write(commit(fork('c', 'r1')).to('fork'));
    expect(story.seen('fork').head).toMatchObject({ leaf: null, cutTurn: null, lastSequence: 1 });
    story.write(commit(say('x')).to('fork'));
    story.write(commit(...turn('f1')).to('fork'));
    expect(story.seen('fork').ids()).toEqual(['r1', 'x', 'f1.q']);
  });
});

describe('what is written after the cut', () => {
  test('never enters the fork: late results, entries, new turns', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x', 'y']), promise('p1')])));
    story.write(commit(answer('r1', ['x'])));
    story.write(commit(fork('c', 'r1')).to('fork'));
    const before = { ids: story.seen('fork').ids(), open: story.seen('fork').open() };
    expect(before).toEqual({ ids: ['t1.q', 'a1', 'r1'], open: ['p1'] });
    story.write(commit(answer('r2', ['y'])));
    story.write(commit(promise('p2'), aim('later')));
    story.write(commit(...turn('t2')));
    expect({ ids: story.seen('fork').ids(), open: story.seen('fork').open() }).toEqual(before);
    expect(story.seen('fork').state().objective).toBeNull();
    expect(story.seen('c').open()).toEqual(['p1', 'p2']);
  });

  test('not even a late result in the middle of what it inherits', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x'])])), commit(...turn('t2')));
    story.write(commit(fork('c', 't2.q')).to('fork'));
    story.write(commit(answer('late', ['x'])));
    expect(story.seen('c').ids()).toEqual(['t1.q', 'a1', 'late', 't2.q']);
    expect(story.seen('fork').ids()).toEqual(['t1.q', 'a1', 't2.q']);
    story.when(commit(fork('fork', 'late')).to('other')).thenRefuses('no_message', { messageId: 'late' });
  });

  test('redaction aside', () => {
    const story = three();
    story.write(commit(fork('c', 'a2')).to('fork'));
    story.write(commit(redact('a1')));
    expect(story.seen('fork').messages()[1]).toMatchObject({ messageId: 'a1', parts: [] });
  });

  test('neither does what the fork writes enter its source', () => {
    const story = three();
    story.write(commit(fork('c', 'a2')).to('fork'));
    story.write(commit(promise('p'), aim('fork')).to('fork'));
    story.write(commit(...turn('f1')).to('fork'));
    expect(story.seen('c').open()).toEqual([]);
    expect(story.seen('c').ids('t2')).toEqual(['t1.q', 'a1', 't2.q', 'a2']);
  });
});

describe('the context of a fork', () => {
  test('is that of its source at the end of the turn, later entries of that turn included', () => {
    const story = given(commit(...turn('t1', [say('a1'), aim('one')])));
    story.write(commit(promise('after the end')));
    story.write(commit(fork('c', 'a1')).to('fork'));
    expect(story.seen('fork').state().objective).toBe('one');
    expect(story.seen('fork').open()).toEqual(['after the end']);
  });

  test('at a message within a turn it is what stood before the next message', () => {
    const story = given(commit(...turn('t1', [say('a1'), aim('before'), say('a2'), aim('after'), task('k')])));
    story.write(commit(fork('c', 'a1')).to('fork'));
    expect(story.seen('fork').state().objective).toBe('before');
    expect(story.seen('fork').activeTask()).toBeUndefined();
  });

  test('at an earlier turn it is what that turn wrote, also after the next one began', () => {
    const story = given(commit(...turn('t1', [say('a1'), aim('one')])), commit(...turn('t2')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story.write(commit(aim('late')));
    expect([story.seen().state('t1').objective, story.seen().state('t2').objective]).toEqual(['late', 'one']);
    story.write(commit(fork('c', 'a1')).to('fork'));
    expect(story.seen('fork').state().objective).toBe('late');
  });
});

describe('a fork of a fork', () => {
  const grandchild = (story: Story, at: string) => {
    story.write(commit(fork('child', at)).to('grandchild'));
    return story.seen('grandchild');
  };

  test('cut at a message of the child inherits both', () => {
    const story = three();
    story.write(commit(fork('c', 'a1')).to('child'));
    story.write(commit(...turn('f1', [say('b1')])).to('child'));
    const seen = grandchild(story, 'b1');
    expect(seen.ids()).toEqual(['t1.q', 'a1', 'f1.q', 'b1']);
    expect(seen.tree.rows.get('grandchild', 'b10')?.slice(0, 2)).toEqual(['child', 0]);
    expect(seen.head).toMatchObject({ leaf: 'f1', source: 'child', lastSequence: 4 });
  });

  test('of one without messages or entries of its own links to the grandparent', () => {
    const story = three();
    story.write(commit(fork('c', 'a2')).to('child'));
    const seen = grandchild(story, 'a2');
    expect(seen.ids()).toEqual(['t1.q', 'a1', 't2.q', 'a2']);
    expect(seen.tree.rows.get('grandchild', 'b10')?.slice(0, 2)).toEqual(['c', 0]);
    expect(seen.head.source).toBe('child');
  });

  test('of one with entries of its own takes them along', () => {
    const story = three();
    story.write(commit(fork('c', 'a2')).to('child'));
    story.write(commit(aim('mine'), promise('p')).to('child'));
    const seen = grandchild(story, 'a2');
    expect(seen.tree.rows.get('grandchild', 'b10')?.slice(0, 2)).toEqual(['child', 0]);
    expect(seen.state().objective).toBe('mine');
    expect(seen.open()).toEqual(['p']);
    story.write(commit(promise('late')).to('child'));
    expect(story.seen('grandchild').open()).toEqual(['p']);
  });

  test('cut before the last inherited message it links to the grandparent, and not to later entries', () => {
    const story = three();
    story.write(commit(fork('c', 'a3')).to('child'));
    story.write(commit(aim('mine')).to('child'));
    const seen = grandchild(story, 'a1');
    expect(seen.ids()).toEqual(['t1.q', 'a1']);
    expect(seen.state().objective).toBeNull();
    expect(seen.tree.rows.get('grandchild', 'b10')?.slice(0, 2)).toEqual(['c', 0]);
  });

  test('sees of the grandparent no more than its source did', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x']), say('a2')])));
    story.write(commit(fork('c', 'a2')).to('child'));
    story.write(commit(answer('late', ['x'])));
    story.write(commit(promise('late promise')));
    const seen = grandchild(story, 'a2');
    expect(seen.ids()).toEqual(['t1.q', 'a1', 'a2']);
    expect(seen.open()).toEqual([]);
    story.when(commit(fork('child', 'late')).to('other')).thenRefuses('no_message', { messageId: 'late' });
  });

  test('across a root message of the child it is cut where it was asked', () => {
    const story = given(commit(say('r1')));
    story.write(commit(fork('c', 'r1')).to('child'));
    story.write(commit(say('x'), aim('mine')).to('child'));
    const seen = grandchild(story, 'r1');
    expect(seen.ids()).toEqual(['r1']);
    expect(seen.state().objective).toBeNull();
  });

  test('a turn of the child under an inherited turn that is not the last starts a branch', () => {
    const story = three();
    story.write(commit(fork('c', 'a3')).to('child'));
    story.write(
      commit(...turn('f1', [], { parent: { turnId: 't1' } }))
        .to('child')
        .expecting({ graphRevision: 0 }),
    );
    const seen = story.seen('child');
    expect(seen.turn('f1')).toMatchObject({ branch: 1, position: 1, ordinal: 2, parentTurnId: 't1' });
    expect(seen.ids()).toEqual(['t1.q', 'a1', 'f1.q']);
    story.write(commit(fork('child', 'f1.q')).to('grandchild'));
    expect(story.seen('grandchild').ids()).toEqual(['t1.q', 'a1', 'f1.q']);
  });

  test('a rewind to an inherited message leaves out the rest of its turn', () => {
    const story = given(commit(...turn('t1', [say('a1'), aim('one'), say('a2'), aim('two')])));
    story.write(commit(fork('c', 'a2')).to('child'));
    story.write(
      commit(...turn('f1', [], { parent: { messageId: 'a1' } }))
        .to('child')
        .expecting({ graphRevision: 0 }),
    );
    expect(story.seen('child').ids()).toEqual(['t1.q', 'a1', 'f1.q']);
    expect(story.seen('child').state().objective).toBe('one');
    expect(story.seen('child').state('t1').objective).toBe('two');
  });
});

describe('ordinals in a fork', () => {
  test('start after the child that it inherits', () => {
    const story = three();
    story.write(commit(fork('c', 'a2')).to('fork'));
    const under = (id: string, parent: string | null, graphRevision: number) =>
      commit(...turn(id, [], { parent: parent === null ? null : { turnId: parent } }))
        .to('fork')
        .expecting({ graphRevision });
    story.write(under('f1', 't1', 0));
    story.write(under('f2', 't1', 2));
    story.write(under('f3', 't2', 4));
    story.write(under('f4', null, 6));
    const seen = story.seen('fork');
    expect(['f1', 'f2', 'f3', 'f4'].map((id) => seen.turn(id)?.ordinal)).toEqual([2, 3, 1, 2]);
    // The source goes on counting by itself.
    story.write(commit(...turn('t4', [], { parent: { turnId: 't1' } })).expecting({ graphRevision: 6 }));
    expect(story.seen('c').turn('t4')?.ordinal).toBe(2);
  });

  test('start after the third child where that is the one inherited', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')));
    for (const [n, graphRevision] of [
      [3, 4],
      [4, 6],
    ] as const) {
      story.write(commit(...turn(`t${n}`, [], { parent: { turnId: 't1' } })).expecting({ graphRevision }));
    }
    story.write(commit(fork('c', 't4.q')).to('fork'));
    story
      .when(
        commit(submit('f1', { parent: { turnId: 't1' } }))
          .to('fork')
          .expecting({ graphRevision: 0 }),
      )
      .thenWrites({ ordinal: 4 });
  });

  test('a root of a fork without turns of its source starts at 1', () => {
    const story = given(commit(say('r1')), commit(...turn('t1')));
    story.write(commit(fork('c', 'r1')).to('fork'));
    story
      .when(
        commit(submit('f1', { parent: null }))
          .to('fork')
          .expecting({ graphRevision: 0 }),
      )
      .thenWrites({ ordinal: 1 });
  });
});
