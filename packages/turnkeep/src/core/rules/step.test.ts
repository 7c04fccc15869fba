import { describe, expect, test } from 'vitest';
import { advance, call, fork, redact, say, submit, turn } from '../changes.testkit.ts';
import type { Change, StepOutcome, StepStart } from '../change.ts';
import { readStep, readSteps } from '../read/agent.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';

function start(key: string, more: Partial<StepStart> = {}): Change {
  return { kind: 'step.start', turnId: 't1', key, ...more };
}

function finish(key: string, outcome: StepOutcome = { status: 'succeeded', result: key }): Change {
  return { kind: 'step.finish', turnId: 't1', key, outcome };
}

function settle(key: string, outcome: StepOutcome | { readonly status: 'retry' }): Change {
  return { kind: 'step.settle', turnId: 't1', key, outcome };
}

const failed: StepOutcome = { status: 'failed', code: 'timeout', message: 'too slow' };
const retry = { status: 'retry' } as const;
const takeover: Change = { kind: 'attempt.takeover', turnId: 't1', attempt: 'two', fromToken: 1 };

/** Turn t1 runs under attempt one, token 1. */
function held(): Story {
  return given(commit(submit('t1'), advance('t1', 'running'), { kind: 'attempt.start', turnId: 't1', attempt: 'one' }));
}

/** The same after attempt two took over from a start of `pay`. */
function takenOver(more: Partial<StepStart> = {}): Story {
  const story = held();
  story.write(commit(start('pay', more)).under('one', 1));
  story.write(commit(takeover));
  return story;
}

function stepOf(story: Story, key: string) {
  const { tree, bodies } = story.seen();
  return readStep(tree, bodies, 't1', key);
}

describe('step.start', () => {
  test('is said before anything is done, and counts the starts', () => {
    const story = held()
      .when(commit(start('pay', { name: 'pay', input: 5 })).under('one', 1))
      .thenWrites({ turnId: 't1', key: 'pay', starts: 1 });
    expect(stepOf(story, 'pay')).toMatchObject({
      status: 'started',
      repeat: 'never',
      token: 1,
      name: 'pay',
      input: 5,
      endedAt: null,
    });
  });

  test('takes the id of its call as its key', () => {
    const story = held();
    story.write(commit(call('a1', ['x'], 't1')).under('one', 1));
    story
      .when(commit({ kind: 'step.start', turnId: 't1', callId: 'x' }).under('one', 1))
      .thenWrites({ key: 'x', callId: 'x' });
    story.when(commit(start('pay', { callId: 'y' })).under('one', 1)).thenRefuses('no_call', { callId: 'y' });
  });

  test('needs a turn of its own that has started and not ended, and its fence', () => {
    const story = given(commit(...turn('t1')), commit(fork('c', 't1.q')).to('fork'));
    story.when(commit(start('pay'))).thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
    story.when(commit(start('pay')).to('fork')).thenRefuses('no_turn', { turnId: 't1' });
    given(commit(submit('t1')))
      .when(commit(start('pay')))
      .thenRefuses('turn_not_running', { turnId: 't1', state: 'preparing' });
    held()
      .when(commit(start('pay')))
      .thenRefuses('fence_required', { turnId: 't1', change: 'commit.changes[0]' });
  });

  test('I7: is refused of a step that has its result, whichever attempt asks and however safe it is', () => {
    const story = held();
    story.write(commit(start('pay', { repeat: 'safe' }), finish('pay')).under('one', 1));
    const details = { turnId: 't1', key: 'pay', status: 'succeeded' };
    story.when(commit(start('pay', { repeat: 'safe' })).under('one', 1)).thenRefuses('step_ended', details);
    story.write(commit(takeover));
    story.when(commit(start('pay', { repeat: 'safe' })).under('two', 2)).thenRefuses('step_ended', details);
    expect(stepOf(story, 'pay')).toMatchObject({ status: 'succeeded', result: 'pay', starts: 1 });
  });

  test('is refused where nobody knows whether the step was done, unless it was declared safe', () => {
    for (const repeat of ['never', 'reconcile'] as const) {
      takenOver({ repeat })
        .when(commit(start('pay', { repeat: 'safe' })).under('two', 2))
        .thenRefuses('ambiguous', { turnId: 't1', keys: ['pay'] });
    }
    takenOver({ repeat: 'safe' })
      .when(commit(start('pay', { repeat: 'safe' })).under('two', 2))
      .thenWrites({ starts: 2 });
  });

  test('after a failure needs a step that is safe to repeat', () => {
    const unsafe = held();
    unsafe.write(commit(start('pay'), finish('pay', failed)).under('one', 1));
    unsafe
      .when(commit(start('pay')).under('one', 1))
      .thenRefuses('step_ended', { turnId: 't1', key: 'pay', status: 'failed' });
    const safe = held();
    safe.write(commit(start('pay', { repeat: 'safe' }), finish('pay', failed)).under('one', 1));
    expect(stepOf(safe, 'pay')?.failure).toEqual({ code: 'timeout', message: 'too slow' });
    safe.when(commit(start('pay', { repeat: 'safe' })).under('one', 1)).thenWrites({ starts: 2 });
  });

  test('again says the same name and input, and is the same commit when it is sent again', () => {
    const story = takenOver({ input: 5 });
    story.write(commit(settle('pay', retry)).under('two', 2));
    story
      .when(commit(start('pay', { input: 6 })).under('two', 2))
      .thenRefuses('step_conflict', { turnId: 't1', key: 'pay' });
    story.write(
      commit(start('pay', { input: 5 }))
        .under('two', 2)
        .as('again'),
    );
    story.when(commit(start('pay', { input: 5 })).as('again')).thenReplays(5);
    story.when(commit(start('pay', { input: 6 })).as('again')).thenRefuses('commit_id_reused', { commitId: 'again' });
  });
});

describe('step.finish', () => {
  test('is the word of the attempt that did it', () => {
    takenOver()
      .when(commit(finish('pay')).under('two', 2))
      .thenRefuses('ambiguous', { turnId: 't1', keys: ['pay'] });
    held()
      .when(commit(finish('pay')).under('one', 1))
      .thenRefuses('no_step', { turnId: 't1', key: 'pay' });
  });

  test('may name the message that is the result, one of the same turn', () => {
    const story = held();
    story.write(commit(start('ask')).under('one', 1));
    const outcome = (messageId: string): StepOutcome => ({ status: 'succeeded', messageId });
    story.when(commit(finish('ask', outcome('a9'))).under('one', 1)).thenRefuses('no_message', { messageId: 'a9' });
    story
      .when(commit(say('a1', 't1'), finish('ask', outcome('a1'))).under('one', 1))
      .thenWrites({ status: 'succeeded' });
    expect(stepOf(story, 'ask')).toMatchObject({ messageId: 'a1' });
  });

  test('is refused in a turn that has ended', () => {
    const story = held();
    story.write(commit(start('pay')).under('one', 1));
    story.write(commit(advance('t1', 'cancelled')));
    story
      .when(commit(finish('pay')).under('one', 1))
      .thenRefuses('turn_terminal', { turnId: 't1', state: 'cancelled' });
  });
});

describe('step.settle', () => {
  test('says how a step ended that an earlier attempt began', () => {
    const story = takenOver();
    story.write(commit(settle('pay', { status: 'succeeded', result: 7 })).under('two', 2));
    expect(stepOf(story, 'pay')).toMatchObject({ status: 'succeeded', result: 7, starts: 1 });
    story
      .when(commit(settle('pay', retry)).under('two', 2))
      .thenRefuses('step_ended', { turnId: 't1', key: 'pay', status: 'succeeded' });
  });

  test('lets a step be started again, once', () => {
    const story = takenOver();
    story.write(commit(settle('pay', retry)).under('two', 2));
    story
      .when(commit(finish('pay')).under('two', 2))
      .thenRefuses('step_ended', { turnId: 't1', key: 'pay', status: 'retry' });
    story.write(commit(start('pay')).under('two', 2));
    story.when(commit(start('pay')).under('two', 2)).thenRefuses('ambiguous', { turnId: 't1', keys: ['pay'] });
    story.when(commit(finish('pay')).under('two', 2)).thenWrites({ status: 'succeeded' });
  });
});

test('steps stand in the order in which they were first started', () => {
  const story = held();
  story.write(commit(start('z'), start('a'), start('m')).under('one', 1));
  story.write(commit(settle('z', retry)).under('one', 1));
  story.write(commit(start('z')).under('one', 1));
  const { tree, bodies } = story.seen();
  expect(readSteps(tree, bodies, 't1').map(({ key }) => key)).toEqual(['z', 'a', 'm']);
});

test('the words of a step go with those of its tool call, wherever that is redacted from', () => {
  const story = held();
  story.write(commit(call('a1', ['x'], 't1')).under('one', 1));
  story.write(commit(start('x', { input: 'secret' }), finish('x'), start('other', { input: 'kept' })).under('one', 1));
  story.write(commit(advance('t1', 'completed')).under('one', 1));
  story.write(commit(fork('c', 'a1')).to('fork'));
  story.write(commit(redact('a1')).to('fork'));
  expect(stepOf(story, 'x')).toMatchObject({ status: 'succeeded', redacted: true });
  expect(stepOf(story, 'x')).not.toHaveProperty('input');
  expect(stepOf(story, 'other')).toMatchObject({ input: 'kept' });
});
