import { describe, expect, test } from 'vitest';
import type { Change } from '../change.ts';
import {
  advance,
  answer,
  call,
  fork,
  record,
  redact,
  say,
  select,
  submit,
  task,
  text,
  turn,
} from '../changes.testkit.ts';
import type { Part } from '../message.ts';
import { commit, given } from '../story.testkit.ts';

describe('message.append', () => {
  test('stands at the active leaf where no turn is named, in the named turn otherwise', () => {
    const story = given(commit(...turn('t0')), commit(submit('t1')), commit(advance('t1', 'running')));
    story.when(commit(say('a1'))).thenWrites({ turnId: 't1', sequence: 3, messageId: 'a1' });
    story.when(commit(say('a2', 't1'))).thenWrites({ turnId: 't1', sequence: 4 });
    expect(story.seen().head).toMatchObject({ lastSequence: 4, messages: 4 });
    expect(story.seen().head.lastMessage).toMatchObject({ role: 'assistant', sequence: 4 });
  });

  test('mints an id from the commit id', () => {
    given()
      .when(commit({ kind: 'message.append', message: { role: 'user', parts: text('hi') } }).as('key'))
      .thenWrites({ messageId: 'msg_key.0', sequence: 1, turnId: null });
  });

  test('the same id with the same content is nothing new, whatever the order of keys', () => {
    const first = say('a1', undefined, { metadata: { a: 1, b: 2 } });
    const again = say('a1', undefined, { metadata: { b: 2, a: 1 } });
    given(commit(first))
      .when(commit(again))
      .thenSees((seen) => expect(seen.head).toMatchObject({ lastSequence: 1, messages: 1 }));
    given(commit(first)).when(commit(again)).thenWrites({ noop: true, sequence: 1 });
  });

  test('the same id with other content is a conflict', () => {
    const story = given(commit(say('a1')));
    story
      .when(commit(say('a1', undefined, { parts: text('other') })))
      .thenRefuses('message_conflict', { messageId: 'a1' });
    story
      .when(commit(say('a1', undefined, { status: 'incomplete' })))
      .thenRefuses('message_conflict', { messageId: 'a1' });
  });

  test('the same again is nothing new even where its turn has ended since', () => {
    given(commit(...turn('t1', [say('a1')])))
      .when(commit(say('a1')))
      .thenWrites({ noop: true });
  });

  test('an inherited id is known', () => {
    const story = given(commit(...turn('t1', [say('a1')])), commit(fork('c', 'a1')).to('fork'));
    story.when(commit(say('a1')).to('fork')).thenWrites({ noop: true, sequence: 2 });
    story
      .when(commit(say('a1', undefined, { parts: text('other') })).to('fork'))
      .thenRefuses('message_conflict', { messageId: 'a1' });
  });

  test('the id of a message that a fork does not inherit is free in the fork, and moves nothing', () => {
    const story = given(
      commit(...turn('t1', [say('a1')])),
      commit(fork('c', 't1.q')).to('fork'),
      commit(...turn('f1', [say('a1', undefined, { parts: text('other') })])).to('fork'),
    );
    expect(story.seen('c').messages().at(-1)?.parts).toEqual(text('a1'));
    expect(story.seen('fork').messages().at(-1)?.parts).toEqual(text('other'));
  });

  test('the root takes messages before the first turn only', () => {
    const story = given(commit(say('a1')), commit(say('a2', null)));
    expect(story.seen().ids()).toEqual(['a1', 'a2']);
    story.write(commit(...turn('t1')));
    expect(story.seen().ids()).toEqual(['a1', 'a2', 't1.q']);
    story.when(commit(say('a3', null))).thenRefuses('no_turn', { turnId: null });
    given(commit(submit('t1'), advance('t1', 'failed')))
      .when(commit(say('a1')))
      .thenRefuses('no_turn', { turnId: null });
  });

  test('a fork that inherits turns takes messages in a turn of its own only', () => {
    const story = given(commit(...turn('t1')), commit(fork('c', 't1.q')).to('fork'));
    story.when(commit(say('a1', null)).to('fork')).thenRefuses('no_turn', { turnId: null });
    story.when(commit(say('a1', 't1')).to('fork')).thenRefuses('no_turn', { turnId: 't1' });
    story.when(commit(say('a1')).to('fork')).thenRefuses('no_turn', { turnId: 't1' });
    given(commit(say('a1')), commit(say('a2')), commit(fork('c', 'a1')).to('fork'))
      .when(commit(say('b1')).to('fork'))
      .thenSees((seen) => expect(seen.ids()).toEqual(['a1', 'b1']));
  });

  test('an unknown or an ended turn takes none', () => {
    const story = given(commit(...turn('t1')));
    story.when(commit(say('a1', 'nobody'))).thenRefuses('no_turn', { turnId: 'nobody' });
    for (const turnId of ['t1', undefined]) {
      story.when(commit(say('a1', turnId))).thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
    }
  });

  test('belongs to a task of its path only', () => {
    const story = given(commit(...turn('t1', [task('k1')])), commit(submit('t2'), advance('t2', 'running')));
    story.when(commit(say('a1', 't2', { taskId: 'k1' }))).thenWrites({ sequence: 3 });
    story.when(commit(say('a2', 't2', { taskId: 'k2' }))).thenRefuses('no_task', { taskId: 'k2' });
    story.write(commit(advance('t2', 'completed')));
    story.write(
      commit(submit('t3', { parent: null }), advance('t3', 'running')).expecting({
        graphRevision: story.seen().head.graphRevision,
      }),
    );
    story.when(commit(say('a3', 't3', { taskId: 'k1' }))).thenRefuses('no_task', { taskId: 'k1' });
  });

  test('an ended turn that fell behind is told from the one that an append meant', () => {
    given(commit(...turn('t1')), commit(submit('t2'), advance('t2', 'running')))
      .whenOvertaken(commit(say('a1')), commit(advance('t2', 'completed')))
      .thenRefuses('turn_terminal', { turnId: 't2', state: 'completed' });
  });

  test('two appends get two sequences, in the order of their commits', () => {
    given(commit(say('a1')))
      .whenOvertaken(commit(say('a2')), commit(say('a3')))
      .thenSees((seen) =>
        expect(seen.messages().map(({ messageId, sequence }) => [messageId, sequence])).toEqual([
          ['a1', 1],
          ['a3', 2],
          ['a2', 3],
        ]),
      );
  });
});

describe('tool calls and results', () => {
  const asked = () => given(commit(submit('t1'), advance('t1', 'running'), call('a1', ['x', 'y'])));

  test('a result stands in the turn of its call', () => {
    asked()
      .when(commit(answer('r1', ['x'])))
      .thenWrites({ turnId: 't1', sequence: 3 });
    asked()
      .when(commit(answer('r1', ['x', 'y'], 't1')))
      .thenWrites({ turnId: 't1' });
  });

  test('a call id occurs once per turn, and may come again in the next', () => {
    const story = asked();
    story.when(commit(call('a2', ['x']))).thenRefuses('call_exists', { callId: 'x', turnId: 't1' });
    story.write(commit(answer('r1', ['x', 'y']), advance('t1', 'completed')));
    story.write(commit(submit('t2'), advance('t2', 'running'), call('a2', ['x'])));
    story.when(commit(answer('r2', ['x']))).thenWrites({ turnId: 't2' });
  });

  test('a call is answered once', () => {
    const story = asked();
    story.write(commit(answer('r1', ['x'])));
    story.when(commit(answer('r2', ['x']))).thenRefuses('already_answered', { callId: 'x' });
    story.when(commit(answer('r2', ['y']))).thenWrites({ turnId: 't1' });
  });

  test('a result without a call is refused', () => {
    asked()
      .when(commit(answer('r1', ['z'])))
      .thenRefuses('no_call', { callId: 'z' });
  });

  test('a result that comes late stands in its turn all the same, and says that it is late', () => {
    const story = asked();
    story.write(commit(advance('t1', 'completed')));
    story.write(commit(...turn('t2')));
    story.when(commit(answer('r1', ['x']))).thenWrites({ turnId: 't1', sequence: 4, late: true });
    expect(story.seen().ids()).toEqual(['t1.q', 'a1', 'r1', 't2.q']);
    story.when(commit(answer('r2', ['x']))).thenRefuses('already_answered', { callId: 'x' });
    story.when(commit(say('a2', 't1'))).thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
  });

  test('answers of one message belong to one turn, and to the named one', () => {
    const story = asked();
    story.write(commit(advance('t1', 'completed')));
    story.write(commit(submit('t2'), advance('t2', 'running'), call('a2', ['z'])));
    story.when(commit(answer('r1', ['x', 'z']))).thenRefuses('invalid_value', {
      path: 'commit.changes[0].message.parts',
      reason: 'it answers calls of several turns',
    });
    story.when(commit(answer('r1', ['z'], 't1'))).thenRefuses('invalid_value', {
      path: 'commit.changes[0].turnId',
      reason: 'it answers a call of another turn',
    });
  });

  test('of two calls with one id the nearest on the path is meant', () => {
    const story = given(
      commit(submit('t1'), advance('t1', 'running'), call('a1', ['x']), advance('t1', 'completed')),
      commit(submit('t2'), advance('t2', 'running'), call('a2', ['x']), advance('t2', 'completed')),
    );
    story.when(commit(select('t1')).expecting({ graphRevision: 4 })).thenWrites();
    story.when(commit(answer('r1', ['x']))).thenWrites({ turnId: 't1', late: true });
    story.when(commit(select('t2')).expecting({ graphRevision: 5 })).thenWrites();
    story.when(commit(answer('r2', ['x']))).thenWrites({ turnId: 't2', late: true });
  });

  test('a call off the path is answered where it stands', () => {
    const story = given(
      commit(...turn('t0')),
      commit(submit('t1'), advance('t1', 'running'), call('a1', ['x']), advance('t1', 'completed')),
      commit(...turn('t2', [], { parent: { turnId: 't0' } })).expecting({ graphRevision: 4 }),
    );
    story.when(commit(answer('r1', ['x']))).thenWrites({ turnId: 't1', late: true });
    expect(story.seen().ids()).toEqual(['t0.q', 't2.q']);
    expect(story.seen().ids('t1')).toEqual(['t0.q', 't1.q', 'a1', 'r1']);
  });

  test('where the path was cut inside the turn of the call, its result belongs to the open turn at the leaf', () => {
    const story = given(
      commit(...turn('t1', [call('a1', ['x']), say('a2')])),
      commit(submit('t2', { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }),
    );
    // The leaf is still t1: its own turn takes the result.
    story.write(commit(advance('t2', 'running')));
    story.when(commit(answer('r1', ['x']))).thenWrites({ turnId: 't2' });
    expect(story.seen().ids()).toEqual(['t1.q', 'a1', 't2.q', 'r1']);
    expect(story.seen().ids('t1')).toEqual(['t1.q', 'a1', 'a2']);
    story.when(commit(answer('r2', ['x']))).thenRefuses('already_answered', { callId: 'x' });
    story.write(commit(advance('t2', 'completed')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story.when(commit(answer('r2', ['x']))).thenWrites({ turnId: 't1', late: true });
  });

  test('where that leaf has ended, a cut-off call takes no result', () => {
    const story = given(
      commit(...turn('t1', [call('a1', ['x']), say('a2')])),
      commit(...turn('t2', [], { parent: { messageId: 'a1' } })).expecting({ graphRevision: 2 }),
    );
    story.when(commit(answer('r1', ['x']))).thenRefuses('no_turn', { turnId: 't2' });
  });

  test('a result before the cut is inherited by the rewind, and the call is answered there', () => {
    const story = given(
      commit(...turn('t1', [call('a1', ['x']), answer('r1', ['x']), say('a2')])),
      commit(submit('t2', { parent: { messageId: 'r1' } }), advance('t2', 'running')).expecting({ graphRevision: 2 }),
    );
    story.when(commit(answer('r2', ['x']))).thenRefuses('already_answered', { callId: 'x' });
  });

  test('an inherited call is answered in an open turn of the fork, and both sides may answer', () => {
    const story = given(commit(...turn('t1', [call('a1', ['x'])])), commit(fork('c', 'a1')).to('fork'));
    story.when(commit(answer('r1', ['x'])).to('fork')).thenRefuses('no_turn', { turnId: 't1' });
    story.write(commit(submit('f1'), advance('f1', 'running')).to('fork'));
    story.when(commit(answer('r1', ['x'])).to('fork')).thenWrites({ turnId: 'f1' });
    story.when(commit(answer('r2', ['x'])).to('fork')).thenRefuses('already_answered', { callId: 'x' });
    story.when(commit(answer('r1', ['x']))).thenWrites({ turnId: 't1', late: true });
    expect(story.seen('fork').ids()).toEqual(['t1.q', 'a1', 'f1.q', 'r1']);
    expect(story.seen('c').ids()).toEqual(['t1.q', 'a1', 'r1']);
  });

  test('a call and its result in one message pair inside it', () => {
    const parts = [
      { type: 'tool_call' as const, callId: 'p', name: 'search', executedBy: 'provider' as const },
      { type: 'tool_result' as const, callId: 'p', status: 'ok' as const, output: 'found' },
    ];
    const story = given(commit(submit('t1'), advance('t1', 'running')));
    story.when(commit(say('a1', 't1', { parts }))).thenWrites({ turnId: 't1' });
    story.when(commit(call('a2', ['p']))).thenRefuses('call_exists', { callId: 'p', turnId: 't1' });
    story.when(commit(answer('r1', ['p']))).thenRefuses('already_answered', { callId: 'p' });
    story.when(commit(answer('r1', ['p', 'q']))).thenRefuses('already_answered', { callId: 'p' });
  });

  test('a call that stands with its result in an inherited turn, or in one that was cut inside, takes no other', () => {
    const parts = [
      { type: 'tool_call' as const, callId: 'p', name: 'search', executedBy: 'provider' as const },
      { type: 'tool_result' as const, callId: 'p', status: 'ok' as const, output: 'found' },
    ];
    const story = given(
      commit(...turn('t1', [say('a1', undefined, { parts }), say('a2')])),
      commit(fork('c', 'a1')).to('fork'),
      commit(submit('f1'), advance('f1', 'running')).to('fork'),
      commit(submit('t2', { parent: { messageId: 'a1' } }), advance('t2', 'running')).expecting({ graphRevision: 2 }),
    );
    story.when(commit(answer('r1', ['p'])).to('fork')).thenRefuses('already_answered', { callId: 'p' });
    story.when(commit(answer('r1', ['p']))).thenRefuses('already_answered', { callId: 'p' });
  });

  test('a result that another one overtakes is told so', () => {
    asked()
      .whenOvertaken(commit(answer('r1', ['x'])), commit(answer('r2', ['x'])))
      .thenRefuses('already_answered', { callId: 'x' });
  });

  test('a result that the end of its turn overtakes is late', () => {
    asked()
      .whenOvertaken(commit(answer('r1', ['x'])), commit(advance('t1', 'failed')))
      .thenWrites({ turnId: 't1', late: true });
  });
});

describe('message.redact', () => {
  test('takes the words, and keeps the place, the reason and the digest', () => {
    const story = given(commit(...turn('t1', [say('a1')])));
    const before = story.rows.log('c', 1)?.records;
    story.write(commit(redact('a1')));
    expect(story.seen().messages()[1]).toMatchObject({
      messageId: 'a1',
      role: 'assistant',
      parts: [],
      sequence: 2,
      redaction: { reason: 'asked' },
    });
    const after = story.rows.log('c', 1)?.records;
    expect(after?.[1]).toMatchObject({ digest: before?.[1]?.digest, nonce: null, body: null });
    expect(after?.[0]).toEqual(before?.[0]);
  });

  test('shows a replacement in its place', () => {
    given(commit(...turn('t1', [say('a1')])))
      .when(commit(redact('a1', 'nothing to see')))
      .thenSees((seen) => expect(seen.messages()[1]?.parts).toEqual(text('nothing to see')));
  });

  test('a second time it is nothing new', () => {
    given(commit(...turn('t1', [say('a1')])), commit(redact('a1')))
      .when(commit(redact('a1')))
      .thenWrites({ noop: true });
  });

  test('what stands in the place of words goes when it is redacted in its turn', () => {
    const story = given(commit(...turn('t1', [say('a1')])), commit(redact('a1', 'instead')));
    expect(JSON.stringify(story.rows.log('c', 2))).toContain('instead');
    story.write(commit(redact('a1')));
    expect(JSON.stringify(story.rows.log('c', 2))).not.toContain('instead');
    story.when(commit(redact('a1'))).thenWrites({ noop: true });
  });

  test('a late result brings no new calls into a turn that has ended', () => {
    const late = {
      role: 'tool' as const,
      parts: [
        { type: 'tool_result' as const, callId: 'x', status: 'ok' as const, output: 1 },
        { type: 'tool_call' as const, callId: 'y', name: 'again' },
      ],
    };
    given(commit(...turn('t1', [call('c1', ['x'])])))
      .when(commit({ kind: 'message.append', message: late }))
      .thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
  });

  test('nor does one into the root once there is a turn', () => {
    const parts: readonly Part[] = [
      { type: 'tool_result', callId: 'x', status: 'ok', output: 1 },
      { type: 'tool_call', callId: 'y', name: 'look', input: {} },
    ];
    const both: Change = { kind: 'message.append', message: { messageId: 'r1', role: 'assistant', parts } };
    const story = given(commit(call('a1', ['x'])), commit(...turn('t1')));
    story.when(commit(both)).thenRefuses('no_turn', { turnId: null });
    story.when(commit(answer('r1', ['x']))).thenWrites({ turnId: null, late: true });
  });

  test('what is not there cannot be redacted', () => {
    given(commit(say('a1')))
      .when(commit(redact('nothing')))
      .thenRefuses('no_message', { messageId: 'nothing' });
  });

  test('a redacted id is never appended again, and its words not shared again', () => {
    const story = given(commit(...turn('t1', [say('a1')])), commit(redact('a1')), commit(redact('t1.q')));
    story.when(commit(say('a1'))).thenRefuses('redacted', { messageId: 'a1' });
    story.when(commit(submit('t2', { samePromptAs: 't1' }))).thenRefuses('redacted', { messageId: 't1.q' });
  });

  test('works on a message of the same commit', () => {
    given()
      .when(commit(record('t1'), say('a1'), redact('a1')))
      .thenSees((seen) => expect(seen.messages()[0]).toMatchObject({ parts: [], redaction: { reason: 'asked' } }));
  });

  test('reaches every conversation that shares the words: source, fork and the turns of one prompt', () => {
    const story = given(
      commit(...turn('t1', [say('a1')])),
      commit(fork('c', 'a1')).to('fork'),
      commit(submit('f1', { samePromptAs: 't1' }), advance('f1', 'completed')).to('fork'),
    );
    story.write(commit(redact('a1')).to('fork'));
    expect(story.seen('c').messages()[1]).toMatchObject({ parts: [], redaction: { reason: 'asked' } });
    story.write(commit(redact('t1.q')).to('c'));
    for (const message of [story.seen('fork').messages()[0], story.seen('fork').messages().at(-1)]) {
      expect(message).toMatchObject({ role: 'user', parts: [], redaction: { reason: 'asked' } });
    }
  });

  test('from a fork takes words away, and puts none in their place', () => {
    const story = given(commit(...turn('t1', [say('a1')])), commit(fork('c', 'a1')).to('fork'));
    story.when(commit(redact('a1', 'mine')).to('fork')).thenRefuses('invalid_value', {
      path: 'commit.changes[0].replacement',
      reason: 'only the conversation that said the words puts others in their place',
    });
    story.write(commit(redact('a1')).to('fork'));
    expect(story.seen('c').messages()[1]).toMatchObject({ parts: [], redaction: { reason: 'asked' } });
  });

  test('an append that a redaction overtakes stays out', () => {
    given(commit(...turn('t1', [say('a1')])))
      .whenOvertaken(commit(say('a1')), commit(redact('a1')))
      .thenRefuses('redacted', { messageId: 'a1' });
  });
});
