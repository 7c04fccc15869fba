import { describe, expect, test } from 'vitest';
import { refused, turn } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

describe.each(BACKENDS)('bindings, on %s', (backend) => {
  const store = storeFor(backend);
  const saved = { turnId: 't1', history: 'provider/main' };

  test('a turn keeps where it lives in each history of its provider', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.saveBinding({ ...saved, cursor: { response: 'r1' }, capture: 'live' });
    await conversation.saveBinding({ ...saved, history: 'provider/other', cursor: 'opaque', capture: 'replay' });
    await store.everywhere(async (other) => {
      expect(await other.bindings('t1')).toEqual([
        { ...saved, cursor: { response: 'r1' }, capture: 'live' },
        { ...saved, history: 'provider/other', cursor: 'opaque', capture: 'replay' },
      ]);
      expect(await other.bindings('nobody')).toEqual([]);
    });
  });

  test('a live capture is never overwritten; a replayed one may be', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.saveBinding({ ...saved, cursor: 1, capture: 'replay' });
    await conversation.saveBinding({ ...saved, cursor: 2, capture: 'live' });
    await store.everywhere(async (other) => {
      for (const capture of ['live', 'replay'] as const) {
        await refused(other.saveBinding({ ...saved, cursor: 3, capture }), 'binding_live', saved);
      }
      expect(await other.bindings('t1')).toMatchObject([{ cursor: 2, capture: 'live' }]);
    });
  });

  test('a binding is saved for a turn that the conversation sees, no other', async () => {
    await store.conversation().commit(turn('t1'));
    const binding = { ...saved, cursor: 1, capture: 'live' as const };
    await refused(store.conversation('d').saveBinding(binding), 'no_turn', { turnId: 't1' });
    await store.conversation().fork('t1.a', { conversationId: 'fork' });
    await store.conversation('fork').saveBinding(binding);
    await store.everywhere(async (fork) => expect(await fork.bindings('t1')).toMatchObject([{ cursor: 1 }]), 'fork');
    expect(await store.conversation().bindings('t1')).toEqual([]);
  });
});
