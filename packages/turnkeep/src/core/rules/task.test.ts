import { describe, expect, test } from 'vitest';
import { TASK_STATUSES } from '../change.ts';
import type { TaskStatus } from '../change.ts';
import { advance, fork, move, select, submit, task, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Phrase } from '../story.testkit.ts';
import { isTerminalTask, TASK_TRANSITIONS } from './task.ts';

const ENDS: readonly TaskStatus[] = ['completed', 'failed', 'cancelled', 'superseded'];

describe('task.create', () => {
  test('makes the active and the latest task of its path', () => {
    given()
      .when(commit(task('k1')))
      .thenSees((seen) => {
        expect(seen.task('k1')).toMatchObject({ status: 'created', title: 'do k1' });
        expect([seen.activeTask(), seen.latestTask()]).toEqual(['k1', 'k1']);
      });
  });

  test('mints an id from the commit id', () => {
    given()
      .when(commit({ kind: 'task.create', title: 'do it' }).as('key'))
      .thenWrites({ taskId: 'task_key.0' });
  });

  test('a path has one active task, whoever asks', () => {
    given(commit(task('k1')))
      .when(commit(task('k2')))
      .thenRefuses('active_task', { taskId: 'k1' });
    given(commit(task('k0')), commit(move('k0', 'failed')))
      .whenOvertaken(commit(task('k1')), commit(task('k2')))
      .thenRefuses('active_task', { taskId: 'k2' });
  });

  test('an id stands for one task, ended ones included', () => {
    const story = given(commit(task('k1')));
    story.when(commit(task('k1'))).thenRefuses('task_exists', { taskId: 'k1' });
    story.write(commit(move('k1', 'cancelled')));
    story.when(commit(task('k1'))).thenRefuses('task_exists', { taskId: 'k1' });
  });

  test('a parent task must be known on the path', () => {
    const story = given(commit(task('k1')), commit(move('k1', 'superseded')));
    story.when(commit(task('k2', undefined, 'nobody'))).thenRefuses('no_task', { taskId: 'nobody' });
    story
      .when(commit(task('k2', undefined, 'k1')))
      .thenSees((seen) => expect(seen.task('k2')).toMatchObject({ parentTaskId: 'k1' }));
  });

  test('another path has its own active task', () => {
    const story = given(commit(...turn('t0')), commit(submit('t1'), advance('t1', 'waiting'), task('k1', 't1')));
    story.write(
      commit(submit('t2', { parent: { turnId: 't0' } }), advance('t2', 'running'), task('k2', 't2')).expecting({
        graphRevision: 4,
      }),
    );
    expect([story.seen().activeTask('t1'), story.seen().activeTask('t2')]).toEqual(['k1', 'k2']);
    expect(story.seen().task('k1', 't2')).toBeUndefined();
  });
});

describe('task.amend', () => {
  test('keeps id and status, and the words that it does not name', () => {
    given(
      commit({ kind: 'task.create', taskId: 'k1', title: 'first', assignee: 'ann', metadata: { a: 1 } }),
      commit(move('k1', 'running')),
    )
      .when(commit({ kind: 'task.amend', taskId: 'k1', title: 'second' }))
      .thenSees((seen) => {
        const words = { title: 'second', assignee: 'ann', metadata: { a: 1 } };
        expect(seen.task('k1')).toMatchObject({ taskId: 'k1', status: 'running', ...words });
        expect(seen.activeTask()).toBe('k1');
      });
  });

  test('null takes an assignee away', () => {
    given(commit({ kind: 'task.create', taskId: 'k1', title: 'first', assignee: 'ann' }))
      .when(commit({ kind: 'task.amend', taskId: 'k1', assignee: null, metadata: [1] }))
      .thenSees((seen) => {
        expect(seen.task('k1')).toMatchObject({ title: 'first', metadata: [1] });
        expect(seen.task('k1')?.assignee).toBeUndefined();
      });
  });

  test('needs a task of its path that has not ended', () => {
    const amend = { kind: 'task.amend' as const, taskId: 'k1', title: 'x' };
    given().when(commit(amend)).thenRefuses('no_task', { taskId: 'k1' });
    for (const to of ['failed', 'cancelled', 'superseded'] as const) {
      given(commit(task('k1')), commit(move('k1', to)))
        .when(commit(amend))
        .thenRefuses('illegal_transition', { machine: 'task', id: 'k1', from: to, to });
    }
  });
});

describe('task.transition', () => {
  const reach: { readonly [Status in TaskStatus]: readonly TaskStatus[] } = {
    created: [],
    running: ['running'],
    awaiting_approval: ['running', 'awaiting_approval'],
    completed: ['running', 'completed'],
    failed: ['failed'],
    cancelled: ['cancelled'],
    superseded: ['superseded'],
  };
  const story = (status: TaskStatus): readonly Phrase[] => [
    commit(task('k1')),
    ...reach[status].map((to) => commit(move('k1', to))),
  ];

  test('the legal edges are these and no others', () => {
    const legal = [
      'created running',
      'created failed',
      'created cancelled',
      'created superseded',
      ...['awaiting_approval', ...ENDS].map((to) => `running ${to}`),
      ...['running', ...ENDS].map((to) => `awaiting_approval ${to}`),
    ];
    const table = TASK_STATUSES.flatMap((from) => TASK_TRANSITIONS[from].map((to) => `${from} ${to}`));
    expect(table.toSorted()).toEqual(legal.toSorted());
    expect(TASK_STATUSES.filter(isTerminalTask)).toEqual(ENDS);
  });

  test('moves along the table and nowhere else, and names both states', () => {
    for (const from of TASK_STATUSES) {
      for (const to of TASK_STATUSES) {
        const outcome = given(...story(from)).when(commit(move('k1', to)));
        if (TASK_TRANSITIONS[from].includes(to)) outcome.thenWrites({ from, to });
        else outcome.thenRefuses('illegal_transition', { machine: 'task', id: 'k1', from, to });
      }
    }
  });

  test('a terminal status clears the active task, no other one does', () => {
    for (const to of [...ENDS, 'awaiting_approval'] as const) {
      given(...story('running'))
        .when(commit(move('k1', to)))
        .thenSees((seen) => {
          expect(seen.activeTask()).toBe(to === 'awaiting_approval' ? 'k1' : undefined);
          expect(seen.latestTask()).toBe('k1');
        });
    }
  });

  test('keeps where the outcome is to be found', () => {
    given(...story('running'))
      .when(commit({ kind: 'task.transition', taskId: 'k1', to: 'completed', outcomeRef: 'report.pdf' }))
      .thenSees((seen) => expect(seen.task('k1')).toMatchObject({ title: 'do k1', outcomeRef: 'report.pdf' }));
  });

  test('needs a task of its path', () => {
    given(commit(...turn('t0')))
      .when(commit(move('nobody', 'running')))
      .thenRefuses('no_task', { taskId: 'nobody' });
  });

  test('of two that end a task one is told what it had become', () => {
    given(...story('running'))
      .whenOvertaken(commit(move('k1', 'completed')), commit(move('k1', 'cancelled')))
      .thenRefuses('illegal_transition', { machine: 'task', id: 'k1', from: 'cancelled', to: 'completed' });
  });

  test('the end of an older task leaves the active one alone', () => {
    // k1 ends on the path of t1 only; t2 sees it as it was and has gone on from there.
    const ran = given(commit(...turn('t0', [task('k1'), move('k1', 'running')])), commit(...turn('t1')));
    ran.write(commit(move('k1', 'completed')));
    ran.write(commit(task('k2')));
    expect(ran.seen().activeTask()).toBe('k2');
    ran.write(commit(select('t0')).expecting({ graphRevision: 4 }));
    expect(ran.seen().activeTask()).toBe('k1');
  });

  test('what a fork changes of an inherited task is its own', () => {
    const ran = given(
      commit(...turn('t1', [task('k1'), move('k1', 'running')])),
      commit(fork('c', 't1.q')).to('early'),
      commit(...turn('t2')),
      commit(fork('c', 't2.q')).to('fork'),
      commit(move('k1', 'cancelled')).to('fork'),
    );
    expect(ran.seen('fork').task('k1')?.status).toBe('cancelled');
    expect(ran.seen('fork').activeTask()).toBeUndefined();
    expect(ran.seen('c').task('k1')?.status).toBe('running');
    expect(ran.seen('c').activeTask()).toBe('k1');
  });
});
