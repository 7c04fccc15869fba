import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, letOthersRun, refused, same } from '../check.ts';
import { append, play, says } from '../scenes.ts';

export const isolation: readonly ConformanceCase[] = [
  given('S6', 'the same ids in two namespaces are strangers', async (store) => {
    const twin = store.inNamespace(`${store.namespace}|twin`);
    await play(store, 'working', 'c');
    const before = await store.export();
    await play(twin, 'idle', 'c');
    await twin.commit('c', [{ kind: 'conversation.update', title: 'another title' }], { commitId: 'shared' });
    const here = await store.commit('c', [{ kind: 'conversation.update', title: 'a title' }], { commitId: 'shared' });
    same(here.replayed, false, 'a commit id of another namespace is no replay');
    await twin.commit('c', [{ kind: 'conversation.erase' }]);
    await (await twin.space()).collect();
    holds((await store.export()).startsWith(before.slice(0, before.indexOf('["head"'))), 'the export changed');
    same((await (await store.look('c')).info()).title, 'a title', 'the title');
    same((await (await store.readSpace()).search('question')).hits.length, 3, 'hits here');
    same((await (await twin.readSpace()).search('question')).hits.length, 0, 'hits there');
  }),
  given('S6', 'lists, searches and feeds stay within their namespace', async (store) => {
    const twin = store.inNamespace(`${store.namespace}-b`);
    await store.commit('here', [append(says('user', 'a word of mine'))]);
    await twin.commit('there', [append(says('user', 'a word of theirs'))]);
    const space = await store.readSpace();
    same(
      (await space.page()).items.map((item) => item.conversationId),
      ['here'],
      'the list',
    );
    same(
      (await space.search('word')).hits.map((hit) => hit.conversationId),
      ['here'],
      'the hits',
    );
    const events: string[] = [];
    for await (const event of space.watch({ untilNow: true })) events.push(event.conversationId);
    same(events, ['here'], 'the feed');
    await refused(space.conversation('there').info(), 'conversation_not_found', { conversationId: 'there' });
  }),
  given('S6', 'nothing is forked across namespaces', async (store) => {
    const twin = store.inNamespace(`${store.namespace}-b`);
    await play(store, 'idle', 'c');
    await refused(
      twin.commit('fork', [{ kind: 'conversation.fork', source: 'c', at: 'm2' }]),
      'conversation_not_found',
      { conversationId: 'c' },
    );
  }),
  given(
    'S6',
    'namespaces are listed in UTF-8 order once they hold something',
    async (store) => {
      const names = ['b', 'a|1', 'Z', 'a.b', '0', 'a:1', '~'.replace('~', '_'), 'A@x+y-z'];
      for (const name of names) await store.inNamespace(name).commit('c', [append(says('user', 'x'))]);
      await refused(
        store
          .inNamespace('refused')
          .commit('c', [{ kind: 'checkpoint.advance', checkpointId: 'x', from: 0, payload: {} }]),
        'no_checkpoint',
      );
      same(await (await store.reader()).namespaces(), names.toSorted(), 'the namespaces');
    },
    { alone: true },
  ),
  given('S6', 'a namespace’s name is checked', async (store) => {
    const ledger = await store.reader();
    for (const name of ['', '.', '..', 'a/b', 'a\\b', 'a b', 'ä', 'a\0', 'x'.repeat(129), '-rf$', 'a%5C']) {
      await refused(() => ledger.namespace(name), 'invalid_value');
    }
    for (const name of ['x'.repeat(128), '...', '-', 'con', 'A|B:c@d+e-f_g.h']) ledger.namespace(name);
  }),
  given('S6', 'one reading sees one moment', async (store) => {
    const backend = (await store.otherLedger()).backend;
    const state = { open: true };
    const commits = Array.from({ length: 25 }, (_, at) =>
      store.commit(at % 2 === 0 ? 'a' : 'b', [append(says('user', `x${at}`))]),
    );
    const writing = Promise.all(commits).finally(() => (state.open = false));
    for (let looks = 0; state.open; looks++) {
      await letOthersRun(looks);
      await backend.read(store.namespace, (rows) => {
        const [first, second] = [rows.head('a'), rows.head('b')];
        const list = rows.heads({ order: 'created', limit: 10 });
        for (const head of [first, second]) {
          if (!head) continue;
          holds(rows.log('a' === head.conversationId ? 'a' : 'b', head.version), 'a head is ahead of its log');
          holds(!rows.log(head.conversationId, head.version + 1), 'a log is ahead of its head');
          same(
            list.find((one) => one.conversationId === head.conversationId)?.version,
            head.version,
            'the version listed',
          );
        }
        same(rows.head('a')?.version, first?.version, 'the version of a, read twice');
      });
    }
    await writing;
    same((await (await store.look('a')).info()).version, 13, 'commits of a');
  }),
  given(
    'S6',
    'what a reader was handed does not change afterwards, and what it does to it changes nothing',
    async (store) => {
      await play(store, 'idle', 'c');
      const conversation = await store.look('c');
      const before = await conversation.page({ leaf: 't1' });
      const copy = structuredClone(before);
      for (const message of before.messages) Object.assign(message, { role: 'system' });
      for (const { parts } of before.messages) (parts as unknown as unknown[]).push('x');
      same(await (await store.look('c')).page({ leaf: 't1' }), copy, 'the page');
    },
  ),
  given('S6', 'what the caller does to its objects after the call changes nothing', async (store) => {
    await play(store, 'submitted', 'c');
    const message = {
      role: 'user' as const,
      messageId: 'x',
      parts: [{ type: 'text' as const, text: 'as sent' }],
      metadata: { list: [1, 2] },
    };
    const changes = [{ kind: 'message.append' as const, message, turnId: 't3' }];
    const space = await store.space();
    const sending = space.commit({ commitId: 'k', conversationId: 'c', changes });
    const spoil = () => {
      message.parts[0] = { type: 'text', text: 'spoilt' };
      message.metadata.list.push(3);
      changes.length = 0;
    };
    spoil();
    const receipt = await sending;
    const found = await (await store.look('c')).message('x');
    const kept = found.status === 'found_verified' ? found.message : undefined;
    same([kept?.parts, kept?.metadata], [[{ type: 'text', text: 'as sent' }], { list: [1, 2] }], 'the message');
    (receipt.events as unknown[]).length = 0;
    const again = await store.send({
      commitId: 'k',
      conversationId: 'c',
      changes: [
        {
          kind: 'message.append',
          message: {
            role: 'user',
            messageId: 'x',
            parts: [{ type: 'text', text: 'as sent' }],
            metadata: { list: [1, 2] },
          },
          turnId: 't3',
        },
      ],
    });
    same(again.events.length, 1, 'events of the replay');
  }),
];
