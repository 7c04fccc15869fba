import { describe, expect, test } from 'vitest';
import { advance, answer, call, fork, say, submit, turn } from '../changes.testkit.ts';
import type { Change } from '../change.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';

function start(turnId: string, attempt?: string): Change {
  return { kind: 'attempt.start', turnId, attempt };
}

function takeover(turnId: string, attempt: string, fromToken: number): Change {
  return { kind: 'attempt.takeover', turnId, attempt, fromToken };
}

/** Turn t1 runs under attempt one, token 1. */
function held(): Story {
  return given(commit(submit('t1'), start('t1', 'one')), commit(advance('t1', 'running')).under('one', 1));
}

describe('attempt.start', () => {
  test('gives token 1 to the first attempt, and mints its id', () => {
    given(commit(submit('t1')))
      .when(commit(start('t1')).as('key'))
      .thenWrites({ attempt: 'att_key.0', turnId: 't1', token: 1 });
  });

  test('a turn has one attempt at a time, and an attempt one turn', () => {
    held()
      .when(commit(start('t1', 'two')))
      .thenRefuses('attempt_exists', { turnId: 't1', attempt: 'one' });
    const story = given(commit(submit('t1'), start('t1', 'one'), advance('t1', 'cancelled')), commit(submit('t2')));
    story.when(commit(start('t2', 'one'))).thenRefuses('attempt_exists', { turnId: 't2', attempt: 'one' });
  });

  test('needs a turn of its own that has not ended', () => {
    const story = given(commit(...turn('t1')), commit(fork('c', 't1.q')).to('fork'));
    story.when(commit(start('nobody', 'one'))).thenRefuses('no_turn', { turnId: 'nobody' });
    story.when(commit(start('t1', 'one')).to('fork')).thenRefuses('no_turn', { turnId: 't1' });
    story.when(commit(start('t1', 'one'))).thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
  });
});

describe('attempt.takeover', () => {
  test('swaps the token that was seen for the next one', () => {
    const story = held();
    story.when(commit(takeover('t1', 'two', 1))).thenWrites({ attempt: 'two', turnId: 't1', token: 2 });
    story.when(commit(takeover('t1', 'three', 2))).thenWrites({ token: 3 });
  });

  test('of two that saw one token one wins', () => {
    held()
      .whenOvertaken(commit(takeover('t1', 'two', 1)), commit(takeover('t1', 'three', 1)))
      .thenRefuses('fenced', { turnId: 't1', attempt: 'two', token: 1, currentToken: 2 });
  });

  test('there must be somebody to take over from, and a turn to take over', () => {
    given(commit(submit('t1')))
      .when(commit(takeover('t1', 'two', 0)))
      .thenRefuses('fenced', { turnId: 't1', attempt: 'two', token: 0, currentToken: 0 });
    held()
      .when(commit(takeover('t1', 'one', 1)))
      .thenRefuses('attempt_exists', { turnId: 't1', attempt: 'one' });
    held()
      .when(commit(takeover('nobody', 'two', 1)))
      .thenRefuses('no_turn', { turnId: 'nobody' });
    const story = held();
    story.write(commit(advance('t1', 'cancelled')));
    story.when(commit(takeover('t1', 'two', 1))).thenRefuses('turn_terminal', { turnId: 't1', state: 'cancelled' });
  });
});

describe('a fence', () => {
  test('lets the holder write', () => {
    held()
      .when(commit(say('a1', 't1')).under('one', 1))
      .thenWrites({ turnId: 't1' });
    held()
      .when(commit(advance('t1', 'completed')).under('one', 1))
      .thenWrites({ to: 'completed' });
  });

  test('is asked of output and of moves', () => {
    held()
      .when(commit(say('a1', 't1')))
      .thenRefuses('fence_required', { turnId: 't1', change: 'commit.changes[0]' });
    held()
      .when(commit(advance('t1', 'completed')))
      .thenRefuses('fence_required', { turnId: 't1', change: 'commit.changes[0]' });
    const story = held();
    story.write(commit(call('a1', ['x'], 't1')).under('one', 1));
    story
      .when(commit(answer('r1', ['x'])))
      .thenRefuses('fence_required', { turnId: 't1', change: 'commit.changes[0]' });
  });

  test('is not asked of a stop, of an input, of a note, of a late result', () => {
    held()
      .when(commit(advance('t1', 'cancelled')))
      .thenWrites({ to: 'cancelled' });
    held()
      .when(commit(say('u1', 't1', { role: 'user' })))
      .thenWrites({ turnId: 't1' });
    held()
      .when(commit({ kind: 'state.update', stage: 'two' }))
      .thenWrites({ stateVersion: 1 });
    const story = held();
    story.write(commit(call('a1', ['x'], 't1'), advance('t1', 'completed')).under('one', 1));
    story.when(commit(answer('r1', ['x']))).thenWrites({ late: true });
  });

  test('I7: a stale token writes nothing, whatever the commit wants', () => {
    const story = held();
    story.write(commit(takeover('t1', 'two', 1)));
    const details = { turnId: 't1', attempt: 'one', token: 1, currentToken: 2 };
    const title: Change = { kind: 'conversation.update', title: 'x' };
    for (const change of [say('a1', 't1'), advance('t1', 'completed'), title]) {
      story.when(commit(change).under('one', 1)).thenRefuses('fenced', details);
    }
    story.when(commit(say('a1', 't1')).under('two', 2)).thenWrites({ turnId: 't1' });
  });

  test('a token that was never given is stale, and so is a stranger', () => {
    held()
      .when(commit(say('a1', 't1')).under('one', 2))
      .thenRefuses('fenced', { turnId: 't1', attempt: 'one', token: 2, currentToken: 1 });
    held()
      .when(commit(say('a1', 't1')).under('nobody', 1))
      .thenRefuses('no_attempt', { attempt: 'nobody' });
  });

  test('of one turn is not the fence of another', () => {
    const story = held();
    story.write(commit(advance('t1', 'waiting')).under('one', 1));
    story.write(commit(submit('t2', { parent: null }), start('t2', 'two')).expecting({ graphRevision: 2 }));
    story
      .when(commit(say('a1', 't2')).under('one', 1))
      .thenRefuses('fence_required', { turnId: 't2', change: 'commit.changes[0]' });
  });

  test('a paused owner that wakes up is fenced by the takeover', () => {
    held()
      .whenOvertaken(commit(say('a1', 't1')).under('one', 1), commit(takeover('t1', 'two', 1)))
      .thenRefuses('fenced', { turnId: 't1', attempt: 'one', token: 1, currentToken: 2 });
  });

  test('holds whatever else was committed meanwhile', () => {
    held()
      .whenOvertaken(commit(say('a1', 't1')).under('one', 1), commit({ kind: 'conversation.update', title: 'x' }))
      .thenWrites({ turnId: 't1' });
    expect(held().seen().head.busy).toEqual(['t1']);
  });
});
