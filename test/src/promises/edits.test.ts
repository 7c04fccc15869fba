import type { Conversation, Edit, Regeneration, TurnId } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { everything, refused, text, turn, words } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

describe.each(BACKENDS)('edits and regenerations, on %s', (backend) => {
  const store = storeFor(backend);

  test('stand beside the turn that they name: under the root, a turn or a message, also where a fork inherits it', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.commit(turn('t2'));
    await rewind(conversation, 't2.q', 't3');
    await conversation.fork('t3.q', { conversationId: 'fork' });
    for (const id of ['c', 'fork']) {
      for (const turnId of ['t1', 't2', 't3']) await editAndRegenerate(store.conversation(id), turnId);
      await store.everywhere(async (other) => {
        expect(await words(other, 't1 edited')).toEqual(['other than t1']);
        expect(await words(other, 't1 again')).toEqual(['ask t1']);
        expect(await words(other, 't2 edited')).toEqual(['ask t1', 'answer t1', 'other than t2']);
        expect(await words(other, 't2 again')).toEqual(['ask t1', 'answer t1', 'ask t2']);
        expect(await words(other, 't3 edited')).toEqual(['ask t1', 'answer t1', 'ask t2', 'other than t3']);
        expect(await words(other, 't3 again')).toEqual(['ask t1', 'answer t1', 'ask t2', 'from t2.q']);
        expect(await reasons(other, 't1')).toEqual(['t1 start', 't1 edited edit', 't1 again regenerate']);
        expect(await reasons(other, 't3')).toEqual(['t3 start', 't3 edited edit', 't3 again regenerate']);
      }, id);
    }
  });

  test('sent again they are done once, however the tree grew since', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    const expected = { expect: { graphRevision: 2 } };
    const edit = async (other: Conversation) =>
      other.edit('t1', { prompt: text('edited') }, { ...expected, idempotencyKey: 'edit' });
    const first = await edit(conversation);
    expect(first).toMatchObject({ ordinal: 2, replayed: false });
    await conversation.advance(first.turnId, 'completed');
    await store.everywhere(async (other) => {
      expect(await edit(other)).toEqual({ ...first, replayed: true });
      expect(await other.graph()).toHaveLength(2);
    });
  });

  test('say which tree the caller saw', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    const before = await everything(conversation);
    await store.everywhere(async (other) => {
      const required = { field: 'graphRevision', change: 'commit.changes[0]' } as const;
      await refused(other.edit('t1', { prompt: text('x') }, {}), 'expect_required', required);
      await refused(other.regenerate('t1', {}, {}), 'expect_required', required);
      const stale = { expect: { graphRevision: 1 } };
      const conflict = { field: 'graphRevision', expected: 1, actual: 2 };
      await refused(other.edit('t1', { prompt: text('x') }, stale), 'conflict', conflict);
      await refused(other.regenerate('t1', {}, stale), 'conflict', conflict);
      expect(await everything(other)).toEqual(before);
    });
  });

  test('of a turn that the conversation does not see, and with another place than its own, are refused', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.commit(turn('t2'));
    await conversation.fork('t1.a', { conversationId: 'fork' });
    const options = { expect: { graphRevision: 0 } };
    await store.everywhere(async (fork) => {
      await refused(fork.edit('t2', { prompt: text('x') }, options), 'no_turn', { turnId: 't2' });
      await refused(fork.regenerate('t2', {}, options), 'no_turn', { turnId: 't2' });
      for (const [field, value] of [
        ['parent', null],
        ['samePromptAs', 't1'],
      ] as const) {
        const given = { prompt: text('x'), [field]: value } as Edit; // what types refuse, a caller without them gives
        const details = { path: `turn.${field}`, reason: 'it follows from the turn that is named first' };
        await refused(fork.edit('t1', given, options), 'invalid_value', details);
        await refused(fork.regenerate('t1', given as Regeneration, options), 'invalid_value', details);
      }
      expect(await fork.graph()).toHaveLength(1);
    }, 'fork');
  });

  test('an edit may cancel the answer that is still being made', async () => {
    const conversation = store.conversation();
    await conversation.submit({ turnId: 't1', prompt: text('ask t1') });
    await conversation.advance('t1', 'running');
    const options = { expect: { graphRevision: 2 } };
    await refused(conversation.edit('t1', { prompt: text('edited') }, options), 'busy', {
      turnId: 't1',
      state: 'running',
    });
    const edited = await conversation.edit('t1', { prompt: text('edited'), whenBusy: 'interrupt' }, options);
    expect(edited.interrupted).toEqual(['t1']);
    await store.everywhere(async (other) => {
      expect(await other.turn('t1')).toMatchObject({ state: 'cancelled' });
      expect(await other.turn(edited.turnId)).toMatchObject({ state: 'preparing', why: 'edit', label: 'edited' });
    });
  });

  test('an agent is run at an edit as at any other turn', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    const edited = await conversation.edit(
      't1',
      { prompt: text('edited') },
      { expect: { graphRevision: 2 }, idempotencyKey: 'edit' },
    );
    await conversation.resume(edited.turnId, async (agentTurn) => {
      await agentTurn.model('answer', () => text('another answer'));
    });
    await store.everywhere(async (other) => {
      expect(await words(other)).toEqual(['edited', 'another answer']);
      expect(await words(other, 't1')).toEqual(['ask t1', 'answer t1']);
    });
  });

  test('a turn is found by its id as the tree lists it, one that is not seen is not there', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.commit(turn('t2'));
    await rewind(conversation, 't2.q', 't3');
    await conversation.fork('t1.a', { conversationId: 'fork' });
    await store.conversation('fork').commit(turn('own'));
    for (const id of ['c', 'fork']) {
      await store.everywhere(async (other) => {
        const tree = await other.graph();
        expect(tree).toHaveLength(id === 'c' ? 3 : 2);
        for (const listed of tree) expect(await other.turn(listed.turnId)).toEqual(listed);
        expect(await other.turn('nobody')).toBeUndefined();
      }, id);
    }
    expect(await store.conversation('fork').turn('t2')).toBeUndefined();
    expect(await store.conversation('c').turn('own')).toBeUndefined();
  });
});

/** A turn that goes on from within another, as an operator's rewind does. */
async function rewind(conversation: Conversation, messageId: string, turnId: TurnId): Promise<void> {
  const { graphRevision } = await conversation.info();
  await conversation.commit(
    [
      {
        kind: 'turn.submit',
        turnId,
        messageId: `${turnId}.q`,
        prompt: text(`from ${messageId}`),
        parent: { messageId },
      },
      { kind: 'turn.advance', turnId, to: 'completed' },
    ],
    { expect: { graphRevision } },
  );
}

async function editAndRegenerate(conversation: Conversation, turnId: TurnId): Promise<void> {
  const edited = `${turnId} edited`;
  let { graphRevision } = await conversation.info();
  await conversation.edit(
    turnId,
    { turnId: edited, prompt: text(`other than ${turnId}`) },
    { expect: { graphRevision } },
  );
  await conversation.advance(edited, 'completed');
  const again = `${turnId} again`;
  ({ graphRevision } = await conversation.info());
  await conversation.regenerate(turnId, { turnId: again }, { expect: { graphRevision } });
  await conversation.advance(again, 'completed');
}

async function reasons(conversation: Conversation, turnId: TurnId): Promise<readonly string[]> {
  return (await conversation.siblings(turnId)).map((sibling) => `${sibling.turnId} ${sibling.why}`);
}
