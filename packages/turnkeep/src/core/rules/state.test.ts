import { describe, expect, test } from 'vitest';
import { advance, aim, select, submit, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';

const EMPTY = { objective: null, stage: null, nextStep: null, blockers: [], plan: [], stateVersion: 0 };

describe('state.update', () => {
  test('absent keeps, null clears, a value replaces', () => {
    const full = { objective: 'o', stage: 's', nextStep: 'n', blockers: ['b'], plan: [{ step: 1 }] };
    const story = given(commit({ kind: 'state.update', ...full }));
    expect(story.seen().state()).toEqual({ ...full, stateVersion: 1 });
    story.write(commit({ kind: 'state.update', stage: 's2', blockers: null }));
    expect(story.seen().state()).toEqual({ ...full, stage: 's2', blockers: [], stateVersion: 2 });
    story.write(commit({ kind: 'state.update', objective: null, stage: null, nextStep: null, plan: null }));
    expect(story.seen().state()).toEqual({ ...EMPTY, stateVersion: 3 });
  });

  test('an empty list is a value, and an empty update counts', () => {
    const story = given(
      commit({ kind: 'state.update', blockers: ['b'] }),
      commit({ kind: 'state.update', blockers: [] }),
    );
    expect(story.seen().state()).toEqual({ ...EMPTY, stateVersion: 2 });
    story.when(commit({ kind: 'state.update' })).thenWrites({ stateVersion: 3 });
  });

  test('a state that nobody wrote can be read', () => {
    expect(
      given(commit(...turn('t1')))
        .seen()
        .state(),
    ).toEqual(EMPTY);
  });

  test('two updates keep both', () => {
    given(commit(aim('o')))
      .whenOvertaken(commit({ kind: 'state.update', stage: 's' }), commit({ kind: 'state.update', nextStep: 'n' }))
      .thenSees((seen) =>
        expect(seen.state()).toMatchObject({ objective: 'o', stage: 's', nextStep: 'n', stateVersion: 3 }),
      );
  });

  test('each path has its own', () => {
    const story = given(commit(...turn('t0', [aim('both')])), commit(...turn('t1', [aim('one')])));
    story.write(
      commit(submit('t2', { parent: { turnId: 't0' } }), advance('t2', 'running'), aim('two', 't2')).expecting({
        graphRevision: 4,
      }),
    );
    const seen = story.seen();
    expect(['t0', 't1', 't2'].map((leaf) => seen.state(leaf).objective)).toEqual(['both', 'one', 'two']);
    expect(['t0', 't1', 't2'].map((leaf) => seen.state(leaf).stateVersion)).toEqual([1, 2, 2]);
  });
});

describe('who makes entries', () => {
  test('the active leaf, though it has ended', () => {
    given(commit(...turn('t1')))
      .when(commit(aim('late')))
      .thenSees((seen) => expect(seen.state('t1').objective).toBe('late'));
    given(commit(...turn('t1')))
      .when(commit(aim('late', 't1')))
      .thenWrites();
  });

  test('a turn that has started and not ended, though it is not the leaf', () => {
    const story = given(commit(...turn('t1')), commit(submit('t2'), advance('t2', 'running')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story.when(commit(aim('two', 't2'))).thenSees((seen) => {
      expect(seen.state().objective).toBeNull();
      expect(seen.state('t2').objective).toBe('two');
    });
    story.write(commit(advance('t2', 'waiting')));
    story.when(commit(aim('still', 't2'))).thenWrites();
  });

  test('no turn that prepares, dispatches or has ended', () => {
    const story = given(commit(...turn('t1')), commit(submit('t2')));
    story.when(commit(aim('x', 't2'))).thenRefuses('turn_not_running', { turnId: 't2', state: 'preparing' });
    story.write(commit(advance('t2', 'dispatching')));
    story.when(commit(aim('x', 't2'))).thenRefuses('turn_not_running', { turnId: 't2', state: 'dispatching' });
    story.write(commit(advance('t2', 'completed')));
    story.when(commit(aim('x', 't1'))).thenRefuses('turn_not_running', { turnId: 't1', state: 'completed' });
    story.when(commit(aim('x', 'nobody'))).thenRefuses('no_turn', { turnId: 'nobody' });
  });

  test('no leaf that was selected before it has started', () => {
    const story = given(commit(...turn('t1', [aim('one')])), commit(submit('t2')));
    story.write(commit(select('t2')).expecting({ graphRevision: 3 }));
    for (const turnId of [undefined, 't2']) {
      story.when(commit(aim('x', turnId))).thenRefuses('turn_not_running', { turnId: 't2', state: 'preparing' });
    }
    expect(story.seen().state('t2').objective).toBe('one');
  });

  test('the conversation itself, before its first turn', () => {
    const story = given(commit(aim('first')));
    expect(story.seen().state()).toMatchObject({ objective: 'first' });
    story.write(commit(...turn('t1')));
    expect(story.seen().state()).toMatchObject({ objective: 'first' });
  });

  test('a turn that another one overtakes to its end makes none', () => {
    const story = given(commit(...turn('t1')), commit(submit('t2'), advance('t2', 'running')));
    story.write(commit(select('t1')).expecting({ graphRevision: 4 }));
    story
      .whenOvertaken(commit(aim('x', 't2')), commit(advance('t2', 'failed')))
      .thenRefuses('turn_not_running', { turnId: 't2', state: 'failed' });
  });
});
