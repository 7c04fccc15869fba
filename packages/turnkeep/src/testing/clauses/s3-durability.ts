import { isTurnkeepError } from '../../core/errors.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { failureOf, holds, letOthersRun, refused, same } from '../check.ts';
import { ChildProcess } from '../child-process.ts';
import { append, play, says } from '../scenes.ts';
import type { Store } from '../store.ts';

async function count(store: Store, id: string): Promise<number> {
  return (await (await store.readSpace()).conversation(id).info()).messageCount;
}

/** I1 and I8: what was acknowledged is there; what was seen stays. */
export const durability: readonly ConformanceCase[] = [
  given('S3', 'a commit that was acknowledged is there', async (store) => {
    for (let at = 1; at <= 5; at++) {
      await store.commit('c', [append(says('user', `word ${at}`))]);
      same(await count(store, 'c'), at, 'messages');
    }
  }),
  given('S3', 'everything that was acknowledged is there, whatever it is', async (store) => {
    await play(store, 'working', 'c');
    const before = await store.export();
    const conversation = await store.look('c');
    same((await conversation.info()).version, 6, 'the version');
    same((await conversation.operation('o3'))?.status, 'succeeded', 'the operation');
    same((await conversation.checkpoints.get('k1'))?.payload, { state: { json: { step: 0 } } }, 'the checkpoint');
    same((await conversation.state()).objective, 'a report', 'the objective');
    same((await conversation.search('question')).hits.length, 3, 'hits');
    same(await store.export(), before, 'reading changes nothing');
  }),
  given('S3', 'a commit is seen by another handle as soon as it is acknowledged', async (store) => {
    const other = (await store.otherLedger()).namespace(store.namespace);
    for (let at = 1; at <= 8; at++) {
      await store.commit('c', [append(says('user', `word ${at}`))]);
      const conversation = other.conversation('c');
      same((await conversation.info()).messageCount, at, 'messages');
      same((await conversation.page({ leaf: null })).messages.length, at, 'messages of the page');
      same((await other.search(`word ${at}`)).hits.length, 1, 'hits');
      same((await other.page()).items[0]?.version, at, 'the version listed');
    }
  }),
  given('S3', 'what a reader has seen stays, acknowledged or not', async (store) => {
    const other = (await store.otherLedger()).namespace(store.namespace).conversation('c');
    const sending = store.commit('c', [append(says('user', 'early'))]).catch((error: unknown) => error);
    const state = { done: false };
    const settled = sending.finally(() => (state.done = true));
    for (let looks = 0; !state.done && !(await other.exists()); looks++) await letOthersRun(looks);
    const seen = await other.exists();
    // In the mode that reopens, the store is closed here, at once.
    if (seen) same(await count(store, 'c'), 1, 'messages that stay');
    await settled;
  }),
  given('S3', 'a commit that is under way is seen whole or not at all', async (store) => {
    await play(store, 'submitted', 'c');
    const other = (await store.otherLedger()).namespace(store.namespace).conversation('c');
    const state = { open: 24 };
    const pairs = Array.from({ length: state.open }, async (_, at) => {
      const bad = at % 3 === 2;
      const changes = [
        append(says('user', `first ${at}`), 't3'),
        append(says('user', bad ? 'refused' : `second ${at}`, bad ? 'm1' : `pair-${at}`), 't3'),
      ];
      await failureOf(store.commit('c', changes));
      state.open -= 1;
    });
    for (let looks = 0; state.open > 0; looks++) {
      await letOthersRun(looks);
      const { messages } = await other.page({ leaf: 't3', limit: 200 });
      const info = await other.info();
      holds(messages.length % 2 === 0, 'half a commit was seen');
      const words = messages.map((message) => JSON.stringify(message.parts));
      holds(!words.some((text) => text.includes('refused')), 'a refused commit was seen');
      holds(info.version >= 5, 'the version went back');
    }
    await Promise.all(pairs);
    same(await count(store, 'c'), 6 + 16 * 2, 'messages');
  }),
  given('S3', 'versions that a reader sees never go back', async (store) => {
    const other = (await store.otherLedger()).namespace(store.namespace).conversation('c');
    await store.commit('c', [append(says('user', 'x'))]);
    let last = 1;
    const state = { open: true };
    const writing = Promise.all(
      Array.from({ length: 30 }, () => store.commit('c', [append(says('user', 'x'))])),
    ).finally(() => (state.open = false));
    for (let looks = 0; state.open; looks++) {
      await letOthersRun(looks);
      const { version } = await other.info();
      holds(version >= last, `version ${version} was seen after ${last}`);
      last = version;
    }
    await writing;
    same(await count(store, 'c'), 31, 'messages');
  }),
  given(
    'S3',
    'closing finishes what was accepted',
    async (store) => {
      const ledger = await store.ledger();
      const space = ledger.namespace(store.namespace);
      await space.commit({ commitId: 'first', conversationId: 'c', changes: [append(says('user', 'x'))] });
      const sent = Array.from({ length: 20 }, (_, at) =>
        space.commit({ commitId: `k${at}`, conversationId: 'c', changes: [append(says('user', 'x'))] }).then(
          () => 'accepted',
          (error: unknown) => (isTurnkeepError(error) ? error.code : String(error)),
        ),
      );
      await ledger.close();
      const told = await Promise.all(sent);
      same(
        told.filter((one) => one !== 'accepted' && one !== 'closed'),
        [],
        'what else they were told',
      );
      await refused(space.page(), 'closed');
      if (!store.session.target.durable) return;
      await store.session.close();
      same(await count(store, 'c'), 1 + told.filter((one) => one === 'accepted').length, 'messages that were accepted');
    },
    { alone: true },
  ),
  given('S3', 'a store that is opened and closed without a commit is as it was', async (store) => {
    await play(store, 'idle', 'c');
    const before = await store.export();
    for (let at = 0; at < 3; at++) await store.reader();
    same(await store.export(), before, 'the export');
  }),
  given(
    'S3',
    'what a process was told survives its death',
    async (store) => {
      // A store may have one writer: then it is the child.
      await store.session.close();
      const child = await ChildProcess.on(store.session);
      const commit = (at: number) => ({
        commitId: `k${at}`,
        namespace: store.namespace,
        conversationId: 'c',
        changes: [append(says('user', `word ${at}`))],
      });
      for (let at = 0; at < 6; at++) await child.commit(commit(at));
      const last = child.commit(commit(6)).catch(() => undefined);
      await child.kill();
      await last;
      const found = await count(store, 'c');
      holds(found === 6 || found === 7, `${found} messages are there of 6 acknowledged and 1 sent`);
      const again = await store.send(commit(6));
      same(again.replayed, found === 7, 'whether the commit that was cut off is a replay');
      same(await count(store, 'c'), 7, 'messages in the end');
    },
    { needs: 'processes' },
  ),
];
