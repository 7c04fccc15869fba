import type { Operator, OperatorSettings } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { refused } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

describe.each(BACKENDS)('the operator, on %s', (backend) => {
  const store = storeFor(backend);
  const operator = (settings?: OperatorSettings): Operator => store.conversation().operator(settings);

  /** A whole exchange. */
  async function exchange(said: string, answer: string) {
    const sent = await operator().send(said);
    await operator().complete(sent.turnId, answer);
    return sent;
  }

  test('without an active task a message creates one, which follows the last one', async () => {
    const first = await exchange('write a report', 'here it is');
    const second = await exchange('write another', 'here it is too');
    expect([first.created, second.created]).toEqual([true, true]);
    await store.everywhere(async ({ tasks }) => {
      expect(await tasks.list()).toMatchObject([
        { taskId: first.taskId, title: 'write a report', status: 'completed' },
        { taskId: second.taskId, title: 'write another', status: 'completed', parentTaskId: first.taskId },
      ]);
      expect(await tasks.active()).toBeUndefined();
    });
  });

  test('while its task is active a message goes on with it: the same id under a new title', async () => {
    const first = await operator().send('write a report');
    await refused(operator().send('in blue'), 'busy', { turnId: first.turnId, state: 'running' });
    const second = await operator().send('in blue', { whenBusy: 'interrupt' });
    expect(second).toMatchObject({ taskId: first.taskId, created: false });
    await operator().complete(second.turnId, 'a blue report');
    await store.everywhere(async ({ tasks }) => {
      expect(await tasks.list()).toMatchObject([{ taskId: first.taskId, title: 'in blue', status: 'completed' }]);
    });
  });

  test.each(['yes', 'OK!', 'continue', 'Weiter', '好的', 'да', '👍'])(
    'the confirmation %s lets a task that awaits approval go on, under its own title',
    async (word) => {
      const first = await operator().send('delete the old files');
      await operator().complete(first.turnId, 'these three: may I?', { awaits: 'approval' });
      expect(await operator().view()).toMatchObject({ task: { status: 'awaiting_approval' }, turn: null });
      const second = await operator().send(word);
      expect(second).toMatchObject({ taskId: first.taskId, created: false });
      await store.everywhere(async ({ tasks }) => {
        expect(await tasks.list()).toMatchObject([{ title: 'delete the old files', status: 'running' }]);
      });
    },
  );

  test('anything else supersedes a task that awaits approval, and is a task of its own after it', async () => {
    const first = await operator().send('delete the old files');
    await operator().complete(first.turnId, 'may I?', { awaits: 'approval' });
    const second = await operator().send('rather move them');
    await store.everywhere(async ({ tasks }) => {
      expect(await tasks.list()).toMatchObject([
        { taskId: first.taskId, status: 'superseded' },
        { taskId: second.taskId, status: 'running', parentTaskId: first.taskId, title: 'rather move them' },
      ]);
    });
  });

  test('a task that awaits approval can be approved without a word', async () => {
    const { taskId, turnId } = await operator().send('delete the old files');
    expect(await operator().approve()).toBeUndefined();
    await operator().complete(turnId, 'may I?', { awaits: 'approval' });
    const first = await operator().approve({ idempotencyKey: 'approve' });
    expect(await operator().approve({ idempotencyKey: 'approve' })).toMatchObject({
      version: first?.version,
      replayed: true,
    });
    await store.everywhere(async ({ tasks }) => {
      expect(await tasks.get(taskId)).toMatchObject({ status: 'running' });
    });
  });

  test('what confirms and what a task is called are settings', async () => {
    const settings = { confirms: (text: string) => text === 'aye', titleOf: () => 'a task', assignee: 'fast-model' };
    const first = await operator(settings).send('sail');
    await operator(settings).complete(first.turnId, 'shall we?', { awaits: 'approval' });
    expect(await operator(settings).send('aye')).toMatchObject({ taskId: first.taskId });
    await store.everywhere(async ({ tasks }) => {
      expect(await tasks.list()).toMatchObject([{ title: 'a task', assignee: 'fast-model', status: 'running' }]);
    });
  });

  test('every message of the user and every answer is in the history, and in that of its task', async () => {
    const { taskId } = await exchange('write a report', 'here it is');
    const sent = await operator().send('and a poem');
    await operator().fail(
      sent.turnId,
      { code: 'rate_limited', message: 'Too many requests.' },
      {
        partial: [{ type: 'text', text: 'roses are' }],
      },
    );
    await store.everywhere(async (conversation) => {
      const of = async (id: string) => (await conversation.tasks.messages(id)).map(({ role, parts }) => [role, parts]);
      const says = (text: string) => [{ type: 'text', text }];
      expect(await of(taskId)).toEqual([
        ['user', says('write a report')],
        ['assistant', says('here it is')],
      ]);
      expect(await of(sent.taskId)).toEqual([
        ['user', says('and a poem')],
        ['assistant', says('roses are')],
        ['system', says('Too many requests.')],
      ]);
      expect(await conversation.tasks.get(sent.taskId)).toMatchObject({ status: 'failed' });
      expect((await conversation.graph()).map(({ state }) => state)).toEqual(['completed', 'failed']);
      const { messages } = await conversation.page();
      expect(messages.map(({ status }) => status)).toEqual([undefined, undefined, undefined, 'incomplete', undefined]);
    });
  });

  test('a call that is sent again is done once, whatever came in between', async () => {
    const first = await operator().send('write a report', { idempotencyKey: 'send' });
    const done = await operator().complete(first.turnId, 'here it is', { idempotencyKey: 'complete' });
    expect(await operator().send('write a report', { idempotencyKey: 'send' })).toEqual({ ...first, replayed: true });
    const again = await operator().complete(first.turnId, 'here it is', { idempotencyKey: 'complete' });
    expect(again).toEqual({ ...done, replayed: true });
    await refused(operator().send('write a poem', { idempotencyKey: 'send' }), 'commit_id_reused', {
      commitId: 'send',
    });
    await store.everywhere(async (conversation) => expect((await conversation.info()).version).toBe(2));
  });

  test('each call is one commit: message, task and turn are there together or not at all', async () => {
    const sent = await operator().send('write a report');
    expect(sent.events.map(({ kind }) => kind)).toEqual([
      'task.create',
      'turn.submit',
      'turn.advance',
      'task.transition',
    ]);
    const usage = { kind: 'usage.record', turnId: sent.turnId, provider: 'some', model: 'large' } as const;
    const done = await operator().complete(sent.turnId, 'here it is', { outcomeRef: 'report.txt', besides: [usage] });
    expect(done.events.map(({ kind }) => kind)).toEqual([
      'message.append',
      'usage.record',
      'task.transition',
      'turn.advance',
    ]);
    await store.everywhere(async ({ tasks }) => {
      expect(await tasks.get(sent.taskId)).toMatchObject({ status: 'completed', outcomeRef: 'report.txt' });
    });
  });

  test('two that send at once: one begins the task, the other is told that a turn is at work', async () => {
    const handle = await store.handles();
    const both = await Promise.allSettled([0, 1].map(async (at) => handle(at).operator().send(`message ${at}`)));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [lost] = both.filter((one) => one.status === 'rejected');
    expect(lost?.reason).toMatchObject({ code: 'busy' });
    await store.everywhere(async ({ tasks }) => expect(await tasks.list()).toHaveLength(1));
  });

  test('what a terminal shows is made from the store: the last messages, the tasks, the turn at work', async () => {
    for (let at = 1; at <= 6; at++) await exchange(`question ${at}`, `answer ${at}`);
    const sent = await operator().send('question 7');
    await store.conversation().inputs.enqueue({ prompt: [{ type: 'text', text: 'and then?' }] });
    await store.everywhere(async (conversation) => {
      const view = await conversation.operator().view(3);
      expect(view).toMatchObject({
        conversationId: 'c',
        task: { taskId: sent.taskId, status: 'running' },
        openTasks: [{ taskId: sent.taskId }],
        turn: { turnId: sent.turnId, state: 'running' },
        waiting: ['and then?'],
      });
      expect(view.lines.map(({ role, text }) => `${role}: ${text}`)).toEqual([
        'user: question 6',
        'assistant: answer 6',
        'user: question 7',
      ]);
      expect(await conversation.operator().window()).toHaveLength(8);
    });
  });

  test('a terminal follows: each commit shows a new view', async () => {
    const sent = await operator().send('write a report');
    const seen: (string | null)[] = [];
    const ended = new AbortController();
    for await (const view of operator().watch({ signal: ended.signal })) {
      seen.push(view.task?.status ?? null);
      if (seen.length === 1) await operator().complete(sent.turnId, 'may I?', { awaits: 'approval' });
      if (seen.length === 2) await operator().approve();
      if (seen.length === 3) ended.abort();
    }
    expect(seen).toEqual(['running', 'awaiting_approval', 'running']);
  });
});
