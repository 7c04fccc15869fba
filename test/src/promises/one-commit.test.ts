import type { Change, ErrorCode } from 'turnkeep';
import { isTurnkeepError } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { assistant, everything, refused, text, turn, user } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';
import type { TestStore } from './stores.testkit.ts';

/** The step of a turn: two messages, the agent's checkpoint, the task that moved, the promise that was made. */
const PARTNERS = {
  question: { kind: 'message.append', message: user('which one?', { messageId: 'm1' }) },
  answer: { kind: 'message.append', message: assistant('the first', { messageId: 'm2' }) },
  checkpoint: { kind: 'checkpoint.advance', checkpointId: 'k', from: 0, payload: { state: { json: 'done' } } },
  task: { kind: 'task.transition', taskId: 'task', to: 'completed' },
  commitment: { kind: 'commitment.add', commitmentId: 'p2', content: 'send the first' },
} as const satisfies { readonly [name: string]: Change };

type Partner = keyof typeof PARTNERS;

/** For each partner one way to fail that only the store can see. */
const FAILING: { readonly [name in Partner]: { readonly change: Change; readonly code: ErrorCode } } = {
  question: {
    change: { kind: 'message.append', message: user('other', { messageId: 'm0' }) },
    code: 'message_conflict',
  },
  answer: { change: { kind: 'message.append', turnId: 'nobody', message: assistant('x') }, code: 'no_turn' },
  checkpoint: { change: { ...PARTNERS.checkpoint, from: 7 }, code: 'checkpoint_conflict' },
  task: { change: { ...PARTNERS.task, to: 'created' }, code: 'illegal_transition' },
  commitment: { change: { ...PARTNERS.commitment, commitmentId: 'p1' }, code: 'commitment_exists' },
};

const NAMES = Object.keys(PARTNERS) as readonly Partner[];

async function running(store: TestStore): Promise<void> {
  await store.conversation().commit(turn('t0'));
  await store.conversation().commit([
    { kind: 'turn.submit', turnId: 't1', operationId: 'op', prompt: text('go') },
    { kind: 'turn.advance', turnId: 't1', to: 'running' },
    { kind: 'message.append', message: user('first', { messageId: 'm0' }) },
    { kind: 'checkpoint.create', checkpointId: 'k', type: 'agent', payload: { state: { json: 'begun' } } },
    { kind: 'task.create', taskId: 'task', title: 'do it' },
    { kind: 'task.transition', taskId: 'task', to: 'running' },
    { kind: 'commitment.add', commitmentId: 'p1', content: 'look first' },
  ]);
}

describe.each(BACKENDS)('what belongs together is committed together, on %s', (backend) => {
  const store = storeFor(backend);

  test('messages, checkpoint, task and commitment of a turn are one commit', async () => {
    await running(store);
    await store.conversation().commit(NAMES.map((name) => PARTNERS[name]));
    await store.everywhere(async (conversation) => {
      const { messages } = await conversation.window(2);
      expect(messages.map(({ messageId }) => messageId)).toEqual(['m1', 'm2']);
      expect(await conversation.checkpoints.get('k')).toMatchObject({
        revision: 1,
        payload: { state: { json: 'done' } },
      });
      expect(await conversation.tasks.get('task')).toMatchObject({ status: 'completed' });
      expect(await conversation.commitments.openLoops()).toHaveLength(2);
      expect((await conversation.info()).version).toBe(3);
    });
  });

  test.each(NAMES)('where its %s fails nothing of the others is visible', async (failing) => {
    await running(store);
    const before = await everything(store.conversation());
    const others = NAMES.filter((name) => name !== failing).map((name) => PARTNERS[name]);
    const { change, code } = FAILING[failing];
    for (const changes of [
      [...others, change],
      [change, ...others],
    ]) {
      const error: unknown = await store
        .conversation()
        .commit(changes)
        .catch((reason: unknown) => reason);
      expect(isTurnkeepError(error) ? error.code : String(error)).toBe(code);
    }
    await store.everywhere(async (conversation) => expect(await everything(conversation)).toEqual(before));
    expect((await store.ledger.verify()).faults).toEqual([]);
  });

  test.each(['version', 'graphRevision', 'leaf', 'transcript'] as const)(
    'where what it expects of the %s is wrong nothing of it is visible',
    async (field) => {
      await running(store);
      const before = await everything(store.conversation());
      const wrong = {
        version: { expect: { version: 7 }, actual: 2, expected: 7, field: 'version' },
        graphRevision: { expect: { graphRevision: 7 }, actual: 4, expected: 7, field: 'graphRevision' },
        leaf: { expect: { leaf: 't0' }, actual: 't1', expected: 't0', field: 'leaf' },
        transcript: {
          expect: { transcript: { turn: 't1', lastSequence: 3 } },
          actual: 4,
          expected: 3,
          field: 'transcript.lastSequence',
        },
      }[field];
      const { expect: expected, ...details } = wrong;
      const commit = store.conversation().commit(
        NAMES.map((name) => PARTNERS[name]),
        { expect: expected },
      );
      await refused(commit, 'conflict', details);
      await store.everywhere(async (conversation) => expect(await everything(conversation)).toEqual(before));
    },
  );

  test('a commit that could not be read whole changes nothing, though all but one of its changes are good', async () => {
    await running(store);
    const before = await everything(store.conversation());
    const bad = { ...PARTNERS.commitment, content: '  ' };
    await refused(store.conversation().commit([PARTNERS.question, bad]), 'invalid_value', {
      path: 'commit.changes[1].content',
      reason: 'blank text says nothing',
    });
    await store.everywhere(async (conversation) => expect(await everything(conversation)).toEqual(before));
  });

  test('a commit sent twice is done once, through any handle and after a reopen, and answers the first receipt', async () => {
    await running(store);
    const changes = NAMES.map((name) => PARTNERS[name]);
    const first = await store.conversation().commit(changes, { idempotencyKey: 'key' });
    const after = await everything(store.conversation());
    await store.everywhere(async (conversation) => {
      expect(await conversation.commit(changes, { idempotencyKey: 'key' })).toEqual({ ...first, replayed: true });
      expect(await everything(conversation)).toEqual(after);
    });
    const other = store.conversation().commit([PARTNERS.question], { idempotencyKey: 'key' });
    await refused(other, 'commit_id_reused', { commitId: 'key' });
  });
});
