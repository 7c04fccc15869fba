import { describe, expect, test } from 'vitest';
import { refused, text, turn } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

describe.each(BACKENDS)('commitments, on %s', (backend) => {
  const store = storeFor(backend);

  test('what is promised is an open loop until it is fulfilled or expired', async () => {
    const { commitments } = store.conversation();
    await commitments.add({ commitmentId: 'a', content: 'send the report' });
    await commitments.add({ commitmentId: 'b', content: 'call back', type: ' Follow_Up ' });
    await commitments.add({ commitmentId: 'c', content: 'order lunch' });
    await commitments.resolve({ commitmentId: 'a' });
    await commitments.expire({ commitmentId: 'c' });
    await store.everywhere(async (conversation) => {
      const list = await conversation.commitments.list();
      expect(list.map(({ commitmentId, status }) => [commitmentId, status])).toEqual([
        ['a', 'fulfilled'],
        ['b', 'open'],
        ['c', 'expired'],
      ]);
      expect(await conversation.commitments.openLoops()).toMatchObject([{ commitmentId: 'b', type: 'follow_up' }]);
      expect(await conversation.commitments.list({ type: 'FOLLOW_UP ' })).toMatchObject([{ commitmentId: 'b' }]);
      expect(await conversation.commitments.list({ status: 'expired' })).toMatchObject([{ content: 'order lunch' }]);
    });
  });

  test('a text fulfils every open one that contains it, and the answer says which', async () => {
    const { commitments } = store.conversation();
    await commitments.add({ commitmentId: 'a', content: 'send the report' });
    await commitments.add({ commitmentId: 'b', content: 'read the report' });
    await commitments.add({ commitmentId: 'c', content: 'read the paper' });
    await commitments.expire({ commitmentId: 'b' });
    expect(await commitments.resolve({ matching: 'the report' })).toEqual(['a']);
    expect(await commitments.resolve({ matching: 'no such thing' })).toEqual([]);
    await store.everywhere(async (conversation) => {
      expect((await conversation.commitments.openLoops()).map(({ commitmentId }) => commitmentId)).toEqual(['c']);
      expect(await conversation.commitments.list({ status: 'expired' })).toMatchObject([{ commitmentId: 'b' }]);
    });
  });

  test('a blank text would fit everything, and is refused', async () => {
    const { commitments } = store.conversation();
    await commitments.add({ content: 'send the report' });
    for (const matching of ['', ' \n']) {
      await expect(commitments.resolve({ matching })).rejects.toMatchObject({ code: 'invalid_value' });
      await expect(commitments.expire({ matching })).rejects.toMatchObject({ code: 'invalid_value' });
    }
    await expect(commitments.add({ content: ' ' })).rejects.toMatchObject({ code: 'invalid_value' });
    await store.everywhere(async (conversation) => expect(await conversation.commitments.openLoops()).toHaveLength(1));
  });

  test('constraints are confirmed and decisions made when they are fulfilled, by type or by prefix', async () => {
    const { commitments } = store.conversation();
    await commitments.add({ content: 'no downtime', type: 'constraint' });
    await commitments.add({ content: 'Constraint:  keep the schema' });
    await commitments.add({ content: 'constraint: never confirmed' });
    await commitments.add({ content: 'use the queue', type: 'decision' });
    await commitments.add({ content: 'DECISION: ship on Monday' });
    await commitments.add({ content: 'about a decision: nothing' });
    for (const matching of ['downtime', 'schema', 'queue', 'Monday', 'nothing'])
      await commitments.resolve({ matching });
    await store.everywhere(async (conversation) => {
      expect(await conversation.commitments.confirmedConstraints()).toEqual(['no downtime', 'keep the schema']);
      expect(await conversation.commitments.recentDecisions()).toEqual(['use the queue', 'ship on Monday']);
    });
  });

  test('what was fulfilled stays so: whoever closes it again is told', async () => {
    const { commitments } = store.conversation();
    await commitments.add({ commitmentId: 'a', content: 'send the report' });
    await commitments.resolve({ commitmentId: 'a' });
    await store.everywhere(async (conversation) => {
      await refused(conversation.commitments.expire({ commitmentId: 'a' }), 'illegal_transition', {
        machine: 'commitment',
        id: 'a',
        from: 'fulfilled',
        to: 'expired',
      });
    });
  });

  test('what an abandoned branch promised never enters another one', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.commit(turn('t2'));
    await conversation.commitments.add({ content: 'abandoned' });
    await conversation.submit(
      { turnId: 't3', prompt: text('rather'), parent: { turnId: 't1' } },
      { expect: { graphRevision: 4 } },
    );
    await conversation.advance('t3', 'running');
    await store.everywhere(async (other) => {
      expect(await other.commitments.openLoops()).toEqual([]);
      expect(await other.commitments.openLoops({ leaf: 't2' })).toMatchObject([{ content: 'abandoned' }]);
    });
  });
});
