import { describe, expect, test } from 'vitest';
import type { Change } from '../change.ts';
import { advance, answer, call, fork, redact, say, submit, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Phrase } from '../story.testkit.ts';

/** A summary up to a message, made from the path to `turnId` as it was when its last sequence was `lastSequence`. */
function summary(upTo: string, turnId: string | null, lastSequence: number, text: string = `until ${upTo}`): Phrase {
  const change: Change = { kind: 'summary.commit', upTo, text };
  return commit(change).expecting({ transcript: { turn: turnId, lastSequence } });
}

const two = () => given(commit(...turn('t1', [say('a1')])), commit(...turn('t2', [say('a2')])));

describe('summary.commit', () => {
  test('covers a prefix of the path, and says what it saw', () => {
    two()
      .when(summary('t2.q', 't2', 4).as('key'))
      .thenSees((seen) =>
        expect(seen.summary()).toMatchObject({ summaryId: 'sum_key.0', upTo: 't2.q', seen: 4, text: 'until t2.q' }),
      );
  });

  test('needs the transcript that it was made from, and the right one', () => {
    const bare: Change = { kind: 'summary.commit', upTo: 'a1', text: 'x' };
    two().when(commit(bare)).thenRefuses('expect_required', { field: 'transcript', change: 'commit.changes[0]' });
    two()
      .when(summary('a1', 't2', 3))
      .thenRefuses('conflict', { field: 'transcript.lastSequence', expected: 3, actual: 4 });
  });

  test('is only ever longer than the last one', () => {
    const story = two();
    story.write(summary('a1', 't2', 4));
    for (const upTo of ['a1', 't1.q']) {
      story.when(summary(upTo, 't2', 4)).thenRefuses('summary_not_longer', { upTo, covered: 'a1' });
    }
    story.when(summary('t2.q', 't2', 4)).thenWrites({ upTo: 't2.q' });
    story.when(summary('t2.q', 't2', 4)).thenRefuses('summary_not_longer', { upTo: 't2.q', covered: 't2.q' });
    story.when(summary('a2', 't2', 4)).thenWrites({ upTo: 'a2' });
  });

  test('length is by place, not by sequence: a late result stands before the next turn', () => {
    const story = given(
      commit(...turn('t1', [call('a1', ['x'])])),
      commit(...turn('t2')),
      commit(answer('late', ['x'])),
    );
    expect(story.seen().ids()).toEqual(['t1.q', 'a1', 'late', 't2.q']);
    story.write(summary('late', 't2', 4));
    story.when(summary('t2.q', 't2', 4)).thenWrites({ upTo: 't2.q' });
    story.when(summary('late', 't2', 4)).thenRefuses('summary_not_longer', { upTo: 'late', covered: 't2.q' });
  });

  test('it says the highest sequence that it saw, late results included', () => {
    const story = given(
      commit(...turn('t1', [call('a1', ['x'])])),
      commit(...turn('t2')),
      commit(answer('late', ['x'])),
    );
    story.when(summary('a1', 't2', 4)).thenSees((seen) => expect(seen.summary()).toMatchObject({ seen: 4 }));
  });

  test('what stands beside the path cannot be covered', () => {
    const story = two();
    story.write(commit(...turn('t3', [], { parent: { turnId: 't1' } })).expecting({ graphRevision: 4 }));
    story.when(summary('a2', 't3', 5)).thenRefuses('no_message', { messageId: 'a2' });
    story.when(summary('nothing', 't3', 5)).thenRefuses('no_message', { messageId: 'nothing' });
    story.when(summary('t3.q', 't3', 5)).thenWrites();
  });

  test('holds for its descendants and for nobody else', () => {
    const story = given(commit(...turn('t1', [say('a1')])));
    story.write(summary('t1.q', 't1', 2));
    story.write(commit(...turn('t2')));
    story.write(commit(...turn('t3', [], { parent: { messageId: 't1.q' } })).expecting({ graphRevision: 4 }));
    expect(story.seen().summary('t2')).toMatchObject({ upTo: 't1.q' });
    // Cut before a1, whose place came before the summary.
    expect(story.seen().summary('t3')).toBeUndefined();
    story.when(summary('t1.q', 't3', 4)).thenWrites();
  });

  test('a fork goes on from the summary that it inherits, and longer across the cut', () => {
    const story = two();
    story.write(summary('a1', 't2', 4));
    story.write(commit(...turn('t3')));
    story.write(commit(fork('c', 't3.q')).to('fork'));
    story.write(commit(...turn('f1')).to('fork'));
    expect(story.seen('fork').summary()).toMatchObject({ upTo: 'a1' });
    story.when(summary('t1.q', 'f1', 6).to('fork')).thenRefuses('summary_not_longer', { upTo: 't1.q', covered: 'a1' });
    story.when(summary('t2.q', 'f1', 6).to('fork')).thenWrites();
    story.when(summary('f1.q', 'f1', 6).to('fork')).thenWrites();
    story
      .when(summary('t3.q', 'f1', 6).to('fork'))
      .thenRefuses('summary_not_longer', { upTo: 't3.q', covered: 'f1.q' });
  });

  test('covers only what was on the path that it was made from', () => {
    two()
      .when(summary('t2.q', 't1', 2))
      .thenRefuses('conflict', { field: 'transcript.turn', expected: 't1', actual: 't2' });
  });

  test('may cover a redacted message', () => {
    const story = two();
    story.write(commit(redact('a1')));
    story.when(summary('a1', 't2', 4)).thenWrites();
  });

  test('one that a message overtakes is told so', () => {
    given(commit(submit('t1'), advance('t1', 'running'), say('a1')))
      .whenOvertaken(summary('a1', 't1', 2), commit(say('a2')))
      .thenRefuses('conflict', { field: 'transcript.lastSequence', expected: 2, actual: 3 });
    two()
      .whenOvertaken(summary('a1', 't2', 4), summary('t2.q', 't2', 4))
      .thenRefuses('summary_not_longer', { upTo: 'a1', covered: 't2.q' });
  });

  test('unrelated commits do not disturb it', () => {
    two()
      .whenOvertaken(summary('a1', 't2', 4), commit({ kind: 'conversation.update', title: 'x' }))
      .thenWrites();
  });
});
