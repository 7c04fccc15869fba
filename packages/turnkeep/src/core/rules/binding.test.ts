import { describe, expect, test } from 'vitest';
import type { BindingSave } from '../change.ts';
import { fork, turn } from '../changes.testkit.ts';
import { readBindings } from '../read/turns.ts';
import { commit, given } from '../story.testkit.ts';

const bind = (capture: BindingSave['capture'], cursor: string, history = 'main', turnId = 't1'): BindingSave => ({
  kind: 'binding.save',
  turnId,
  history,
  cursor,
  capture,
});

describe('binding.save', () => {
  test('one for each turn and history', () => {
    given(commit(...turn('t1')), commit(bind('live', 'one')))
      .when(commit(bind('replay', 'two', 'other')))
      .thenSees((seen) => {
        expect(readBindings(seen.tree, seen.bodies, 't1')).toEqual([
          { turnId: 't1', history: 'main', cursor: 'one', capture: 'live' },
          { turnId: 't1', history: 'other', cursor: 'two', capture: 'replay' },
        ]);
      });
  });

  test('a live capture is never overwritten, by a replay or by another live one', () => {
    const story = given(commit(...turn('t1')), commit(bind('live', 'one')));
    for (const capture of ['live', 'replay'] as const) {
      story.when(commit(bind(capture, 'two'))).thenRefuses('binding_live', { turnId: 't1', history: 'main' });
    }
  });

  test('a replayed one may be, and then stands if it was live', () => {
    const story = given(commit(...turn('t1')), commit(bind('replay', 'one')), commit(bind('replay', 'two')));
    story.write(commit(bind('live', 'three')));
    story.when(commit(bind('replay', 'four'))).thenRefuses('binding_live', { turnId: 't1', history: 'main' });
    const seen = story.seen();
    expect(readBindings(seen.tree, seen.bodies, 't1')[0]).toMatchObject({ cursor: 'three', capture: 'live' });
  });

  test('needs a turn that the conversation sees, an inherited one too', () => {
    const story = given(commit(...turn('t1')), commit(...turn('t2')), commit(fork('c', 't1.q')).to('fork'));
    story.when(commit(bind('live', 'x', 'main', 'nobody'))).thenRefuses('no_turn', { turnId: 'nobody' });
    story.when(commit(bind('live', 'x', 'main', 't2')).to('fork')).thenRefuses('no_turn', { turnId: 't2' });
    story.when(commit(bind('live', 'x')).to('fork')).thenWrites();
    expect(readBindings(story.seen('c').tree, story.seen('c').bodies, 't1')).toEqual([]);
  });

  test('a replay that a live capture overtakes is refused', () => {
    given(commit(...turn('t1')))
      .whenOvertaken(commit(bind('replay', 'one')), commit(bind('live', 'two')))
      .thenRefuses('binding_live', { turnId: 't1', history: 'main' });
  });
});
