import { TASK_TRANSITIONS } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { feed, refusals, refused, turn, user } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

describe.each(BACKENDS)('tasks, on %s', (backend) => {
  const store = storeFor(backend);

  test('a task is created with its title, its assignee and its lineage, and is the active one', async () => {
    const { tasks } = store.conversation();
    const first = await tasks.create({ title: 'first', assignee: 'fast-model' });
    await tasks.transition(first.taskId, 'superseded');
    const { taskId } = await tasks.create({ title: 'second', parentTaskId: first.taskId });
    await store.everywhere(async (conversation) => {
      expect(await conversation.tasks.get(first.taskId)).toMatchObject({ title: 'first', assignee: 'fast-model' });
      const second = { taskId, title: 'second', status: 'created', parentTaskId: first.taskId };
      expect(await conversation.tasks.active()).toMatchObject(second);
      expect(await conversation.tasks.latest()).toMatchObject(second);
    });
  });

  test('amending keeps the task: the same id and status under a new title', async () => {
    const { tasks } = store.conversation();
    const { taskId } = await tasks.create({ title: 'first' });
    await tasks.transition(taskId, 'running');
    await tasks.amend(taskId, { title: 'second' });
    await store.everywhere(async (conversation) => {
      expect(await conversation.tasks.list()).toMatchObject([{ taskId, title: 'second', status: 'running' }]);
    });
  });

  test('a task goes from created over running and awaiting_approval to its end', async () => {
    const { tasks } = store.conversation();
    const { taskId } = await tasks.create({ title: 'do it' });
    for (const to of ['running', 'awaiting_approval', 'running', 'completed'] as const)
      await tasks.transition(taskId, to);
    await store.everywhere(async (conversation) => {
      expect(await conversation.tasks.get(taskId)).toMatchObject({ status: 'completed' });
    });
  });

  test('a move that the table does not have is refused, names both states and changes nothing', async () => {
    const { tasks } = store.conversation();
    const { taskId } = await tasks.create({ title: 'do it' });
    expect(TASK_TRANSITIONS.created).not.toContain('completed');
    await refused(tasks.transition(taskId, 'completed'), 'illegal_transition', {
      machine: 'task',
      id: taskId,
      from: 'created',
      to: 'completed',
    });
    await store.everywhere(async (conversation) => {
      expect(await conversation.tasks.get(taskId)).toMatchObject({ status: 'created' });
      expect((await conversation.info()).version).toBe(1);
    });
  });

  test.each(['completed', 'failed', 'cancelled', 'superseded'] as const)(
    'a task that is %s is active no more, and is still the latest',
    async (to) => {
      const { tasks } = store.conversation();
      const { taskId } = await tasks.create({ title: 'do it' });
      await tasks.transition(taskId, 'running');
      await tasks.transition(taskId, to, { outcomeRef: 'out' });
      await store.everywhere(async (conversation) => {
        expect(await conversation.tasks.active()).toBeUndefined();
        expect(await conversation.tasks.listOpen()).toEqual([]);
        expect(await conversation.tasks.latest()).toMatchObject({ taskId, status: to, outcomeRef: 'out' });
      });
    },
  );

  test('a path has one active task, whoever of two comes first', async () => {
    const other = await store.elsewhere();
    const results = await Promise.allSettled([
      store.conversation().tasks.create({ taskId: 'a', title: 'a' }),
      other.tasks.create({ taskId: 'b', title: 'b' }),
    ]);
    const taken = results[0].status === 'fulfilled' ? 'a' : 'b';
    expect(refusals(results)).toMatchObject([{ code: 'active_task', details: { taskId: taken } }]);
    await store.everywhere(async (conversation) => expect(await conversation.tasks.listOpen()).toHaveLength(1));
  });

  test('open tasks are listed in the order of their creation, over all the turns of the path', async () => {
    const conversation = store.conversation();
    for (const taskId of ['z', 'y', 'x']) {
      await conversation.commit(turn(taskId));
      await conversation.tasks.create({ taskId, title: taskId });
      if (taskId !== 'x') await conversation.tasks.transition(taskId, taskId === 'z' ? 'failed' : 'superseded');
    }
    await store.everywhere(async ({ tasks }) => {
      expect((await tasks.list()).map(({ taskId }) => taskId)).toEqual(['z', 'y', 'x']);
      expect((await tasks.listOpen()).map(({ taskId }) => taskId)).toEqual(['x']);
    });
  });

  test('the messages of a task are found over all turns, in order, and no others', async () => {
    const conversation = store.conversation();
    await conversation.tasks.create({ taskId: 'k', title: 'k' });
    await conversation.append(user('one', { taskId: 'k' }));
    await conversation.append(user('two'));
    await conversation.commit(turn('t1'));
    await conversation.append(user('three', { taskId: 'k' }));
    await store.everywhere(async ({ tasks }) => {
      const found = await tasks.messages('k');
      expect(found.map(({ parts }) => parts[0])).toMatchObject([{ text: 'one' }, { text: 'three' }]);
    });
  });

  test('every move leaves its mark in the feed, in order', async () => {
    const { tasks } = store.conversation();
    const { taskId } = await tasks.create({ title: 'do it' });
    await tasks.amend(taskId, { title: 'do that' });
    await tasks.transition(taskId, 'running');
    await store.everywhere(async (conversation) => {
      const marks = await feed(conversation);
      expect(marks.flatMap(({ events }) => events)).toMatchObject([
        { kind: 'task.create', taskId },
        { kind: 'task.amend', taskId },
        { kind: 'task.transition', taskId, from: 'created', to: 'running' },
      ]);
    });
  });

  test('a task of another conversation or namespace is nobody’s business', async () => {
    await store.conversation().tasks.create({ taskId: 'k', title: 'mine' });
    for (const other of [store.conversation('d'), store.conversation('c', 'other')]) {
      await other.tasks.create({ taskId: 'k', title: 'theirs' });
      await other.tasks.transition('k', 'cancelled');
    }
    await store.everywhere(async ({ tasks }) => expect(await tasks.active()).toMatchObject({ title: 'mine' }));
  });
});
