import { fieldOf } from '../../core/event.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, same } from '../check.ts';
import { append, play, says } from '../scenes.ts';
import type { Store } from '../store.ts';

const HOUR = 3_600_000;

async function texts(store: Store, id: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const message of (await store.look(id)).read({ leaf: null, pageSize: 7 })) {
    found.push(message.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
  }
  return found;
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

/** I3: versions and sequences have no gap and no repeat, and no clock and no id orders anything. */
export const order: readonly ConformanceCase[] = [
  given('S2', 'under a clock that stands still, order is commit order', async (store) => {
    for (const at of numbers(60)) await store.commit('c', [append(says('user', `word ${at}`, `id-${61 - at}`))]);
    same(
      await texts(store, 'c'),
      numbers(60).map((at) => `word ${at}`),
      'the messages',
    );
  }),
  given('S2', 'under a clock that goes back, order is commit order and activity never goes back', async (store) => {
    const receipts = [];
    for (const at of numbers(12)) {
      receipts.push(await store.commit('c', [append(says('user', `word ${at}`))]));
      store.clock.move(at % 3 === 0 ? -HOUR : 1_000);
    }
    same(
      receipts.map((receipt) => receipt.version),
      numbers(12),
      'the versions',
    );
    same(
      await texts(store, 'c'),
      numbers(12).map((at) => `word ${at}`),
      'the messages',
    );
    const info = await (await store.look('c')).info();
    const times = receipts.map((receipt) => Date.parse(receipt.committedAt));
    same(Date.parse(info.lastActivityAt), Math.max(...times), 'the last activity');
    holds(
      times.some((time, at) => time < (times[at - 1] ?? 0)),
      'the clock of this case goes back',
    );
  }),
  given('S2', 'commits sent one after the other without waiting are decided in that order', async (store) => {
    const space = await store.space();
    const sent = numbers(40).map((at) =>
      space.commit({ commitId: `k${at}`, conversationId: 'c', changes: [append(says('user', `word ${at}`))] }),
    );
    const receipts = await Promise.all(sent);
    same(
      receipts.map((receipt) => receipt.version),
      numbers(40),
      'the versions',
    );
    same(
      await texts(store, 'c'),
      numbers(40).map((at) => `word ${at}`),
      'the messages',
    );
  }),
  given('S2', 'two handles that write at once leave no gap and no repeat, and lose nothing', async (store) => {
    const spaces = [await store.space(), (await store.otherLedger()).namespace(store.namespace)];
    const receipts = await Promise.all(
      numbers(40).map((at) =>
        (spaces[at % 2] as Namespace).commit({
          commitId: `k${at}`,
          conversationId: 'c',
          changes: [append(says('user', `word ${at}`))],
        }),
      ),
    );
    same(
      receipts.map((receipt) => receipt.version).sort((left, right) => left - right),
      numbers(40),
      'the versions',
    );
    const sequences = receipts
      .map(({ events }) => fieldOf(events[0], 'sequence') ?? 0)
      .sort((left, right) => left - right);
    same(sequences, numbers(40), 'the sequences');
    const found = await texts(store, 'c');
    same(
      found.toSorted(),
      numbers(40)
        .map((at) => `word ${at}`)
        .toSorted(),
      'the messages',
    );
    const page = await (await store.look('c')).page({ leaf: null });
    same(
      page.messages.map((message) => message.sequence),
      numbers(40),
      'the sequences read',
    );
  }),
  given('S2', 'each commit is decided on the rows that the one before it left', async (store) => {
    await play(store, 'idle', 'c');
    const spaces = [await store.space(), (await store.otherLedger()).namespace(store.namespace)];
    for (const at of numbers(12)) {
      const changes = [{ kind: 'checkpoint.advance', checkpointId: 'k1', from: at - 1, payload: { n: { json: at } } }];
      const receipt = await spaces[at % 2]?.commit({
        commitId: `k${at}`,
        conversationId: 'c',
        changes,
        expect: { version: 3 + at },
      });
      same(receipt?.version, 4 + at, 'the version');
    }
    same((await (await store.look('c')).checkpoints.get('k1'))?.payload, { n: { json: 12 } }, 'the payload');
  }),
  given('S2', 'sibling ordinals have no gap and no repeat when two handles branch at once', async (store) => {
    await play(store, 'idle', 'c');
    const spaces = [await store.space(), (await store.otherLedger()).namespace(store.namespace)];
    let revision = 4;
    for (let round = 0; round < 6; round++) {
      const branch = (at: number) =>
        spaces[at]?.commit({
          commitId: `k${round}-${at}`,
          conversationId: 'c',
          changes: [{ kind: 'turn.record', turnId: `r${round}-${at}`, parent: { turnId: 't1' }, origin: 'race' }],
          expect: { graphRevision: revision },
        });
      const settled = await Promise.allSettled([branch(0), branch(1)]);
      same(settled.filter((one) => one.status === 'fulfilled').length, 1, 'winners of a round');
      revision += 2;
    }
    const siblings = await (await store.look('c')).siblings('t2');
    same(
      siblings.map((sibling) => sibling.ordinal),
      numbers(7),
      'the ordinals under t1',
    );
  }),
];
