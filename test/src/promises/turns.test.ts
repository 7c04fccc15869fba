import type { Conversation } from 'turnkeep';
import { isTurnkeepError } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { assistant, everything, feed, refused, text, turn, user, words } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

describe.each(BACKENDS)('turns, on %s', (backend) => {
  const store = storeFor(backend);

  test('a submit is the prompt, its turn and its open operation, in one commit', async () => {
    const submitted = await store.conversation().submit({ prompt: text('hi') });
    expect(submitted).toMatchObject({ version: 1, graphRevision: 1, ordinal: 1 });
    await store.everywhere(async (conversation) => {
      const { turnId, operationId } = submitted;
      expect(await conversation.graph()).toMatchObject([
        { turnId, state: 'preparing', label: 'hi', parentTurnId: null },
      ]);
      expect(await conversation.openOperations()).toMatchObject([{ operationId, turnId, status: 'open' }]);
      expect(await words(conversation, turnId)).toEqual(['hi']);
    });
  });

  test('a parent of another conversation, an unknown one or the turn itself is impossible', async () => {
    await store.conversation().commit(turn('t1'));
    await store.conversation('d').commit(turn('foreign'));
    await store.conversation('c', 'other').commit(turn('tenant'));
    const before = await everything(store.conversation());
    await store.everywhere(async (conversation) => {
      for (const parent of ['foreign', 'tenant', 'nobody', 't2']) {
        const call = conversation.submit(
          { turnId: 't2', prompt: text('x'), parent: { turnId: parent } },
          { expect: { graphRevision: 2 } },
        );
        await refused(call, 'no_parent', { parent });
      }
      expect(await everything(conversation)).toEqual(before);
    });
  });

  test('the state of a turn goes forward, whoever comes late', async () => {
    const conversation = store.conversation();
    await conversation.submit({ turnId: 't1', prompt: text('hi') });
    await conversation.advance('t1', 'running');
    await store.everywhere(async (other) => {
      for (const to of ['preparing', 'dispatching', 'running'] as const) {
        await refused(other.advance('t1', to), 'illegal_transition', {
          machine: 'turn',
          id: 't1',
          from: 'running',
          to,
        });
      }
      expect(await other.graph()).toMatchObject([{ state: 'running' }]);
    });
    await store.conversation().advance('t1', 'completed');
    await store.everywhere(async (other) => {
      await refused(other.advance('t1', 'failed'), 'illegal_transition', {
        machine: 'turn',
        id: 't1',
        from: 'completed',
        to: 'failed',
      });
      await refused(other.append(assistant('more'), { turnId: 't1' }), 'turn_terminal', {
        turnId: 't1',
        state: 'completed',
      });
    });
  });

  test('a parent is named together with the graph revision that was seen', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    const again = { prompt: text('again'), parent: null };
    await refused(conversation.submit(again), 'expect_required', {
      field: 'graphRevision',
      change: 'commit.changes[0]',
    });
    await refused(conversation.submit(again, { expect: { graphRevision: 1 } }), 'conflict', {
      field: 'graphRevision',
      expected: 1,
      actual: 2,
    });
    expect(await conversation.submit(again, { expect: { graphRevision: 2 } })).toMatchObject({ ordinal: 2 });
  });

  test('the graph revision counts new turns and changes of the leaf, nothing else', async () => {
    const conversation = store.conversation();
    const revision = async () => (await conversation.info()).graphRevision;
    await conversation.commit(turn('t1'));
    expect(await revision()).toBe(2);
    await conversation.updateState({ stage: 'x' });
    await conversation.update({ title: 't' });
    expect(await revision()).toBe(2);
    await conversation.commit(turn('t2'));
    await conversation.select('t1', { expect: { graphRevision: 4 } });
    expect(await revision()).toBe(5);
  });

  test('the active leaf is kept: after a reopen the path is the one that was selected', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.commit(turn('t2'));
    await conversation.select('t1', { expect: { graphRevision: 4 } });
    await store.everywhere(async (other) => {
      expect((await other.info()).leaf).toBe('t1');
      expect(await words(other)).toEqual(['ask t1', 'answer t1']);
      expect(await other.graph()).toHaveLength(2);
    });
  });

  test('an edit and a regeneration are siblings of their own, with ordinals that never change', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.commit(turn('t2'));
    const under = { parent: { turnId: 't1' } };
    await conversation.submit({ turnId: 't3', prompt: text('edited'), ...under }, { expect: { graphRevision: 4 } });
    await conversation.advance('t3', 'completed');
    await conversation.submit({ turnId: 't4', samePromptAs: 't2', ...under }, { expect: { graphRevision: 6 } });
    await store.everywhere(async (other) => {
      expect(await other.siblings('t2')).toMatchObject([
        { turnId: 't2', ordinal: 1, why: 'start' },
        { turnId: 't3', ordinal: 2, why: 'edit' },
        { turnId: 't4', ordinal: 3, why: 'regenerate' },
      ]);
    });
  });

  test('ordinals have no gap and no repeat, however many writers branch at once', async () => {
    await store.conversation().commit(turn('t0'));
    const handle = await store.handles();
    await Promise.all(Array.from({ length: 12 }, (_, at) => branchUnder(handle(at), 't0', `b${at}`)));
    await store.everywhere(async (conversation) => {
      const siblings = await conversation.siblings('b0');
      expect(siblings.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
    });
  });

  test('a turn that was taken over from elsewhere may have no prompt', async () => {
    await store.conversation().record({ turnId: 't1', origin: 'import', messages: [user('old'), assistant('older')] });
    await store.everywhere(async (conversation) => {
      expect(await conversation.graph()).toMatchObject([{ turnId: 't1', state: 'completed' }]);
      expect(await words(conversation)).toEqual(['old', 'older']);
      await refused(conversation.submit({ samePromptAs: 't1' }), 'no_turn', { turnId: 't1' });
    });
  });

  test('a kind of change that is not known is refused with its path, never dropped', async () => {
    const commit = { commitId: 'x', conversationId: 'c', changes: [{ kind: 'turn.merge' }] };
    await refused(store.ledger.namespace('n').commit(commit), 'invalid_value', {
      path: 'commit.changes[0].kind',
      reason: 'no kind of change is called turn.merge',
    });
    expect(await store.conversation().exists()).toBe(false);
  });

  test('a fork keeps where it came from, and its source does not change', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    const before = await everything(conversation);
    await conversation.fork('t1.a', { conversationId: 'fork', title: 'mine' });
    await store.everywhere(async (fork) => {
      expect(await fork.info()).toMatchObject({ source: 'c', title: 'mine', leaf: 't1', version: 1 });
      const [first] = await feed(fork);
      expect(first?.events).toMatchObject([{ kind: 'conversation.fork', source: 'c', at: 't1.a', sourceVersion: 1 }]);
    }, 'fork');
    expect(await everything(store.conversation())).toEqual(before);
  });

  test('erasing a conversation takes its turns and prompts; a living fork keeps what it shares', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.commit(turn('t2', 'mine alone'));
    await conversation.fork('t1.a', { conversationId: 'fork' });
    await conversation.erase();
    await store.ledger.namespace('n').collect();
    await store.everywhere(async (fork) => {
      expect(await words(fork)).toEqual(['ask t1', 'answer t1']);
      expect((await fork.search('answer')).hits).toHaveLength(1);
    }, 'fork');
    expect(await store.logBytes('c')).toBeLessThan(300);
    await store.conversation('fork').erase();
    await store.ledger.namespace('n').collect();
    expect(await store.logBytes('c')).toBe(0);
    expect((await store.ledger.verify()).faults).toEqual([]);
    expect((await store.ledger.namespace('n').page()).items).toEqual([]);
  });
});

/** A caller who is told that the tree is another one reads it again and asks again. */
async function branchUnder(conversation: Conversation, parent: string, turnId: string): Promise<void> {
  for (;;) {
    const { graphRevision } = await conversation.info();
    try {
      const submit = { kind: 'turn.submit' as const, turnId, prompt: text(turnId), parent: { turnId: parent } };
      const end = { kind: 'turn.advance' as const, turnId, to: 'completed' as const };
      await conversation.commit([submit, end], { expect: { graphRevision } });
      return;
    } catch (error) {
      if (!isTurnkeepError(error, 'conflict')) throw error;
    }
  }
}
