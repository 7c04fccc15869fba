import { describe, expect, test } from 'vitest';
import { refused, turn } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const EMPTY = { objective: null, stage: null, nextStep: null, blockers: [], plan: [] };

describe.each(BACKENDS)('working state, on %s', (backend) => {
  const store = storeFor(backend);

  test('an update changes what it names and keeps the rest', async () => {
    const conversation = store.conversation();
    await conversation.updateState({ objective: 'find the leak', stage: 'looking', blockers: ['no access'] });
    await conversation.updateState({ stage: 'found', nextStep: 'patch' });
    await store.everywhere(async (other) => {
      const kept = { objective: 'find the leak', blockers: ['no access'] };
      expect(await other.state()).toMatchObject({ ...kept, stage: 'found', nextStep: 'patch', plan: [] });
    });
  });

  test('null clears, and an empty list is a list', async () => {
    const conversation = store.conversation();
    await conversation.updateState({ objective: 'o', stage: 's', nextStep: 'n', blockers: ['b'], plan: [{ a: 1 }] });
    await conversation.updateState({ objective: null, stage: null, nextStep: null, blockers: [], plan: null });
    await store.everywhere(async (other) => expect(await other.state()).toEqual({ ...EMPTY, stateVersion: 2 }));
  });

  test('reading never fails for want of a state', async () => {
    await store.conversation().commit(turn('t1'));
    await store.everywhere(async (other) => expect(await other.state()).toEqual({ ...EMPTY, stateVersion: 0 }));
  });

  test('its version and the conversation’s rise with every change', async () => {
    const conversation = store.conversation();
    for (let at = 1; at <= 3; at++) {
      const { version } = await conversation.updateState({ stage: `s${at}` });
      expect(version).toBe(at);
      expect(await conversation.state()).toMatchObject({ stateVersion: at });
    }
    await conversation.commitments.add({ content: 'x' });
    await store.everywhere(async (other) => {
      expect((await other.info()).version).toBe(4);
      expect((await other.state()).stateVersion).toBe(3);
    });
  });

  test('updates in parallel keep each other', async () => {
    const other = await store.elsewhere();
    await Promise.all([
      store.conversation().updateState({ objective: 'o' }),
      other.updateState({ stage: 's' }),
      store.conversation().updateState({ nextStep: 'n' }),
      other.updateState({ blockers: ['b'] }),
    ]);
    await store.everywhere(async (conversation) => {
      const all = { objective: 'o', stage: 's', nextStep: 'n', blockers: ['b'] };
      expect(await conversation.state()).toEqual({ ...all, plan: [], stateVersion: 4 });
    });
  });

  test('a state of the wrong shape is refused with its path, and what stood stands', async () => {
    await store.conversation().updateState({ blockers: ['b'] });
    const commit = { commitId: 'x', conversationId: 'c', changes: [{ kind: 'state.update', blockers: 'b' }] };
    await expect(store.ledger.namespace('n').commit(commit)).rejects.toMatchObject({
      code: 'invalid_value',
      details: { path: 'commit.changes[0].blockers' },
    });
    await store.everywhere(async (other) => expect((await other.state()).blockers).toEqual(['b']));
  });

  test('a conversation that was never written has none, and says so', async () => {
    expect(await store.conversation().exists()).toBe(false);
    await refused(store.conversation().state(), 'conversation_not_found', { conversationId: 'c' });
    await store.conversation().updateState({ stage: 's' });
    await store.everywhere(async (other) => expect(await other.exists()).toBe(true));
    await store.conversation().erase();
    await store.everywhere(async (other) => expect(await other.exists()).toBe(false));
  });

  test('is as it was at any earlier version', async () => {
    const conversation = store.conversation();
    await conversation.updateState({ stage: 'one' });
    await conversation.commit(turn('t1'));
    await conversation.updateState({ stage: 'two' });
    await store.everywhere(async (other) => {
      expect((await other.state({ atVersion: 1 })).stage).toBe('one');
      expect((await other.state({ atVersion: 2 })).stage).toBe('one');
      expect((await other.state({ atVersion: 3 })).stage).toBe('two');
    });
  });
});
