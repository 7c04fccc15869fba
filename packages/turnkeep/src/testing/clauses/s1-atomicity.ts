import type { Change, ChangeKind } from '../../core/change.ts';
import { RULES } from '../../core/rules/index.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { failureOf, holds, refused, same } from '../check.ts';
import { entryOf, FAILING, FORK_SOURCE, SPAWN_PARENT } from '../kinds.ts';
import type { KindEntry } from '../kinds.ts';
import { append, play, says } from '../scenes.ts';
import type { Store } from '../store.ts';

const kinds = Object.keys(RULES) as readonly ChangeKind[];

/** Plays an entry's scene, up to its change. */
export async function prepare(store: Store, entry: KindEntry, conversationId = 'c'): Promise<void> {
  if (entry.change.kind === 'conversation.fork') await play(store, 'idle', FORK_SOURCE);
  if (entry.change.kind === 'conversation.spawn') await play(store, 'working', SPAWN_PARENT);
  await play(store, entry.scene, conversationId);
  if (entry.before) await store.commit(conversationId, entry.before, { commitId: 'before' });
}

function sentWith(entry: KindEntry) {
  return { expect: entry.expect, fence: entry.fence };
}

/** I4: a commit that is refused leaves every row and byte as it was, wherever its fault stands. */
function failsWhole(kind: ChangeKind): readonly ConformanceCase[] {
  const entry = entryOf(kind);
  const arrange = { before: [FAILING, entry.change], after: [entry.change, FAILING] } as const;
  return (['before', 'after'] as const).map((place) =>
    given('S1', `${kind}: nothing of it is there when a change ${place} it fails`, async (store) => {
      await prepare(store, entry);
      const error = await refusalOf(store, entry, arrange[place]);
      holds(error !== undefined, 'a commit with a failing change was accepted');
      // The change itself is good: alone it is accepted.
      const before = await store.exportNow();
      await store.commit('c', [entry.change], { commitId: 'alone', ...sentWith(entry) });
      holds((await store.export()) !== before, 'the change alone changes nothing, so that this case shows nothing');
    }),
  );
}

async function refusalOf(store: Store, entry: KindEntry, changes: readonly Change[]): Promise<unknown> {
  let error: unknown;
  await store.untouchedBy(async () => {
    error = await failureOf(store.commit('c', changes, { commitId: 'refused', ...sentWith(entry) }));
  });
  return error;
}

/** A whole turn, as an agent ends it: each member fails once, and nothing of the others is there. */
const OUTCOME: readonly Change[] = [
  append(says('assistant', 'part one', 'm7'), 't3'),
  append(says('assistant', 'part two', 'm8'), 't3'),
  { kind: 'checkpoint.advance', checkpointId: 'k1', from: 0, payload: { state: { json: { step: 1 } } } },
  { kind: 'task.transition', taskId: 'w1', to: 'completed', turnId: 't3' },
  { kind: 'commitment.add', commitmentId: 'c2', content: 'call back', turnId: 't3' },
  { kind: 'turn.advance', turnId: 't3', to: 'completed' },
];

const BROKEN: readonly Change[] = [
  append(says('assistant', 'other words', 'm2'), 't3'),
  append(says('assistant', 'part two', 'm2'), 't3'),
  { kind: 'checkpoint.advance', checkpointId: 'k1', from: 7, payload: {} },
  { kind: 'task.transition', taskId: 'w1', to: 'created', turnId: 't3' },
  { kind: 'commitment.add', commitmentId: 'c1', content: 'again', turnId: 't3' },
  { kind: 'turn.advance', turnId: 't3', to: 'preparing' },
];

async function outcomeOf(store: Store) {
  const conversation = await store.look('c');
  const { messages } = await conversation.page({ leaf: 't3' });
  const [task, checkpoint, commitments, graph] = [
    await conversation.tasks.get('w1', { leaf: 't3' }),
    await conversation.checkpoints.get('k1'),
    await conversation.commitments.list({ leaf: 't3' }),
    await conversation.graph(),
  ];
  return {
    messages: messages.slice(6).map((message) => message.messageId),
    task: task?.status,
    revision: checkpoint?.revision,
    commitments: commitments.map((one) => one.commitmentId),
    turn: graph.find((turn) => turn.turnId === 't3')?.state,
  };
}

const UNDONE = { messages: [], task: 'running', revision: 0, commitments: ['c1'], turn: 'running' };
const DONE = { messages: ['m7', 'm8'], task: 'completed', revision: 1, commitments: ['c1', 'c2'], turn: 'completed' };
const fence = { attempt: 'a1', token: 1 };

const turns: readonly ConformanceCase[] = OUTCOME.map((change, at) =>
  given('S1', `a turn's outcome is not there in part when its ${change.kind} (change ${at}) fails`, async (store) => {
    await play(store, 'working', 'c');
    const changes = OUTCOME.map((good, index) => (index === at ? (BROKEN[at] as Change) : good));
    await store.untouchedBy(async () => {
      holds(await failureOf(store.commit('c', changes, { fence })), 'the commit was accepted');
    });
    same(await outcomeOf(store), UNDONE, 'what is to be seen after the refusal');
    await store.commit('c', OUTCOME, { fence });
    same(await outcomeOf(store), DONE, 'what is to be seen of the whole outcome');
  }),
);

export const atomicity: readonly ConformanceCase[] = [
  ...kinds.flatMap(failsWhole),
  ...turns,
  given('S1', 'all that an accepted commit made is there', async (store) => {
    await play(store, 'working', 'c');
    const receipt = await store.commit('c', OUTCOME, { fence });
    same(
      receipt.events.map((event) => event.kind),
      OUTCOME.map((change) => change.kind),
      'an event for each change',
    );
    same(await outcomeOf(store), DONE, 'the outcome');
    const conversation = await store.look('c');
    same((await conversation.info()).version, receipt.version, 'the version');
  }),
  given('S1', 'a commit whose last change of a thousand fails leaves nothing', async (store) => {
    await play(store, 'submitted', 'c');
    const notes = Array.from({ length: 999 }, (_, at) => append(says('user', `note ${at}`), 't3'));
    await store.untouchedBy(async () => {
      await refused(store.commit('c', [...notes, FAILING]), 'no_checkpoint', { checkpointId: 'no such checkpoint' });
    });
  }),
  given('S1', 'a refused first commit does not create its conversation', async (store) => {
    await refused(store.commit('c', [append(says('user', 'hello')), FAILING]), 'no_checkpoint');
    same(await (await store.look('c')).exists(), false, 'the conversation exists');
    same((await (await store.readSpace()).page()).items, [], 'the list');
  }),
];
