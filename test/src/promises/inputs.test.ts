import { describe, expect, test } from 'vitest';
import { refused } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const ask = (text: string) => [{ type: 'text' as const, text }];

describe.each(BACKENDS)('inputs of a busy conversation, on %s', (backend) => {
  const store = storeFor(backend);

  test('what a user says while a turn is at work waits, and starts the next turns in its order', async () => {
    const conversation = store.conversation();
    const first = await conversation.submit({ prompt: ask('one') });
    const second = await conversation.submit({ prompt: ask('two'), whenBusy: 'enqueue', operationId: 'op-2' });
    expect(second).toMatchObject({ inputId: 'op-2', revision: 0 });
    await conversation.submit({ prompt: ask('three'), whenBusy: 'enqueue', operationId: 'op-3' });
    await store.everywhere(async ({ inputs }) => {
      expect(await inputs.waiting()).toMatchObject([
        { inputId: 'op-2', mode: 'queued', prompt: ask('two') },
        { inputId: 'op-3', mode: 'queued', prompt: ask('three') },
      ]);
    });
    await refused(store.conversation().inputs.startNext(), 'busy', { turnId: first.turnId, state: 'preparing' });
    for (const operationId of ['op-2', 'op-3']) {
      const [open] = await store.conversation().openOperations();
      await store.conversation().advance(open?.turnId ?? '', 'completed');
      expect(await store.conversation().inputs.startNext()).toMatchObject({ operationId });
    }
    await store.everywhere(async (again) => {
      expect(await again.inputs.waiting()).toEqual([]);
      expect(await again.openOperations()).toMatchObject([{ operationId: 'op-3', status: 'open' }]);
      expect(await again.operation('op-2')).toMatchObject({ status: 'succeeded' });
    });
  });

  test('an input that waits can be edited and withdrawn, and is delivered once', async () => {
    const { inputs } = store.conversation();
    await store.conversation().submit({ prompt: ask('one'), turnId: 't1' });
    const { inputId, revision } = await inputs.enqueue({ prompt: ask('in blue'), mode: 'steering' });
    await inputs.edit(inputId, revision, { prompt: ask('in green') });
    const stale = { inputId, expectedRevision: revision, actualRevision: revision + 1 };
    await refused(inputs.edit(inputId, revision, { prompt: ask('in red') }), 'input_conflict', stale);
    const other = await inputs.enqueue({ prompt: ask('never mind') });
    await inputs.withdraw(other.inputId);
    expect(await inputs.deliverInto('t1')).toMatchObject({ inputId, turnId: 't1', sequence: 2 });
    await refused(inputs.deliverInto('t1', { inputId }), 'input_settled', { inputId, status: 'delivered' });
    expect(await inputs.deliverInto('t1')).toBeUndefined();
    await store.everywhere(async (conversation) => {
      const { messages } = await conversation.page({ leaf: 't1' });
      expect(messages.map(({ parts }) => parts)).toEqual([ask('one'), ask('in green')]);
      expect(await conversation.inputs.get(other.inputId)).toMatchObject({ status: 'withdrawn', prompt: [] });
      expect((await conversation.search('never mind')).hits).toEqual([]);
      expect((await conversation.search('in green')).hits).toHaveLength(1);
    });
  });

  test('a submit that had to wait and is sent again, by whoever did not see its answer, waits once', async () => {
    const conversation = store.conversation();
    await conversation.submit({ prompt: ask('one'), turnId: 't1' });
    const again = () => conversation.submit({ prompt: ask('two'), whenBusy: 'enqueue', operationId: 'op' });
    const [first, second] = await Promise.all([again(), again()]);
    expect([first, second].filter((answer) => answer.replayed)).toHaveLength(1);
    expect(await conversation.inputs.waiting()).toHaveLength(1);
    await conversation.advance('t1', 'completed');
    const started = await conversation.inputs.startNext();
    expect(await again()).toMatchObject({ replayed: true, turnId: started?.turnId, operationId: 'op' });
    await store.everywhere(async ({ inputs }) => expect(await inputs.waiting()).toEqual([]));
  });

  test('a submit that interrupts cancels the turn at work in its own commit', async () => {
    const conversation = store.conversation();
    const { turnId } = await conversation.submit({ prompt: ask('one'), operationId: 'op-1' });
    const next = await conversation.submit({ prompt: ask('two'), whenBusy: 'interrupt' });
    expect(next.interrupted).toEqual([turnId]);
    await store.everywhere(async (again) => {
      expect(await again.graph()).toMatchObject([{ state: 'cancelled' }, { turnId: next.turnId, state: 'preparing' }]);
      expect(await again.operation('op-1')).toMatchObject({ status: 'failed' });
      expect((await again.info()).version).toBe(2);
    });
  });

  test('the erasure of a person takes back what they said and nobody delivered', async () => {
    const conversation = store.conversation();
    await conversation.submit({ prompt: ask('one') });
    const author = { id: 'ann', kind: 'human' as const };
    const { inputId } = await conversation.inputs.enqueue({ prompt: ask('my secret'), author });
    const kept = await conversation.inputs.enqueue({ prompt: ask('other words') });
    await store.ledger.namespace('n').eraseSubject('ann', { idempotencyKey: 'erase' });
    await store.everywhere(async ({ inputs }) => {
      expect(await inputs.waiting()).toMatchObject([{ inputId: kept.inputId }]);
      expect(await inputs.get(inputId)).toMatchObject({ status: 'withdrawn', prompt: [] });
    });
  });
});
