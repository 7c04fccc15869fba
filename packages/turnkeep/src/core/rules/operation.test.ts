import { describe, expect, test } from 'vitest';
import { advance, resolve, submit, turn } from '../changes.testkit.ts';
import { readOperation } from '../read/turns.ts';
import { commit, given } from '../story.testkit.ts';
import type { Seen } from '../story.testkit.ts';

function operation(seen: Seen, operationId: string) {
  return readOperation(seen.tree, seen.bodies, operationId);
}

describe('operation.resolve', () => {
  test('succeeded: the turn runs and the operation is closed', () => {
    given(commit(submit('t1')))
      .when(commit(resolve('t1')))
      .thenSees((seen) => {
        expect(seen.turn('t1')?.state).toBe('running');
        expect(seen.head).toMatchObject({ openOperation: null, leaf: 't1', busy: ['t1'] });
        expect(operation(seen, 't1.op')).toMatchObject({ status: 'succeeded', turnId: 't1' });
        expect(operation(seen, 't1.op')?.failure).toBeUndefined();
      });
  });

  test('failed: the turn fails with it, and the failure is kept', () => {
    given(commit(submit('t1')), commit(advance('t1', 'dispatching')))
      .when(commit(resolve('t1', 'provider_down', 'no answer')))
      .thenSees((seen) => {
        expect(seen.turn('t1')?.state).toBe('failed');
        expect(seen.head).toMatchObject({ openOperation: null, leaf: null, busy: [] });
        const failure = { code: 'provider_down', message: 'no answer' };
        expect(operation(seen, 't1.op')).toMatchObject({ status: 'failed', turnId: 't1', failure });
      });
  });

  test('its id opens nothing a second time in the commit that ended it', () => {
    given()
      .when(commit(submit('t1'), resolve('t1', 'refused', 'no'), submit('t2', { operationId: 't1.op' })))
      .thenRefuses('operation_resolved', { operationId: 't1.op', status: 'failed' });
  });

  test('the later writer is told how it ended and changes nothing, the turn included', () => {
    const story = given(commit(submit('t1')), commit(resolve('t1')));
    story
      .when(commit(resolve('t1', 'late', 'too late')))
      .thenRefuses('operation_resolved', { operationId: 't1.op', status: 'succeeded' });
    story.when(commit(resolve('t1'))).thenRefuses('operation_resolved', { operationId: 't1.op', status: 'succeeded' });
    expect(story.seen().turn('t1')?.state).toBe('running');
  });

  test('of two at once one wins, whichever way', () => {
    given(commit(submit('t1')))
      .whenOvertaken(commit(resolve('t1')), commit(resolve('t1', 'stopped', 'by hand')))
      .thenRefuses('operation_resolved', { operationId: 't1.op', status: 'failed' });
    given(commit(submit('t1')))
      .whenOvertaken(commit(resolve('t1', 'stopped', 'by hand')), commit(resolve('t1')))
      .thenRefuses('operation_resolved', { operationId: 't1.op', status: 'succeeded' });
  });

  test('an unknown one, and that of another conversation, is refused', () => {
    const story = given(commit(submit('t1')), commit(submit('t2')).to('other'));
    for (const turnId of ['nobody', 't2']) {
      story.when(commit(resolve(turnId))).thenRefuses('no_operation', { operationId: `${turnId}.op` });
    }
  });

  test('a turn that runs already is not moved again by a success', () => {
    given(commit(submit('t1')))
      .when(commit(advance('t1', 'waiting'), resolve('t1')))
      .thenSees((seen) => expect(seen.turn('t1')?.state).toBe('waiting'));
  });

  test('a turn that has ended is not moved by a failure', () => {
    given(commit(submit('t1')))
      .when(commit(advance('t1', 'cancelled'), resolve('t1', 'stopped', 'by hand')))
      .thenSees((seen) => expect(seen.turn('t1')?.state).toBe('cancelled'));
  });
});

describe('an operation that nobody resolves', () => {
  test('stays open while its turn prepares or dispatches', () => {
    given(commit(submit('t1')))
      .when(commit(advance('t1', 'dispatching')))
      .thenSees((seen) => {
        expect(seen.head.openOperation).toBe('t1.op');
        expect(operation(seen, 't1.op')).toMatchObject({ status: 'open', resolvedAt: null });
      });
  });

  test('has succeeded once its turn runs, waits or completes', () => {
    for (const to of ['running', 'waiting', 'completed'] as const) {
      given(commit(submit('t1')))
        .when(commit(advance('t1', to)))
        .thenSees((seen) => {
          expect(seen.head.openOperation).toBeNull();
          expect(operation(seen, 't1.op')).toMatchObject({ status: 'succeeded' });
        });
    }
  });

  test('has failed where its turn failed or was cancelled', () => {
    for (const to of ['failed', 'cancelled'] as const) {
      given(commit(submit('t1')))
        .when(commit(advance('t1', to)))
        .thenSees((seen) => {
          expect(seen.head.openOperation).toBeNull();
          expect(operation(seen, 't1.op')).toMatchObject({ status: 'failed' });
        });
    }
  });

  test('lets the next one open', () => {
    given(commit(...turn('t1')))
      .when(commit(submit('t2')))
      .thenSees((seen) => expect(seen.head.openOperation).toBe('t2.op'));
  });
});
