import { fieldOf } from '../../core/event.ts';
import type { ChangeKind } from '../../core/change.ts';
import { RULES } from '../../core/rules/index.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { entryOf } from '../kinds.ts';
import { append, play, says, text } from '../scenes.ts';
import { prepare } from './s1-atomicity.ts';

const kinds = Object.keys(RULES) as readonly ChangeKind[];
const NO_MATTER = {
  expect: { version: 999, graphRevision: 999, leaf: 'nobody' },
  fence: { attempt: 'nobody', token: 9 },
};

/** I2: one commit id changes state once, and every replay gets the same receipt. */
function replays(kind: ChangeKind): readonly ConformanceCase[] {
  const entry = entryOf(kind);
  const sent = { commitId: 'once', expect: entry.expect, fence: entry.fence };
  const erases = kind === 'conversation.erase';
  const replayed = given('S4', `${kind}: sent twice it is done once and answers the first receipt`, async (store) => {
    await prepare(store, entry);
    const first = await store.commit('c', [entry.change], sent);
    same(first.replayed, false, 'the first receipt is no replay');
    store.clock.move(60_000);
    await store.untouchedBy(async () => {
      const again = await store.commit('c', [entry.change], sent);
      const expected = erases ? { ...first, events: [{ kind }], replayed: true } : { ...first, replayed: true };
      same(again, expected, 'the second receipt');
      const careless = await store.commit('c', [entry.change], { commitId: 'once', ...NO_MATTER });
      same(careless, expected, 'the receipt of a replay with another expect and fence');
    });
  });
  const reused = given('S4', `${kind}: the same commit id with other content is refused`, async (store) => {
    await prepare(store, entry);
    await store.commit('c', [entry.change], sent);
    await store.untouchedBy(async () => {
      await refused(store.commit('c', [entry.other], sent), 'commit_id_reused', { commitId: 'once' });
      await refused(store.commit('c', [entry.change, entry.change], sent), 'commit_id_reused', { commitId: 'once' });
    });
  });
  // An erased conversation has no fingerprints left: the wish to erase it is answered as done.
  return erases ? [replayed] : [replayed, reused];
}

export const idempotency: readonly ConformanceCase[] = [
  ...kinds.flatMap(replays),
  given('S4', 'key order and absent properties make no other commit', async (store) => {
    const message = (metadata: unknown) => ({ role: 'user', parts: [text('hello')], messageId: 'm', metadata });
    const commit = (metadata: unknown, more: object = {}) => ({
      commitId: 'once',
      conversationId: 'c',
      changes: [{ kind: 'message.append', message: message(metadata), ...more }],
    });
    const first = await store.send(commit({ a: 1, b: { c: 2, d: 3 } }));
    const again = await store.send(commit({ b: { d: 3, c: 2 }, a: 1 }, { turnId: undefined }));
    same(again, { ...first, replayed: true }, 'the receipt');
    await refused(store.send(commit({ a: 1, b: { c: 2, d: 4 } })), 'commit_id_reused', { commitId: 'once' });
  }),
  given('S4', 'a replay is known after many other commits', async (store) => {
    await play(store, 'idle', 'c');
    const first = await store.commit('c', [{ kind: 'state.update', stage: 'one' }], { commitId: 'early' });
    for (let at = 0; at < 20; at++) await store.commit('c', [{ kind: 'state.update', stage: `later ${at}` }]);
    same(
      await store.commit('c', [{ kind: 'state.update', stage: 'one' }], { commitId: 'early' }),
      { ...first, replayed: true },
      'the receipt',
    );
    same((await (await store.look('c')).state()).stage, 'later 19', 'the stage');
  }),
  given('S4', 'a refused commit is not kept: its id may be sent again', async (store) => {
    await play(store, 'idle', 'c');
    const commitId = 'second-try';
    await refused(
      store.commit('c', [{ kind: 'state.update', stage: 'x' }], { commitId, expect: { version: 1 } }),
      'conflict',
    );
    const receipt = await store.commit('c', [{ kind: 'state.update', stage: 'y' }], { commitId });
    same(receipt.replayed, false, 'it is the first of its id');
    same((await (await store.look('c')).state()).stage, 'y', 'the stage');
  }),
  given('S4', 'the same commit id in two conversations is two commits', async (store) => {
    const [left, right] = [
      await store.commit('a', [append(says('user', 'x'))], { commitId: 'k' }),
      await store.commit('b', [append(says('user', 'y'))], { commitId: 'k' }),
    ];
    same([left.replayed, right.replayed], [false, false], 'neither is a replay');
    same((await (await store.look('a')).page({ leaf: null })).messages.length, 1, 'messages of a');
    same((await (await store.look('b')).page({ leaf: null })).messages.length, 1, 'messages of b');
  }),
  given('S4', 'a repeated operation answers what its first commit was answered', async (store) => {
    await play(store, 'idle', 'c');
    const submit = (words: string) => [{ kind: 'turn.submit' as const, operationId: 'op', prompt: [text(words)] }];
    const first = await store.commit('c', submit('a question'), { commitId: 'one' });
    await store.untouchedBy(async () => {
      same(
        await store.commit('c', submit('a question'), { commitId: 'two' }),
        { ...first, replayed: true },
        'the receipt',
      );
      const other = { commitId: 'three', expect: { version: 1 }, fence: { attempt: 'nobody', token: 1 } };
      same(
        await store.commit('c', submit('whatever else'), other),
        { ...first, replayed: true },
        'a replay is answered before anything is checked',
      );
    });
  }),
  given('S4', 'minted ids follow from the commit id', async (store) => {
    const changes = [
      append(says('user', 'x')),
      { kind: 'turn.record' as const, origin: 'import' },
      { kind: 'task.create' as const, title: 'do it' },
    ];
    const first = await store.commit('a', changes, { commitId: 'same' });
    const twin = await store.commit('b', changes, { commitId: 'same' });
    same(twin.events, first.events, 'the events of the same commit in another conversation');
    holds(
      first.events.every((event, at) => event.kind !== 'task.create' || event['taskId'] === `task_same.${at}`),
      'the task id',
    );
  }),
  given('S4', 'the same commit sent many times at once is done once', async (store) => {
    const [one, other] = [await store.ledger(), await store.otherLedger()];
    const send = (at: number) =>
      (at % 2 === 0 ? one : other)
        .namespace(store.namespace)
        .commit({ commitId: 'k', conversationId: 'c', changes: [append(says('user', 'once', 'm'))] });
    const receipts = await Promise.all(Array.from({ length: 16 }, (_, at) => send(at)));
    same(receipts.filter((receipt) => !receipt.replayed).length, 1, 'first receipts');
    for (const receipt of receipts)
      same({ ...receipt, replayed: true }, { ...receipts[0], replayed: true }, 'a receipt');
    same((await (await store.look('c')).page({ leaf: null })).messages.length, 1, 'messages');
  }),
  given('S4', 'the same message again is a no-op with the same content and a conflict with other', async (store) => {
    await play(store, 'submitted', 'c');
    const message = { ...says('user', 'hello', 'x'), metadata: { a: 1, b: 2 } };
    const first = await store.commit('c', [append(message, 't3')]);
    const again = await store.commit('c', [append({ ...message, metadata: { b: 2, a: 1 } }, 't3')]);
    same(
      again.events[0],
      { kind: 'message.append', messageId: 'x', sequence: fieldOf(first.events[0], 'sequence'), noop: true },
      'the event',
    );
    await refused(store.commit('c', [append({ ...message, metadata: { a: 1, b: 3 } }, 't3')]), 'message_conflict', {
      messageId: 'x',
    });
    same((await (await store.look('c')).page({ leaf: 't3' })).messages.length, 7, 'messages');
  }),
];
