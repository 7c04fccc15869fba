import type { Change, Expect } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { assistant, everything, refusals, refused, text, words } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';
import type { TestStore } from './stores.testkit.ts';

/** A turn whose idempotency identity is its checkpoint: submitted, and at work under revision 0. */
async function begun(store: TestStore): Promise<void> {
  const conversation = store.conversation();
  await conversation.commit([
    { kind: 'turn.submit', turnId: 't1', operationId: 'k', prompt: text('go') },
    { kind: 'turn.advance', turnId: 't1', to: 'running' },
    { kind: 'checkpoint.create', checkpointId: 'k', type: 'agent', phase: 'in_flight', payload: { at: { json: 0 } } },
  ]);
}

/** The outcome of the turn: what the model said, the agent's last state, the end of the turn. */
const OUTCOME: readonly Change[] = [
  { kind: 'message.append', message: assistant('done', { messageId: 'a1' }) },
  { kind: 'checkpoint.advance', checkpointId: 'k', from: 0, phase: 'completed', payload: { at: { json: 1 } } },
  { kind: 'turn.advance', turnId: 't1', to: 'completed' },
];
const SAW: Expect = { transcript: { turn: 't1', lastSequence: 1 } };

describe.each(BACKENDS)('checkpoints, on %s', (backend) => {
  const store = storeFor(backend);

  test('messages and checkpoint of a turn are one commit under both preconditions', async () => {
    await begun(store);
    await store.conversation().commit(OUTCOME, { expect: SAW });
    await store.everywhere(async (conversation) => {
      expect(await words(conversation)).toEqual(['go', 'done']);
      expect(await conversation.checkpoints.get('k')).toMatchObject({ revision: 1, phase: 'completed' });
    });
  });

  test('a transcript that has grown since refuses the checkpoint too', async () => {
    await begun(store);
    await store.conversation().append(assistant('meanwhile'));
    const before = await everything(store.conversation());
    await store.everywhere(async (conversation) => {
      await refused(conversation.commit(OUTCOME, { expect: SAW }), 'conflict', {
        field: 'transcript.lastSequence',
        expected: 1,
        actual: 2,
      });
      expect(await everything(conversation)).toEqual(before);
    });
  });

  test('a checkpoint that has moved since refuses the messages too', async () => {
    await begun(store);
    await store.conversation().checkpoints.advance('k', { from: 0, payload: { at: { json: 'other' } } });
    const before = await everything(store.conversation());
    await store.everywhere(async (conversation) => {
      await refused(conversation.commit(OUTCOME, { expect: SAW }), 'checkpoint_conflict', {
        checkpointId: 'k',
        expectedRevision: 0,
        actualRevision: 1,
      });
      expect(await everything(conversation)).toEqual(before);
    });
  });

  test('a crash between the commit and its answer is healed by sending it again', async () => {
    await begun(store);
    const first = await store.conversation().commit(OUTCOME, { expect: SAW, idempotencyKey: 'k/outcome' });
    await store.reopen();
    const again = await store.conversation().commit(OUTCOME, { expect: SAW, idempotencyKey: 'k/outcome' });
    expect(again).toEqual({ ...first, replayed: true });
    await store.everywhere(async (conversation) => {
      expect(await words(conversation)).toEqual(['go', 'done']);
      // Who resumes sees that the turn is done and need not ask the model again.
      expect(await conversation.checkpoints.get('k')).toMatchObject({ phase: 'completed' });
      expect(await conversation.operation('k')).toMatchObject({ status: 'succeeded' });
    });
  });

  test('a checkpoint is created only where there is none', async () => {
    await begun(store);
    await store.everywhere(async (conversation) => {
      await refused(
        conversation.checkpoints.create({ checkpointId: 'k', type: 'agent', payload: {} }),
        'checkpoint_exists',
        {
          checkpointId: 'k',
          revision: 0,
        },
      );
    });
  });

  test('of two that advance from one revision exactly one wins', async () => {
    await begun(store);
    const other = await store.elsewhere();
    const results = await Promise.allSettled([
      store.conversation().checkpoints.advance('k', { from: 0, payload: { at: { json: 'one' } } }),
      other.checkpoints.advance('k', { from: 0, payload: { at: { json: 'two' } } }),
    ]);
    expect(refusals(results)).toMatchObject([{ code: 'checkpoint_conflict', details: { actualRevision: 1 } }]);
    const won = results[0].status === 'fulfilled' ? 'one' : 'two';
    await store.everywhere(async ({ checkpoints }) => {
      expect(await checkpoints.get('k')).toMatchObject({ revision: 1, payload: { at: { json: won } } });
    });
  });

  test('earlier revisions stay readable, with their parts, their kind and their schema version', async () => {
    const { checkpoints } = store.conversation();
    const about = { type: 'agent.graph', schemaVersion: 3, scope: 'sub' };
    await checkpoints.create({ checkpointId: 'k', ...about, payload: { a: { json: 0 }, b: { base64: 'AAEC' } } });
    for (let from = 0; from < 12; from++) await checkpoints.advance('k', { from, payload: { a: { json: from + 1 } } });
    await store.everywhere(async (conversation) => {
      expect(await conversation.checkpoints.get('k', 0)).toMatchObject({
        ...about,
        payload: { a: { json: 0 }, b: { base64: 'AAEC' } },
      });
      expect(await conversation.checkpoints.get('k', 7)).toMatchObject({ ...about, payload: { a: { json: 7 } } });
      expect(await conversation.checkpoints.get('k')).toMatchObject({ revision: 12, payload: { a: { json: 12 } } });
      expect(await conversation.checkpoints.get('k', 13)).toBeUndefined();
    });
  });

  test('a summary is made from a transcript, deletes nothing, and only ever covers more', async () => {
    await begun(store);
    const conversation = store.conversation();
    await conversation.commit(OUTCOME, { expect: SAW });
    const transcript = { turn: 't1', lastSequence: 2 };
    const upTo = (await conversation.window(2)).messages[0]?.messageId ?? '';
    await refused(conversation.commitSummary({ upTo, text: 'asked' }, { expect: SAW }), 'conflict', {
      field: 'transcript.lastSequence',
      expected: 1,
      actual: 2,
    });
    await conversation.commitSummary({ upTo, text: 'asked' }, { expect: { transcript } });
    await store.everywhere(async (other) => {
      expect(await other.summary()).toMatchObject({ upTo, seen: 2, text: 'asked' });
      expect(await words(other)).toEqual(['go', 'done']);
      await refused(other.commitSummary({ upTo, text: 'again' }, { expect: { transcript } }), 'summary_not_longer', {
        upTo,
        covered: upTo,
      });
    });
  });
});
