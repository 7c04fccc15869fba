import type { Namespace } from '../../ledger/namespace.ts';
import type { NamespaceEvent } from '../../ledger/watch.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { append, play, says } from '../scenes.ts';
import type { Store } from '../store.ts';

const note = (words: string) => append(says('user', words));

async function feed(store: Store, after = 0): Promise<readonly NamespaceEvent[]> {
  const events: NamespaceEvent[] = [];
  for await (const event of (await store.readSpace()).watch({ after, untilNow: true })) events.push(event);
  return events;
}

/** Asks the feed for `limit` entries at a time. */
async function inSteps(store: Store, limit: number): Promise<readonly string[]> {
  const { backend } = await store.reader();
  const found: string[] = [];
  for (let after = 0; ;) {
    const entries = await backend.feed(store.namespace, after, limit);
    holds(entries.length <= limit, 'the feed answers more than it was asked for');
    for (const { position, conversationId, version } of entries) {
      holds(position > after, 'positions rise');
      after = position;
      found.push(`${conversationId} ${version}`);
    }
    if (entries.length === 0) return found;
  }
}

function versionOf(next: IteratorResult<{ readonly version: number }, unknown>): number | undefined {
  return next.done === true ? undefined : next.value.version;
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

/** I8: within a conversation no gap, no repeat. */
export const feeds: readonly ConformanceCase[] = [
  given(
    'R5',
    'a conversation’s events come in the order of its commits, and say what the receipts said',
    async (store) => {
      await play(store, 'working', 'c');
      const receipt = await store.commit('c', [{ kind: 'conversation.update', title: 'x' }], { commitId: 'last' });
      const events = [];
      for await (const event of (await store.look('c')).watch({ untilNow: true })) events.push(event);
      same(
        events.map((event) => event.version),
        numbers(7),
        'the versions',
      );
      const { version, committedAt, events: marks } = receipt;
      same(
        events.at(-1),
        { conversationId: 'c', version, commitId: 'last', committedAt, events: marks, erased: false },
        'the last event',
      );
    },
  ),
  given('R5', 'who comes back at any cursor is handed exactly the rest', async (store) => {
    for (const at of numbers(9)) await store.commit(`c${at % 3}`, [note(`${at}`)]);
    const all = await feed(store);
    same(all.length, 9, 'events');
    for (const [at, event] of all.entries())
      same(await feed(store, event.position), all.slice(at + 1), `the rest after ${event.position}`);
    const conversation = await store.look('c1');
    for (const after of [0, 1, 2, 3, 4]) {
      const versions: number[] = [];
      for await (const event of conversation.watch({ after, untilNow: true })) versions.push(event.version);
      same(versions, numbers(3).slice(after), `the rest after version ${after}`);
    }
  }),
  given('R5', 'the feed is the same in steps of every size', async (store) => {
    for (const at of numbers(23)) await store.commit(`c${at % 4}`, [note(`${at}`)]);
    const all = await inSteps(store, 1000);
    same(all.length, 23, 'entries');
    for (const limit of [1, 2, 5, 22, 23, 24]) same(await inSteps(store, limit), all, `in steps of ${limit}`);
    for (const id of ['c0', 'c1', 'c2', 'c3']) {
      const versions = all.filter((entry) => entry.startsWith(`${id} `)).map((entry) => Number(entry.split(' ')[1]));
      same(versions, numbers(versions.length), `the versions of ${id}`);
    }
  }),
  given('R5', 'refused commits and replays leave no event', async (store) => {
    await store.commit('c', [note('x')], { commitId: 'k' });
    await store.commit('c', [note('x')], { commitId: 'k' });
    await refused(store.commit('c', [note('y')], { commitId: 'k' }), 'commit_id_reused');
    same((await feed(store)).length, 1, 'events');
  }),
  given('R5', 'a fork comes after its source', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm5' }]);
    await store.commit('g', [{ kind: 'conversation.fork', source: 'f', at: 'm2' }]);
    const order = (await feed(store)).map((event) => `${event.conversationId} ${event.version}`);
    same(order, ['c 1', 'c 2', 'c 3', 'c 4', 'f 1', 'g 1'], 'the feed');
  }),
  given('R5', 'a watcher is woken by a commit of its own handle and of another one', async (store) => {
    for (const writer of [await store.space(), (await store.otherLedger()).namespace(store.namespace)]) {
      const id = `c-${writer === (await store.space()) ? 'a' : 'b'}-${Math.abs(store.clock.at)}`;
      store.clock.move(1);
      const stop = new AbortController();
      const watching = (await store.space()).conversation(id).watch({ signal: stop.signal });
      for (const at of numbers(4)) {
        const next = watching.next();
        await writer.commit({ commitId: `k${at}`, conversationId: id, changes: [note(`${at}`)] });
        same(versionOf(await next), at, 'the version that the watcher is handed');
      }
      stop.abort();
      same(await watching.next(), { done: true, value: undefined }, 'the end of a watch that was ended');
    }
  }),
  given('R5', 'a namespace’s watcher is handed every commit once, while two handles write', async (store) => {
    const spaces = [await store.space(), (await store.otherLedger()).namespace(store.namespace)];
    const watching = (await store.otherLedger()).namespace(store.namespace).watch();
    const writing = Promise.all(
      numbers(30).map((at) =>
        (spaces[at % 2] as Namespace).commit({
          commitId: `k${at}`,
          conversationId: `c${at % 3}`,
          changes: [note(`${at}`)],
        }),
      ),
    );
    const seen: string[] = [];
    for await (const event of watching) {
      seen.push(`${event.conversationId} ${event.version}`);
      if (seen.length === 30) break;
    }
    await writing;
    same(new Set(seen).size, 30, 'different events');
    for (const id of ['c0', 'c1', 'c2'])
      same(
        seen.filter((one) => one.startsWith(id)),
        numbers(10).map((version) => `${id} ${version}`),
        `the events of ${id}`,
      );
    same((await feed(store)).length, 30, 'events in the end');
  }),
  given('R5', 'a watcher that reads slowly misses nothing', async (store) => {
    const watching = (await store.space()).watch();
    const first = watching.next();
    for (const at of numbers(5)) await store.commit('c', [note(`${at}`)]);
    const seen = [versionOf(await first)];
    while (seen.length < 5) seen.push(versionOf(await watching.next()));
    const sixth = watching.next();
    await store.commit('c', [note('6')]);
    seen.push(versionOf(await sixth));
    await watching.return(undefined);
    same(seen, numbers(6), 'the versions');
  }),
  given('R5', 'events of an erased conversation say that, and nothing else', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('c', [{ kind: 'conversation.erase' }]);
    await (await store.space()).collect();
    const events = await feed(store);
    same(
      events.map((event) => [event.version, event.erased, event.events.length, event.commitId]),
      numbers(5).map((version) => [version, true, 0, '']),
      'the events',
    );
  }),
  given('R5', 'a cursor that is not one is told so', async (store) => {
    await store.commit('c', [note('x')]);
    const space = await store.readSpace();
    for (const after of [-1, 1.5, Number.NaN]) await refused(space.watch({ after }).next(), 'bad_cursor');
    same(await feed(store, 1_000_000_000), [], 'events after a position that does not exist yet');
  }),
];
