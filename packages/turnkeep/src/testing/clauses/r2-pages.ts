import { fieldOf } from '../../core/event.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { append, IDLE_LEAF, play, says, text } from '../scenes.ts';
import type { Store } from '../store.ts';

async function pathOf(
  store: Store,
  id: string,
  options: { readonly leaf?: string | null; readonly pageSize?: number } = {},
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const message of (await store.look(id)).read(options)) found.push(message.messageId);
  return found;
}

const SCENE_PATH = ['m1', 'm2', 'm3', 'm4', 'm5'];

/** Two branches under t1 that grow in turns: a0, b0, a1, b1, … */
async function grow(store: Store, turns: number): Promise<void> {
  await play(store, 'idle', 'c');
  const info = await (await store.conversation('c')).info();
  let revision = info.graphRevision;
  for (let at = 0; at < turns; at++) {
    for (const branch of ['a', 'b']) {
      const parent = { turnId: at === 0 ? 't1' : `${branch}${at - 1}` };
      await store.commit(
        'c',
        [
          { kind: 'turn.record', turnId: `${branch}${at}`, parent, origin: 'import' },
          append(says('user', branch, `${branch}-${at}`)),
        ],
        { expect: { graphRevision: revision } },
      );
      revision += 2;
    }
  }
}

export const pages: readonly ConformanceCase[] = [
  given('R2', 'pages of every size hold the path, in order, without a gap and a repeat', async (store) => {
    await play(store, 'submitted', 'c');
    for (let at = 0; at < 40; at++) await store.commit('c', [append(says('user', `word ${at}`, `n${at}`), 't3')]);
    const expected = [...SCENE_PATH, 'm6', ...Array.from({ length: 40 }, (_, at) => `n${at}`)];
    for (const pageSize of [1, 7, 45, 46, 47, 1000])
      same(await pathOf(store, 'c', { leaf: 't3', pageSize }), expected, `pages of ${pageSize}`);
  }),
  given('R2', 'a page’s cursor pins its path: later commits do not disturb it', async (store) => {
    await play(store, 'submitted', 'c');
    const first = await (await store.look('c')).page({ leaf: 't3', limit: 2 });
    await store.commit('c', [append(says('user', 'later', 'later'), 't3')]);
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'completed' }]);
    await store.commit('c', [
      { kind: 'turn.record', turnId: 't9', origin: 'import' },
      append(says('user', 'x', 'other')),
    ]);
    const rest = await (await store.look('c')).page({ after: first.next ?? '' });
    same(
      [...first.messages, ...rest.messages].map((message) => message.messageId),
      [...SCENE_PATH, 'm6'],
      'the path as it was',
    );
    same(rest.next, null, 'the end');
  }),
  given('R2', 'a path holds no message of a sibling branch, however they grew', async (store) => {
    await grow(store, 10);
    const branch = (name: string) => ['m1', 'm2', ...Array.from({ length: 10 }, (_, at) => `${name}-${at}`)];
    same(await pathOf(store, 'c', { leaf: 'a9', pageSize: 5 }), branch('a'), 'branch a');
    same(await pathOf(store, 'c', { leaf: 'b9', pageSize: 5 }), branch('b'), 'branch b');
    same(await pathOf(store, 'c', { leaf: IDLE_LEAF }), SCENE_PATH, 'the first branch');
    same(
      (await (await store.look('c')).window(5, { leaf: 'a9' })).messages.map((one) => one.messageId),
      branch('a').slice(-5),
      'the last five of a',
    );
  }),
  given('R2', 'the tree has every turn with its parent, its ordinal and its state', async (store) => {
    await grow(store, 2);
    const graph = await (await store.look('c')).graph();
    const seen = new Set<string | null>([null]);
    for (const turn of graph) {
      holds(seen.has(turn.parentTurnId), `turn ${turn.turnId} comes before its parent`);
      seen.add(turn.turnId);
    }
    same(
      graph.map((turn) => [turn.turnId, turn.parentTurnId, turn.ordinal, turn.why, turn.state, turn.label]),
      [
        ['t1', null, 1, 'start', 'completed', 'the first question'],
        ['t2', 't1', 1, 'start', 'completed', 'the second question'],
        ['a0', 't1', 2, 'edit', 'completed', 'a'],
        ['b0', 't1', 3, 'edit', 'completed', 'b'],
        ['a1', 'a0', 1, 'start', 'completed', 'a'],
        ['b1', 'b0', 1, 'start', 'completed', 'b'],
      ],
      'the tree',
    );
    same(
      (await (await store.look('c')).siblings('a0')).map((turn) => [turn.turnId, turn.ordinal]),
      [
        ['t2', 1],
        ['a0', 2],
        ['b0', 3],
      ],
      'the siblings',
    );
  }),
  given('R2', 'a rewind to a message leaves out what came after it', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit(
      'c',
      [
        { kind: 'turn.record', turnId: 'r', parent: { messageId: 'm1' }, origin: 'import' },
        append(says('assistant', 'x', 'x')),
      ],
      { expect: { graphRevision: 4 } },
    );
    same(await pathOf(store, 'c'), ['m1', 'x'], 'the path');
    const conversation = await store.look('c');
    const turn = (await conversation.graph()).find((one) => one.turnId === 'r');
    same([turn?.parentTurnId, turn?.parentMessageId], ['t1', 'm1'], 'the parent');
    same((await conversation.tasks.list()).length, 0, 'tasks that were made after the message');
    same(await pathOf(store, 'c', { leaf: 't2' }), SCENE_PATH, 'the branch that was left');
  }),
  given('R2', 'a regeneration shares its prompt and is told from an edit', async (store) => {
    await play(store, 'idle', 'c');
    const again = await store.commit(
      'c',
      [{ kind: 'turn.submit', turnId: 'r', parent: null, samePromptAs: 't1', messageId: 'x' }],
      { expect: { graphRevision: 4 } },
    );
    same(
      [
        fieldOf(again.events[0], 'promptId'),
        fieldOf(again.events[0], 'why'),
        fieldOf(again.events[0], 'ordinal'),
        fieldOf(again.events[0], 'sequence'),
      ],
      ['p1', 'regenerate', 2, 6],
      'the event',
    );
    const found = await (await store.look('c')).message('x');
    same(found.status === 'found_verified' && found.message.parts, [text('the first question')], 'the prompt');
  }),
  given('R2', 'a conversation is read as it was at a version', async (store) => {
    await play(store, 'working', 'c');
    const conversation = await store.look('c');
    const leaves = [];
    for (let version = 1; version <= 6; version++) leaves.push((await conversation.at(version)).leaf);
    same(leaves, [null, null, 't1', 't2', 't2', 't3'], 'the leaves');
    same(
      (await conversation.page({ atVersion: 3 })).messages.map((message) => message.messageId),
      ['m1', 'm2'],
      'the path at 3',
    );
    same((await conversation.tasks.list({ atVersion: 2 })).length, 0, 'tasks at 2');
    same(
      (await conversation.tasks.list({ atVersion: 3 })).map((task) => task.status),
      ['running'],
      'tasks at 3',
    );
    same(
      (await conversation.graph({ atVersion: 2 })).map((turn) => [turn.turnId, turn.state]),
      [['t1', 'preparing']],
      'the tree at 2',
    );
    same((await conversation.state({ atVersion: 2 })).stateVersion, 0, 'the state at 2');
    for (const version of [0, 7, 1.5]) await refused(conversation.at(version), 'invalid_value');
  }),
  given('R2', 'an abandoned branch’s entries never enter another one', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit(
      'c',
      [
        { kind: 'turn.record', turnId: 'r', parent: { turnId: 't1' }, origin: 'x' },
        { kind: 'state.update', stage: 'on r' },
        { kind: 'commitment.add', commitmentId: 'cr', content: 'only on r' },
        { kind: 'task.transition', taskId: 'w1', to: 'failed' },
      ],
      { expect: { graphRevision: 4 } },
    );
    const conversation = await store.look('c');
    same(
      [(await conversation.state()).stage, (await conversation.tasks.get('w1'))?.status],
      ['on r', 'failed'],
      'on r',
    );
    const leaf = { leaf: 't2' };
    same(
      [
        (await conversation.state(leaf)).stage,
        (await conversation.tasks.get('w1', leaf))?.status,
        (await conversation.commitments.list(leaf)).length,
      ],
      ['draft', 'running', 1],
      'on t2',
    );
  }),
  given('R2', 'a message is found by its id, or confirmed not to be there', async (store) => {
    await play(store, 'idle', 'c');
    const conversation = await store.look('c');
    const found = await conversation.message('m2');
    holds(found.status === 'found_verified', 'm2 is found');
    const { committedAt, ...message } = found.message;
    same(
      message,
      {
        role: 'assistant',
        parts: [text('the first answer')],
        messageId: 'm2',
        conversationId: 'c',
        turnId: 't1',
        sequence: 2,
        tier: 'hot',
      },
      'the message',
    );
    same(committedAt, new Date(store.clock.at).toISOString(), 'its time');
    same(await conversation.message('nobody'), { status: 'not_found_confirmed' }, 'a message that is not there');
  }),
  given('R2', 'a cursor of another reading is told so', async (store) => {
    await play(store, 'idle', 'c');
    await play(store, 'idle', 'other');
    const conversation = await store.look('c');
    const window = (await conversation.window(2)).before ?? '';
    const page = (await (await store.look('other')).page({ limit: 1 })).next ?? '';
    for (const after of ['', 'x', '{}', window, page, page.slice(0, -4)])
      await refused((await store.look('c')).page({ after }), 'bad_cursor');
  }),
];
