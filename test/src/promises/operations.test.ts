import { describe, expect, test } from 'vitest';
import { everything, refusals, refused, text } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const FAILURE = { status: 'failed', code: 'provider_down', message: 'no answer' } as const;

describe.each(BACKENDS)('operations, on %s', (backend) => {
  const store = storeFor(backend);

  test('an operation is open, then succeeded, and its turn runs', async () => {
    const conversation = store.conversation();
    const { operationId, turnId } = await conversation.submit({ prompt: text('hi') });
    await store.everywhere(async (other) =>
      expect(await other.operation(operationId)).toMatchObject({ status: 'open', resolvedAt: null }),
    );
    await store.conversation().resolveOperation(operationId, { status: 'succeeded' });
    await store.everywhere(async (other) => {
      expect(await other.operation(operationId)).toMatchObject({ status: 'succeeded', turnId });
      expect(await other.openOperations()).toEqual([]);
      expect(await other.graph()).toMatchObject([{ turnId, state: 'running' }]);
    });
  });

  test('one that failed keeps why, and its turn failed with it', async () => {
    const conversation = store.conversation();
    const { operationId, turnId } = await conversation.submit({ prompt: text('hi') });
    await conversation.resolveOperation(operationId, FAILURE);
    await store.everywhere(async (other) => {
      const failure = { code: 'provider_down', message: 'no answer' };
      expect(await other.operation(operationId)).toMatchObject({ status: 'failed', failure });
      expect(await other.graph()).toMatchObject([{ turnId, state: 'failed' }]);
    });
  });

  test('the loser of a resolve is told how it ended and changes nothing, its turn included', async () => {
    const conversation = store.conversation();
    const { operationId } = await conversation.submit({ prompt: text('hi') });
    await conversation.resolveOperation(operationId, { status: 'succeeded' });
    const before = await everything(conversation);
    await store.everywhere(async (other) => {
      const details = { operationId, status: 'succeeded' as const };
      await refused(other.resolveOperation(operationId, FAILURE), 'operation_resolved', details);
      await refused(other.resolveOperation(operationId, { status: 'succeeded' }), 'operation_resolved', details);
      expect(await everything(other)).toEqual(before);
    });
  });

  test('of two that resolve at once exactly one wins, and the turn is the winner’s', async () => {
    const { operationId } = await store.conversation().submit({ prompt: text('hi') });
    const other = await store.elsewhere();
    const results = await Promise.allSettled([
      store.conversation().resolveOperation(operationId, { status: 'succeeded' }),
      other.resolveOperation(operationId, FAILURE),
    ]);
    const status = results[0].status === 'fulfilled' ? 'succeeded' : 'failed';
    expect(refusals(results)).toMatchObject([{ code: 'operation_resolved', details: { status } }]);
    await store.everywhere(async (conversation) => {
      expect(await conversation.operation(operationId)).toMatchObject({ status });
      expect(await conversation.graph()).toMatchObject([{ state: status === 'succeeded' ? 'running' : 'failed' }]);
    });
  });

  test('a repeated operation id answers what it was answered, before anything else is checked', async () => {
    const first = await store.conversation().submit({ operationId: 'op', prompt: text('hi') });
    const after = await everything(store.conversation());
    await store.everywhere(async (conversation) => {
      // Another commit, other words, an expectation that does not hold, a turn that is busy: it is the same operation.
      const again = await conversation.submit(
        { operationId: 'op', prompt: text('other'), parent: { turnId: 'nobody' } },
        { expect: { graphRevision: 77 } },
      );
      expect(again).toEqual({ ...first, replayed: true });
      expect(await everything(conversation)).toEqual(after);
    });
  });

  test('a conversation has one open operation', async () => {
    const { operationId, turnId } = await store.conversation().submit({ prompt: text('hi') });
    await store.everywhere(async (conversation) => {
      await refused(conversation.submit({ prompt: text('and') }), 'busy', { turnId, state: 'preparing' });
      expect(await conversation.openOperations()).toMatchObject([{ operationId }]);
    });
  });

  test('an operation does not outlive its question: when its turn ends, so does it', async () => {
    const conversation = store.conversation();
    const { operationId, turnId } = await conversation.submit({ prompt: text('hi') });
    await conversation.advance(turnId, 'cancelled');
    await store.everywhere(async (other) => {
      expect(await other.operation(operationId)).toMatchObject({ status: 'failed' });
      await refused(other.resolveOperation(operationId, { status: 'succeeded' }), 'operation_resolved', {
        operationId,
        status: 'failed',
      });
    });
  });
});
