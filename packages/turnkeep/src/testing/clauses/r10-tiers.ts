import type { Tier } from '../../core/log.ts';
import type { Message } from '../../core/read/message.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same, sameText } from '../check.ts';
import { answers, append, calls, play, says, text } from '../scenes.ts';
import type { Store } from '../store.ts';
import { assertChains } from '../verify.ts';

/** Cools all that may cool, but so many of each conversation's newest messages; answers how many commits moved. */
async function cool(store: Store, hotMessages: number): Promise<number> {
  store.session.touched = true;
  return (await store.backend()).cool(store.namespace, { hotMessages });
}

/** An export in which nobody can see which tier a record is of. */
async function withoutTiers(store: Store): Promise<string> {
  return (await store.export()).replaceAll(',"tier":"cool"', '');
}

async function tiersOf(store: Store, id: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { messageId, tier } of (await store.look(id)).read()) found.push(`${messageId} ${tier}`);
  return found;
}

function bare({ tier: _tier, ...message }: Message): object {
  return message;
}

/** What a reader can ask of a conversation, tiers aside. */
async function view(store: Store, id: string): Promise<unknown> {
  const look = await store.look(id);
  const read: object[] = [];
  for await (const message of look.read({ pageSize: 3 })) read.push(bare(message));
  const windows = await Promise.all([2, 3, 7, 40].map(async (count) => (await look.window(count)).messages.map(bare)));
  const events: unknown[] = [];
  const { version } = await look.info();
  for await (const event of look.watch({ after: 0 })) if (events.push(event) === version) break;
  const info = await look.info();
  const task = await look.tasks.get('w1');
  const commitments = await look.commitments.list();
  return { read, windows, events, graph: await look.graph(), info, state: await look.state(), task, commitments };
}

/** Words that are too many for one block. */
async function fillBlocks(store: Store, id: string): Promise<void> {
  for (let at = 0; at < 12; at++) {
    const words = `${at} ${'the quick brown fox and the lazy dog '.repeat(600 + at)}`;
    await store.commit(id, [append(says('user', words, `b${at}`))]);
  }
}

async function sayMany(store: Store, id: string, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await store.commit(id, [append(says('user', `word ${at}`, `n${at}`))]);
}

export const tiers: readonly ConformanceCase[] = [
  given('R10', 'the newest messages stay hot, older ones cool, and each says so', async (store) => {
    await sayMany(store, 'c', 5);
    holds((await cool(store, 5)) === 0, 'something cooled that had to stay hot');
    same(await cool(store, 2), 3, 'the commits that moved');
    same(await tiersOf(store, 'c'), ['n0 cool', 'n1 cool', 'n2 cool', 'n3 hot', 'n4 hot'], 'the tiers');
    for (const [messageId, tier] of [
      ['n0', 'cool'],
      ['n4', 'hot'],
    ] satisfies [string, Tier][]) {
      const found = await (await store.look('c')).message(messageId);
      same(found.status === 'found_verified' && found.message.tier, tier, `the tier of ${messageId}`);
    }
    same((await (await store.look('c')).message('n9')).status, 'not_found_confirmed', 'a message that was never there');
  }),
  given('R10', 'to cool again moves nothing, and what grew since cools later', async (store) => {
    await sayMany(store, 'c', 6);
    same([await cool(store, 2), await cool(store, 2), await cool(store, 4)], [4, 0, 0], 'the commits that moved');
    await store.commit('c', [append(says('user', 'later', 'later'))]);
    same([await cool(store, 2), await cool(store, 0)], [1, 2], 'the commits that moved later');
    same(
      (await tiersOf(store, 'c')).map((one) => one.split(' ')[1]),
      Array.from({ length: 7 }, () => 'cool'),
      'the tiers',
    );
  }),
  given('R10', 'no reading can tell a cooled conversation from a hot one but by its tiers', async (store) => {
    await play(store, 'submitted', 'c');
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm3' }]);
    await store.commit('f', [
      { kind: 'turn.record', turnId: 'r', origin: 'x' },
      append(says('user', 'its own', 'own')),
    ]);
    const before = [await view(store, 'c'), await view(store, 'f'), await withoutTiers(store)];
    await cool(store, 1);
    same(await view(store, 'c'), before[0], 'the conversation');
    same(await view(store, 'f'), before[1], 'its fork');
    sameText(await withoutTiers(store), String(before[2]), 'what is stored');
    same(await tiersOf(store, 'f'), ['m1 cool', 'm2 cool', 'm3 cool', 'own hot'], 'the tiers that the fork reads');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R10', 'what is too much for one archive block comes back whole', async (store) => {
    await fillBlocks(store, 'c');
    const before = await withoutTiers(store);
    same(await cool(store, 1), 11, 'the commits that moved');
    sameText(await withoutTiers(store), before, 'what is stored');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R10', 'commits go on over what is cool: replays, repeats, late results, forks', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('c', [{ kind: 'turn.record', turnId: 'r', origin: 'x' }, append(calls('l7', 'call'), 'r')]);
    await store.commit('c', [{ kind: 'turn.record', turnId: 's', origin: 'x' }, append(says('user', 'last', 'last'))]);
    await cool(store, 1);
    const again = await store.commit('c', [append(says('assistant', 'the first answer', 'm2'), 't1')]);
    same(
      again.events,
      [{ kind: 'message.append', messageId: 'm2', sequence: 2, noop: true }],
      'the same message again',
    );
    await store.untouchedBy(() =>
      refused(store.commit('c', [append(says('assistant', 'another answer', 'm2'), 't1')]), 'message_conflict'),
    );
    await store.commit('c', [append(answers('l7', 'result'))]);
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm2' }]);
    const replay = await store.commit('c', [{ kind: 'conversation.update', title: 'x' }], { commitId: 'scene-1' }).then(
      () => 'taken',
      (error: { code?: string }) => error.code,
    );
    same(replay, 'commit_id_reused', 'another commit under the id of a cooled one');
    same(
      await tiersOf(store, 'c'),
      ['m1 cool', 'm2 cool', 'm3 cool', 'm4 cool', 'm5 cool', 'call cool', 'result hot', 'last hot'],
      'a late result cools after its neighbours',
    );
    await cool(store, 1);
    same((await tiersOf(store, 'c')).slice(-3), ['call cool', 'result hot', 'last cool'], 'the result is the newest');
    same(await tiersOf(store, 'f'), ['m1 cool', 'm2 cool'], 'the fork');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R10', 'a search finds what is cool as what is hot, and says where it is', async (store) => {
    await sayMany(store, 'c', 4);
    await fillBlocks(store, 'd');
    await cool(store, 2);
    const hits = async (query: string, id?: string) => {
      const searcher = id === undefined ? await store.readSpace() : await store.look(id);
      return (await searcher.search(query)).hits.map((hit) => `${hit.messageId} ${hit.tier}`).sort();
    };
    same(await hits('WORD'), ['n0 cool', 'n1 cool', 'n2 hot', 'n3 hot'], 'the hits of the namespace');
    same(await hits('word 1', 'c'), ['n1 cool'], 'the hits of a conversation');
    same(await hits('lazy dog', 'c'), [], 'hits elsewhere');
    same((await hits('lazy dog')).length, 12, 'hits in several blocks');
  }),
  given('R10', 'a redaction reaches what is cool', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm5' }]);
    await cool(store, 1);
    await store.commit('c', [
      { kind: 'message.redact', messageId: 'm2', reason: 'private', replacement: [text('removed')] },
    ]);
    for (const id of ['c', 'f']) {
      const found = await (await store.look(id)).message('m2');
      holds(found.status === 'found_verified', `m2 of ${id} is ${found.status}`);
      same([found.message.parts, found.message.redaction?.reason], [[text('removed')], 'private'], `m2 of ${id}`);
    }
    same((await (await store.readSpace()).search('the first answer')).hits, [], 'hits');
    holds(!(await store.export()).includes('the first answer'), 'the words are left');
    same((await (await store.look('c')).message('m1')).status, 'found_verified', 'its neighbour');
    await (await store.backend()).collect(store.namespace);
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R10', 'an erasure reaches what is cool, but for what a living fork shares', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm2' }]);
    await fillBlocks(store, 'd');
    await cool(store, 0);
    const before = await view(store, 'f');
    for (const id of ['c', 'd']) await store.commit(id, [{ kind: 'conversation.erase' }]);
    await (await store.backend()).collect(store.namespace);
    same(await view(store, 'f'), before, 'the fork');
    const left = await store.export();
    holds(!left.includes('the second question') && !left.includes('lazy dog'), 'erased words are left');
    holds(left.includes('the first question'), 'words that the fork shares are gone');
    await store.commit('f', [{ kind: 'conversation.erase' }]);
    await (await store.backend()).collect(store.namespace);
    holds(!(await store.export()).includes('the first question'), 'words are left when the fork is erased as well');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R10', 'commits and coolings at the same time lose and double nothing', async (store) => {
    await play(store, 'idle', 'c');
    const others = await store.otherLedger();
    const space = await store.space();
    const writes = Array.from({ length: 40 }, (_, at) =>
      (at % 2 === 0 ? space : others.namespace(store.namespace)).commit({
        commitId: `w${at}`,
        conversationId: 'c',
        changes: [
          { kind: 'turn.record', turnId: `x${at}`, origin: 'x' },
          append(says('user', `message ${at}`, `x${at}`)),
          ...(at === 30 ? [{ kind: 'message.redact' as const, messageId: 'm2', reason: 'private' }] : []),
        ],
      }),
    );
    const coolings = [3, 1, 4, 1, 2].map((hotMessages) => cool(store, hotMessages));
    await Promise.all([...writes, ...coolings]);
    await cool(store, 2);
    const found = await tiersOf(store, 'c');
    same(found.length, 45, 'the messages');
    same(new Set(found).size, 45, 'messages without those that repeat');
    const hot = found.findIndex((one) => one.endsWith('hot'));
    holds(hot >= 43 && found.slice(hot).every((one) => one.endsWith('hot')), `the first hot one is ${hot} of 45`);
    const redacted = await (await store.look('c')).message('m2');
    same(redacted.status === 'found_verified' && redacted.message.parts, [], 'the redacted message');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R10', 'an aborted cooling stops, and progress is told', async (store) => {
    await sayMany(store, 'c', 4);
    const backend = await store.backend();
    const signal = AbortSignal.abort('enough');
    await refused(backend.cool(store.namespace, { hotMessages: 1, signal }), 'aborted');
    const told: number[] = [];
    same(
      await backend.cool(store.namespace, { hotMessages: 1, onProgress: (commits) => void told.push(commits) }),
      3,
      'the commits that moved',
    );
    same(told.at(-1), 3, 'the progress at the end');
    same(await backend.cool(`${store.namespace}-empty`, {}), 0, 'an empty namespace');
  }),
];
