import type { AgentTurn } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { refused, text, user } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

const usage = { provider: 'some', model: 'large', cost: { amount: '0.1', currency: 'USD' } };

describe.each(BACKENDS)('sub-agents, on %s', (backend) => {
  const store = storeFor(backend);

  /** A turn at work that calls a tool, and the conversation of the sub-agent that does it. */
  async function spawned() {
    const conversation = store.conversation();
    const { turnId } = await conversation.submit({ prompt: text('find it') });
    const asks = { role: 'assistant' as const, parts: [{ type: 'tool_call' as const, callId: 'x1', name: 'find' }] };
    await conversation.commit([
      { kind: 'turn.advance', turnId, to: 'running' },
      { kind: 'message.append', message: asks, turnId },
    ]);
    const child = await conversation.spawn({ turnId, callId: 'x1', agent: 'finder' }, { idempotencyKey: 'spawn' });
    const work = await child.submit({ prompt: text('look here') });
    await child.advance(work.turnId, 'running');
    return { turnId, childId: child.id, childTurn: work.turnId };
  }

  test('has a conversation under a turn and a call, which lists leave out', async () => {
    const { turnId, childId } = await spawned();
    const again = await store
      .conversation()
      .spawn({ turnId, callId: 'x1', agent: 'finder' }, { idempotencyKey: 'spawn' });
    expect(again.id).toBe(childId);
    const parent = { conversationId: 'c', turnId, callId: 'x1' };
    await store.everywhere(async (conversation) => {
      expect(await conversation.subAgents()).toEqual([{ conversationId: childId, turnId, callId: 'x1' }]);
      const info = await store.conversation(childId).info();
      expect(info).toMatchObject({ parent, origin: { kind: 'sub_agent', ...parent, agent: 'finder' } });
      const space = store.ledger.namespace('n');
      expect((await space.page()).items.map(({ conversationId }) => conversationId)).toEqual(['c']);
      expect((await space.page({ includeSubAgents: true })).items).toHaveLength(2);
    });
  });

  test('counts what it uses upward', async () => {
    const { turnId, childId, childTurn } = await spawned();
    await store.conversation().usage.record({ ...usage, turnId });
    await store.conversation(childId).usage.record({ ...usage, turnId: childTurn });
    await store.everywhere(async (conversation) => {
      expect(await conversation.usage.ofTurn(turnId)).toMatchObject({ calls: 2, cost: { USD: '0.2' } });
      expect(await store.conversation(childId).usage.total()).toMatchObject({ calls: 1 });
      expect(await store.ledger.namespace('n').usage.total()).toMatchObject({ calls: 2, cost: { USD: '0.2' } });
    });
  });

  test('is cancelled with the turn that it works for', async () => {
    const { turnId, childId, childTurn } = await spawned();
    await store.conversation().advance(turnId, 'cancelled');
    await store.everywhere(async () => {
      expect(await store.conversation(childId).graph()).toMatchObject([{ turnId: childTurn, state: 'cancelled' }]);
    });
    const ended = { conversationId: 'c', turnId, state: 'cancelled' };
    await refused(store.conversation(childId).submit({ prompt: text('more') }), 'parent_ended', ended);
  });

  test('can bring nothing to an end once its parent was cancelled, though nobody has told it yet', async () => {
    const { turnId, childId, childTurn } = await spawned();
    await store.conversation().commit([{ kind: 'turn.advance', turnId, to: 'cancelled' }]);
    const ended = { conversationId: 'c', turnId, state: 'cancelled' };
    await refused(store.conversation(childId).advance(childTurn, 'completed'), 'parent_ended', ended);
    await store.everywhere(async () =>
      expect(await store.conversation(childId).info()).toMatchObject({ state: 'busy' }),
    );
  });

  test('is cancelled where the agent that it works for fails, gives up or is stopped', async () => {
    const conversation = store.conversation();
    const work = async (key: string, end: (turn: AgentTurn) => Promise<unknown>) => {
      const agent = async (turn: AgentTurn): Promise<void> => {
        const child = await conversation.spawn({ turnId: turn.turnId, conversationId: key });
        await child.submit({ prompt: text('look here') });
        await end(turn);
      };
      await conversation.run({ prompt: text(key) }, agent, { idempotencyKey: key }).catch(() => undefined);
    };
    await work('fails', async () => Promise.reject(new Error('no luck')));
    await work('gives up', async (turn) => turn.cancel({ reason: 'enough' }));
    await work('is stopped', async (turn) => conversation.stop(turn.turnId, 'enough'));
    await store.everywhere(async () => {
      for (const id of ['fails', 'gives up', 'is stopped'])
        expect(await store.conversation(id).graph()).toMatchObject([{ state: 'cancelled' }]);
    });
  });

  test('is erased with its parent, in the same commit, and leaves nothing', async () => {
    const { childId } = await spawned();
    await store.conversation(childId).append(user('a secret'));
    await store.conversation().erase();
    const gone = await store.conversation(childId).exists();
    expect(gone).toBe(false);
    await store.ledger.namespace('n').collect();
    await store.reopen();
    expect((await store.ledger.namespace('n').search('secret')).hits).toEqual([]);
    expect((await store.ledger.namespace('n').page({ includeSubAgents: true })).items).toEqual([]);
    await store.ledger.backend.read('n', (rows) => {
      for (let version = 1; version <= (rows.head(childId)?.version ?? 0); version++)
        expect(JSON.stringify(rows.log(childId, version))).not.toContain('secret');
    });
  });
});
