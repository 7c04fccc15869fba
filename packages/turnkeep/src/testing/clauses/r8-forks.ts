import { fieldOf } from '../../core/event.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { refused, same } from '../check.ts';
import { append, HELD, play, says } from '../scenes.ts';
import type { Store } from '../store.ts';

async function path(store: Store, id: string, leaf?: string | null): Promise<readonly string[]> {
  const page = await (await store.look(id)).page(leaf === undefined ? {} : { leaf });
  return page.messages.map((message) => `${message.messageId} ${message.sequence}`);
}

const fork = (source: string, at: string) => [{ kind: 'conversation.fork' as const, source, at }];

export const forks: readonly ConformanceCase[] = [
  given(
    'R8',
    'a fork inherits what came up to and with its cut, sequences included, and goes on from there',
    async (store) => {
      await play(store, 'idle', 'c');
      const receipt = await store.commit('f', fork('c', 'm3'));
      same(
        receipt.events,
        [{ kind: 'conversation.fork', source: 'c', at: 'm3', sourceVersion: 4, startSequence: 4 }],
        'the event',
      );
      same(await path(store, 'f'), ['m1 1', 'm2 2', 'm3 3'], 'the path');
      await store.commit('f', [{ kind: 'turn.record', turnId: 'r', origin: 'x' }, append(says('user', 'x', 'own'))]);
      same(await path(store, 'f'), ['m1 1', 'm2 2', 'm3 3', 'own 4'], 'the path later');
      const info = await (await store.look('f')).info();
      same([info.source, info.messageCount, info.lastSequence, info.leaf], ['c', 1, 4, 'r'], 'the fork');
    },
  ),
  given('R8', 'I6: nothing written to the source after the cut changes the fork', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('f', fork('c', 'm5'));
    const before = [
      await path(store, 'f'),
      await (await store.look('f')).state(),
      await (await store.look('f')).tasks.list(),
      await (await store.look('f')).graph(),
    ];
    await store.commit('c', [
      { kind: 'task.transition', taskId: 'w1', to: 'failed' },
      { kind: 'state.update', stage: 'over' },
      { kind: 'commitment.resolve', which: { commitmentId: 'c1' } },
    ]);
    await store.commit('c', [{ kind: 'turn.record', turnId: 't9', origin: 'x' }, append(says('user', 'x', 'later'))]);
    same(
      [
        await path(store, 'f'),
        await (await store.look('f')).state(),
        await (await store.look('f')).tasks.list(),
        await (await store.look('f')).graph(),
      ],
      before,
      'the fork',
    );
    same((await (await store.look('f')).message('later')).status, 'not_found_confirmed', 'a later message');
  }),
  given('R8', 'nothing written to the fork changes its source', async (store) => {
    await play(store, 'idle', 'c');
    const before = [await path(store, 'c'), await (await store.look('c')).info()];
    await store.commit('f', fork('c', 'm5'));
    await store.commit('f', [
      { kind: 'task.transition', taskId: 'w1', to: 'failed' },
      { kind: 'state.update', stage: 'over' },
    ]);
    await store.commit('f', [{ kind: 'turn.record', turnId: 't9', origin: 'x' }, append(says('user', 'x', 'm9'))]);
    same([await path(store, 'c'), await (await store.look('c')).info()], before, 'the source');
    same((await (await store.look('c')).tasks.get('w1'))?.status, 'running', 'the task of the source');
    same((await (await store.look('f')).tasks.get('w1'))?.status, 'failed', 'the task of the fork');
  }),
  given('R8', 'forks of forks see through each other', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('f', fork('c', 'm5'));
    await store.commit('g', fork('f', 'm2'));
    await store.commit('h', fork('g', 'm2'));
    await store.commit('h', [{ kind: 'turn.record', turnId: 'r', origin: 'x' }, append(says('user', 'x', 'own'))]);
    await store.commit('i', fork('h', 'own'));
    same(await path(store, 'g'), ['m1 1', 'm2 2'], 'a fork of a fork');
    same(await path(store, 'i'), ['m1 1', 'm2 2', 'own 3'], 'a fork of a fork of a fork');
    same((await (await store.look('i')).state()).objective, 'a report', 'the objective');
    same(
      (await (await store.look('i')).graph()).map((turn) => [turn.turnId, turn.conversationId]),
      [
        ['t1', 'c'],
        ['r', 'h'],
      ],
      'the tree',
    );
  }),
  given('R8', 'a turn that is at work cannot be forked', async (store) => {
    await play(store, 'working', 'c');
    await refused(store.commit('f', fork('c', 'm6')), 'turn_open', { turnId: 't3', state: 'running' });
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'waiting' }], { fence: HELD });
    await refused(store.commit('f', fork('c', 'm6')), 'turn_open', { turnId: 't3', state: 'waiting' });
    await store.commit('f', fork('c', 'm5'));
    same(await path(store, 'f'), ['m1 1', 'm2 2', 'm3 3', 'm4 4', 'm5 5'], 'a fork at an older turn');
    await refused(store.commit('x', fork('c', 'nobody')), 'no_message', { messageId: 'nobody' });
  }),
  given('R8', 'a fork takes messages only in a turn of its own, and branches off what it inherits', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('f', fork('c', 'm5'));
    await refused(store.commit('f', [append(says('user', 'x'))]), 'no_turn', { turnId: 't2' });
    await refused(store.commit('f', [append(says('user', 'x'), null)]), 'no_turn', { turnId: null });
    await store.commit(
      'f',
      [{ kind: 'turn.record', turnId: 'r', parent: { turnId: 't1' }, origin: 'x' }, append(says('user', 'x', 'own'))],
      { expect: { graphRevision: 0 } },
    );
    same(await path(store, 'f'), ['m1 1', 'm2 2', 'own 6'], 'the path');
    same(
      (await (await store.look('f')).siblings('r')).map((turn) => [turn.turnId, turn.ordinal]).at(-1),
      ['r', 2],
      'its ordinal goes on from the inherited one',
    );
    await refused(
      store.commit('f', [{ kind: 'leaf.select', turnId: 't1' }], { expect: { graphRevision: 2 } }),
      'no_turn',
      { turnId: 't1' },
    );
    await store.commit('f', [{ kind: 'leaf.select', turnId: 't2' }], { expect: { graphRevision: 2 } });
    same((await path(store, 'f')).at(-1), 'm5 5', 'the end of the path that it was cut at');
  }),
  given('R8', 'an open call that a fork inherits is answered in the fork’s own turn', async (store) => {
    await store.commit('c', [
      { kind: 'turn.record', turnId: 'r', origin: 'x' },
      append({ role: 'assistant', parts: [{ type: 'tool_call', callId: 'l', name: 'f' }], messageId: 'call' }),
    ]);
    await store.commit('f', fork('c', 'call'));
    const answer = (messageId: string) =>
      append({ role: 'tool', parts: [{ type: 'tool_result', callId: 'l', status: 'ok' }], messageId });
    await refused(store.commit('f', [answer('early')]), 'no_turn', { turnId: 'r' });
    await store.commit('f', [
      { kind: 'turn.submit', turnId: 't', prompt: [] },
      { kind: 'turn.advance', turnId: 't', to: 'running' },
    ]);
    const receipt = await store.commit('f', [answer('late')]);
    same(fieldOf(receipt.events[0], 'turnId'), 't', 'its turn');
    await store.commit('c', [answer('at home')]);
    same(
      (await path(store, 'f')).map((one) => one.split(' ')[0]?.slice(0, 4)),
      ['call', 'msg_', 'late'],
      'the path of the fork',
    );
  }),
  given('R8', 'a source that grows long makes its forks no larger', async (store) => {
    await play(store, 'submitted', 'c');
    const sizeOf = async (id: string, at: string) => {
      await store.commit(id, fork('c', at));
      const lines = (await store.export()).split('\n');
      const start = lines.indexOf(JSON.stringify(['conversation', id]));
      const end = lines.findIndex((line, index) => index > start && line.startsWith('["conversation"'));
      return (end < 0 ? lines.length : end) - start;
    };
    const small = await sizeOf('f1', 'm2');
    await store.commit('c', [
      { kind: 'turn.advance', turnId: 't3', to: 'completed' },
      ...Array.from({ length: 300 }, (_, at) => [
        { kind: 'turn.record' as const, turnId: `n${at}`, origin: 'x' },
        append(says('user', `${at}`, `long-${at}`)),
      ]).flat(),
    ]);
    same(await sizeOf('f2', 'long-299'), small, 'rows and links of a fork');
  }),
];
