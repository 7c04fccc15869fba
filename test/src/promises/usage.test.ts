import { describe, expect, test } from 'vitest';
import { refused } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const ask = (text: string) => [{ type: 'text' as const, text }];
const dollars = (amount: string) => ({ cost: { amount, currency: 'USD' } });
const call = { kind: 'usage.record', provider: 'some', model: 'large' } as const;

describe.each(BACKENDS)('usage, on %s', (backend) => {
  const store = storeFor(backend);

  test('what a turn used is recorded in the commit of what it paid for, once', async () => {
    const conversation = store.conversation();
    const { turnId } = await conversation.submit({ prompt: ask('how much?') });
    const answered = () =>
      conversation.commit(
        [
          { kind: 'turn.advance', turnId, to: 'running' },
          { kind: 'message.append', message: { role: 'assistant', parts: ask('this much') }, turnId },
          { ...call, usageId: 'resp-1', turnId, inputTokens: 900, outputTokens: 20, ...dollars('0.0031') },
          { kind: 'turn.advance', turnId, to: 'completed' },
        ],
        { idempotencyKey: 'answer' },
      );
    await answered();
    expect(await answered()).toMatchObject({ replayed: true });
    await store.everywhere(async ({ usage }) => {
      const sum = { calls: 1, inputTokens: 900, outputTokens: 20, cost: { USD: '0.0031' } };
      expect(await usage.ofTurn(turnId)).toMatchObject(sum);
      expect(await usage.total()).toMatchObject(sum);
      expect(await usage.get('resp-1')).toMatchObject({ turnId, model: 'large', inputTokens: 900 });
    });
    await refused(store.conversation().usage.ofTurn('nowhere'), 'no_turn', { turnId: 'nowhere' });
  });

  test('a conversation costs what its calls cost, by model, and the namespace what its conversations do', async () => {
    const space = store.ledger.namespace('n');
    const record = (id: string, model: string, amount: string) =>
      space.conversation(id).usage.record({ provider: 'some', model, inputTokens: 1, ...dollars(amount) });
    await Promise.all(Array.from({ length: 30 }, (_, at) => record(`c${at % 3}`, at % 2 ? 'small' : 'large', '0.1')));
    await space.conversation('c2').erase();
    await space.collect();
    await store.everywhere(async ({ usage }) => {
      expect(await usage.total()).toMatchObject({ calls: 10, inputTokens: 10, cost: { USD: '1.0' } });
    }, 'c0');
    const total = await store.ledger.namespace('n').usage.total();
    expect(total).toMatchObject({ calls: 30, cost: { USD: '3.0' } });
    expect(total.models.map(({ model, cost }) => [model, cost])).toEqual([
      ['large', { USD: '1.5' }],
      ['small', { USD: '1.5' }],
    ]);
    const days = await store.ledger.namespace('n').usage.byDay();
    expect(days.reduce((calls, day) => calls + day.calls, 0)).toBe(30);
    expect(await store.ledger.namespace('n').usage.byDay({ to: '2020-01-01' })).toEqual([]);
    expect(await store.ledger.namespace('elsewhere').usage.total()).toMatchObject({ calls: 0, cost: {}, models: [] });
    const { items } = await store.ledger.namespace('n').page();
    expect(items.map(({ conversationId }) => conversationId).toSorted()).toEqual(['c0', 'c1']);
  });
});
