import { compareKeys } from '../../core/backend.ts';
import type { ListOptions } from '../../ledger/namespace.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import type { Change } from '../../core/change.ts';
import { append, play, says, text } from '../scenes.ts';
import type { Store } from '../store.ts';

const MINUTE = 60_000;

async function listed(store: Store, options: ListOptions = {}): Promise<readonly string[]> {
  const space = await store.readSpace();
  const ids: string[] = [];
  for await (const item of space.conversations(options)) ids.push(item.conversationId);
  return ids;
}

async function say(store: Store, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await store.commit(id, [append(says('user', `hello ${id}`))]);
}

export const lists: readonly ConformanceCase[] = [
  given('R3', 'the newest activity comes first, not the newest start', async (store) => {
    await say(store, 'a');
    store.clock.move(MINUTE);
    await say(store, 'b');
    store.clock.move(MINUTE);
    await say(store, 'c');
    store.clock.move(MINUTE);
    await say(store, 'a');
    same(await listed(store), ['a', 'c', 'b'], 'by activity');
    same(await listed(store, { order: 'created' }), ['c', 'b', 'a'], 'by start');
  }),
  given('R3', 'to look at a conversation, to rename it or to mark it read is no activity', async (store) => {
    await say(store, 'a');
    store.clock.move(MINUTE);
    await say(store, 'b');
    store.clock.move(MINUTE);
    await store.commit('a', [{ kind: 'conversation.update', title: 'x', readThrough: { reader: 'ann', sequence: 1 } }]);
    await (await store.look('a')).page({ leaf: null });
    same(await listed(store), ['b', 'a'], 'the list');
  }),
  given('R3', 'last activity never goes back with the clock', async (store) => {
    await say(store, 'a');
    await say(store, 'b');
    store.clock.move(-60 * MINUTE);
    await say(store, 'b');
    const times = (await (await store.readSpace()).page()).items.map((item) => item.lastActivityAt);
    same(times[0], times[1], 'the times of a and b');
  }),
  given('R3', 'ties are ordered by id, as UTF-8', async (store) => {
    const ids = ['b', 'a', '～', '😀', 'B', 'ä', 'a b', 'é', '10', '9', '\u{10000}', '\uffee', 'aa'];
    await say(store, ...ids);
    const expected = ids.toSorted(compareKeys);
    same(
      ids.toSorted(compareKeys),
      ids.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))),
      'this case’s own order',
    );
    same(await listed(store), expected, 'the list');
    for (const limit of [1, 2, 5, 12, 13])
      same(await listed(store, { limit }), expected, `the list in pages of ${limit}`);
    for (const limit of [1, 4])
      same(await listed(store, { limit, order: 'created' }), expected, `by start in pages of ${limit}`);
  }),
  given('R3', 'pages go on where they ended, whatever comes in between', async (store) => {
    const ids = Array.from({ length: 20 }, (_, at) => `c${at}`);
    for (const id of ids) {
      await say(store, id);
      store.clock.move(MINUTE);
    }
    const expected = ids.toReversed();
    const first = await (await store.readSpace()).page({ limit: 8 });
    await say(store, 'newest');
    const rest = await (await store.readSpace()).page({ limit: 100, after: first.next ?? '' });
    same(
      [...first.items, ...rest.items].map((item) => item.conversationId),
      expected,
      'both pages',
    );
    same(rest.next, null, 'the end');
    const exact = await (await store.readSpace()).page({ limit: 21 });
    same([exact.items.length, exact.next], [21, null], 'a page of exactly all');
  }),
  given('R3', 'owner, participant, label and archived choose', async (store) => {
    const fields = [
      ['a', { owner: 'ann', labels: ['work', 'x'], participants: ['bob'] }],
      ['b', { owner: 'ann', labels: ['home'], archived: true }],
      ['c', { owner: 'bob', labels: ['work'], participants: ['ann', 'bob'] }],
      ['d', {}],
      ['e', { owner: '__proto__', labels: ['constructor'], participants: ['toString'] }],
    ] as const;
    for (const [id, more] of fields) await store.commit(id, [{ kind: 'conversation.create', ...more }]);
    same(await listed(store, { owner: 'ann' }), ['a', 'b'], 'of ann');
    same(await listed(store, { owner: 'ann', archived: false }), ['a'], 'of ann, not archived');
    same(await listed(store, { archived: true }), ['b'], 'archived');
    same(await listed(store, { label: 'work' }), ['a', 'c'], 'labelled work');
    same(await listed(store, { participant: 'bob', limit: 1 }), ['a', 'c'], 'with bob, in pages of one');
    same(await listed(store, { owner: 'bob', label: 'work', participant: 'ann' }), ['c'], 'all of it');
    same(
      await listed(store, { owner: '__proto__', label: 'constructor', participant: 'toString' }),
      ['e'],
      'names that every object has',
    );
    same(await listed(store, { owner: 'constructor' }), [], 'of a name that every object has');
    await store.commit('a', [{ kind: 'conversation.update', owner: null, labels: [] }]);
    await store.commit('b', [{ kind: 'conversation.update', archived: false, owner: 'cid' }]);
    same(await listed(store, { owner: 'ann' }), [], 'of ann, later');
    same(await listed(store, { label: 'work' }), ['c'], 'labelled work, later');
    same(await listed(store, { owner: 'cid', archived: false }), ['b'], 'of cid');
  }),
  given(
    'R3',
    'fields that are absent stay, null clears, a person’s title is never replaced by an automatic one',
    async (store) => {
      await store.commit('c', [
        {
          kind: 'conversation.create',
          title: 'auto',
          titleSource: 'auto',
          owner: 'ann',
          labels: ['x'],
          metadata: { a: 1 },
        },
      ]);
      const title = async (change: object) => {
        await store.send({
          commitId: `k${JSON.stringify(change)}`,
          conversationId: 'c',
          changes: [{ kind: 'conversation.update', ...change }],
        });
        const info = await (await store.look('c')).info();
        return [info.title, info.titleSource, info.owner, info.labels, info.metadata];
      };
      const rest = ['ann', ['x'], { a: 1 }];
      same(await title({ title: 'auto 2', titleSource: 'auto' }), ['auto 2', 'auto', ...rest], 'an automatic title');
      same(await title({ title: 'mine' }), ['mine', 'user', ...rest], 'a person’s title');
      same(
        await title({ title: 'auto 3', titleSource: 'auto' }),
        ['mine', 'user', ...rest],
        'an automatic title after a person’s',
      );
      const [none, , owner] = await title({ title: null, owner: null });
      same([none, owner], [null, null], 'no title and no owner');
      same(
        await title({ title: 'auto 4', titleSource: 'auto' }),
        ['auto 4', 'auto', null, ['x'], { a: 1 }],
        'an automatic title again',
      );
    },
  ),
  given('R3', 'unread counts what came after a reader’s mark, and the mark never goes back', async (store) => {
    await play(store, 'submitted', 'c');
    const read = async (sequence: number, reader = 'ann') => {
      await store.commit('c', [{ kind: 'conversation.update', readThrough: { reader, sequence } }]);
      return (await (await store.look('c')).info({ reader })).unread;
    };
    same(await read(2), 4, 'unread of ann');
    same(await read(1), 4, 'unread after a mark further back');
    same(await read(5), 1, 'unread later');
    same(await read(0, 'bob'), 6, 'unread of bob');
    same(await read(6), 0, 'unread after a mark at the end');
    await store.commit('c', [append(says('user', 'x'), 't3')]);
    same((await (await store.readSpace()).page({ reader: 'ann' })).items[0]?.unread, 1, 'unread in the list');
    same(
      (await (await store.look('c')).info({ reader: '__proto__' })).unread,
      7,
      'unread of a name that every object has',
    );
    const said = { ...says('user', 'mine'), author: { id: 'ann', kind: 'human' as const } };
    await store.commit('c', [
      append(said, 't3'),
      { kind: 'conversation.update', readThrough: { reader: 'ann', sequence: 8 } },
    ]);
    same(
      (await (await store.look('c')).info({ reader: 'ann' })).unread,
      0,
      'unread after own words and a mark at them',
    );
  }),
  given('R3', 'a list shows title, counts and the last words, never half a character', async (store) => {
    await play(store, 'submitted', 'c');
    for (let length = 110; length <= 130; length++) {
      await store.commit('c', [append(says('user', `${'a'.repeat(length - 1)}🔥🔥🔥🔥🔥🔥🔥🔥🔥🔥`), 't3')]);
      const [item] = (await (await store.readSpace()).page()).items;
      holds(item?.lastMessage?.preview.isWellFormed(), 'a preview ends in half a character');
    }
    const [item] = (await (await store.readSpace()).page()).items;
    same(
      [item?.title, item?.messageCount, item?.turnCount, item?.state, item?.openOperation, item?.leaf],
      ['A plan', 27, 3, 'busy', 'o3', 't2'],
      'the item',
    );
  }),
  given('R3', 'what is at work is told', async (store) => {
    await play(store, 'working', 'c');
    const conversation = await store.look('c');
    same([(await conversation.info()).state, await conversation.openOperations()], ['busy', []], 'running');
    await store.commit('d', [{ kind: 'turn.submit', turnId: 't', operationId: 'o', prompt: [] }]);
    const open = await (await store.look('d')).openOperations();
    same(
      open.map((operation) => [operation.operationId, operation.turnId, operation.status]),
      [['o', 't', 'open']],
      'the open operation',
    );
    await store.commit('d', [
      { kind: 'operation.resolve', operationId: 'o', outcome: { status: 'failed', code: 'gone', message: 'why' } },
    ]);
    const failed = await (await store.look('d')).operation('o');
    same([failed?.status, failed?.failure], ['failed', { code: 'gone', message: 'why' }], 'the failed operation');
    same((await (await store.look('d')).info()).state, 'idle', 'its conversation');
  }),
  given('R3', 'an erased conversation is not listed', async (store) => {
    await say(store, 'a', 'b', 'c');
    await store.commit('b', [{ kind: 'conversation.erase' }]);
    same(await listed(store, { limit: 1 }), ['a', 'c'], 'the list');
    same(await listed(store, { order: 'created' }), ['a', 'c'], 'by start');
  }),
  given(
    'R3',
    'a sub-agent is listed only where it is asked for, ends with its parent’s turn and is erased with it',
    async (store) => {
      await play(store, 'working', 'c');
      const spawn: Change = {
        kind: 'conversation.spawn',
        parent: { conversationId: 'c', turnId: 't3' },
        agent: 'finder',
      };
      await store.commit('sub', [spawn]);
      const ask = (turnId: string): Change => ({ kind: 'turn.submit', turnId, prompt: [text('look')] });
      await store.commit('sub', [ask('u1')]);
      same(await listed(store), ['c'], 'the list');
      same((await listed(store, { includeSubAgents: true })).toSorted(), ['c', 'sub'], 'the whole list');
      await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'cancelled' }]);
      await store.untouchedBy(async () => {
        const ended = { conversationId: 'c', turnId: 't3', state: 'cancelled' };
        await refused(
          store.commit('sub', [{ kind: 'turn.advance', turnId: 'u1', to: 'running' }]),
          'parent_ended',
          ended,
        );
        await refused(store.commit('sub', [ask('u2')]), 'parent_ended', ended);
      });
      await store.commit('c', [{ kind: 'conversation.erase' }]);
      await refused(store.commit('sub', [{ kind: 'conversation.update', title: 'x' }]), 'erased');
      same(await listed(store, { includeSubAgents: true }), [], 'what is left');
    },
  ),
  given('R3', 'a cursor that is not one of ours is told so', async (store) => {
    await say(store, 'a');
    const space = await store.readSpace();
    for (const after of ['', 'x', 'e30']) await refused(space.page({ after }), 'bad_cursor');
  }),
];
