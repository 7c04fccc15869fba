import type { Receipt } from '../../core/receipt.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { entryOf } from '../kinds.ts';
import { append, play, says, text } from '../scenes.ts';
import type { Store } from '../store.ts';
import { assertChains } from '../verify.ts';

const SECRET = 'zanzibar';

/** A conversation that says the secret wherever words can stand. */
async function playSecrets(store: Store, id = 'c'): Promise<void> {
  const word = SECRET;
  const json = { [word]: word };
  await store.commit(id, [
    {
      kind: 'conversation.create',
      title: word,
      owner: word,
      labels: [word],
      participants: [word],
      metadata: json,
      origin: { kind: 'import', tool: word, source: word },
    },
    {
      kind: 'turn.submit',
      turnId: 't1',
      operationId: 'o1',
      messageId: 'm1',
      promptId: 'p1',
      prompt: [text(word)],
      metadata: json,
    },
    { kind: 'turn.advance', turnId: 't1', to: 'running' },
    append(
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', callId: 'l1', name: word, input: json }],
        author: { id: word, kind: 'agent' },
        messageId: 'm2',
      },
      't1',
    ),
    append({
      role: 'tool',
      parts: [{ type: 'tool_result', callId: 'l1', status: 'ok', output: json }],
      messageId: 'm3',
    }),
    {
      kind: 'checkpoint.create',
      checkpointId: 'k1',
      type: 'agent',
      scope: word,
      payload: { [word]: { json: `${word} `.repeat(100) } },
      metadata: json,
    },
    { kind: 'checkpoint.advance', checkpointId: 'k1', from: 0, payload: { [word]: { json: word } } },
    { kind: 'checkpoint.write', checkpointId: 'k1', revision: 1, task: 'n', index: 0, channel: word, value: { json } },
    { kind: 'task.create', taskId: 'w1', title: word, assignee: word, metadata: json },
    { kind: 'task.transition', taskId: 'w1', to: 'running', outcomeRef: word },
    { kind: 'commitment.add', commitmentId: 'c1', content: word, type: word },
    { kind: 'state.update', objective: word, stage: word, nextStep: word, blockers: [word], plan: [json] },
    { kind: 'binding.save', turnId: 't1', history: word, cursor: json, capture: 'live' },
    { kind: 'run.start', runId: 'r1', agent: word, baseTurnId: 't1', metadata: json },
    { kind: 'run.end', runId: 'r1', status: 'failed', reason: { code: 'x', message: word } },
    { kind: 'step.start', turnId: 't1', callId: 'l1', name: word, input: json },
    { kind: 'step.finish', turnId: 't1', key: 'l1', outcome: { status: 'succeeded', result: json } },
    { kind: 'step.start', turnId: 't1', key: word, name: word },
    { kind: 'step.settle', turnId: 't1', key: word, outcome: { status: 'failed', code: 'x', message: word } },
    { kind: 'interrupt.request', interruptId: word, turnId: 't1', type: 'input', callId: 'l1', payload: json },
    { kind: 'interrupt.answer', interruptId: word, by: word, response: json },
    { kind: 'interrupt.request', interruptId: 'i2', turnId: 't1', type: 'input', payload: json },
    { kind: 'turn.advance', turnId: 't1', to: 'completed' },
  ]);
  await store.commit(id, [{ kind: 'conversation.update', readThrough: { reader: word, sequence: 1 } }]);
  await store.commit(id, [{ kind: 'summary.commit', upTo: 'm3', text: word, metadata: json }], {
    expect: { transcript: { turn: 't1', lastSequence: 3 } },
  });
  await store.commit(id, [
    { kind: 'turn.submit', turnId: 't2', operationId: 'o2', messageId: 'm4', promptId: 'p2', prompt: [text(word)] },
  ]);
  await store.commit(id, [
    { kind: 'operation.resolve', operationId: 'o2', outcome: { status: 'failed', code: 'x', message: word } },
  ]);
  await store.commit(id, [{ kind: 'message.redact', messageId: 'm4', reason: word, replacement: [text(word)] }]);
}

async function eraseAndCollect(store: Store, id: string): Promise<Receipt> {
  const receipt = await store.commit(id, [{ kind: 'conversation.erase' }]);
  await (await store.space()).collect();
  return receipt;
}

/** All that a conversation answers, apart from what other conversations write. */
async function reading(store: Store, id: string): Promise<object> {
  const conversation = await store.look(id);
  const { messages } = await conversation.page();
  return {
    messages,
    window: (await conversation.window(3)).messages,
    graph: await conversation.graph(),
    tasks: await conversation.tasks.list(),
    state: await conversation.state(),
    commitments: await conversation.commitments.list(),
    summary: await conversation.summary(),
    info: await conversation.info(),
    taskMessages: await conversation.tasks.messages('w1'),
  };
}

async function scenesWithForks(store: Store): Promise<void> {
  await play(store, 'idle', 'source');
  await store.commit('fork', [{ kind: 'conversation.fork', source: 'source', at: 'm2', title: 'a fork' }]);
  await store.commit('fork', [
    { kind: 'turn.record', turnId: 'own', origin: 'x' },
    append(says('user', 'of the fork', 'own-1')),
  ]);
  await store.commit('grandchild', [{ kind: 'conversation.fork', source: 'fork', at: 'own-1' }]);
  await store.commit('source', [
    { kind: 'turn.record', turnId: 'late', origin: 'x' },
    append(says('user', 'after the cut', 'late-1')),
  ]);
}

export const erasure: readonly ConformanceCase[] = [
  given('R6', 'nothing of an erased conversation is left but its place in the chain', async (store) => {
    await playSecrets(store);
    holds((await store.export()).split(SECRET).length > 25, 'the secret is in the store');
    const versions = (await (await store.look('c')).info()).version;
    await eraseAndCollect(store, 'c');
    const left = await store.export();
    holds(
      !left.includes(SECRET),
      `the secret is left: ${left
        .split('\n')
        .find((line) => line.includes(SECRET))
        ?.slice(0, 300)}`,
    );
    same(
      left.split('\n').filter((line) => line.startsWith('["row"')),
      [],
      'rows that are left',
    );
    same(left.split('\n').filter((line) => line.startsWith('["log"')).length, versions + 1, 'links of the chain');
    const { backend } = await store.reader();
    await assertChains(backend, store.namespace);
    await backend.read(store.namespace, (rows) => {
      for (let version = 1; version <= versions + 1; version++) {
        const log = rows.log('c', version);
        same(
          [log?.header, log?.records.filter((record) => record.body !== null || record.nonce !== null).length],
          [null, 0],
          `what is left of version ${version}`,
        );
      }
    });
  }),
  given('R6', 'an erased conversation is nowhere to be read', async (store) => {
    await play(store, 'idle', 'c');
    const erasedAt = new Date(store.clock.at).toISOString();
    const receipt = await store.commit('c', [{ kind: 'conversation.erase', reason: 'asked_for' }]);
    same(receipt.events, [{ kind: 'conversation.erase', reason: 'asked_for' }], 'the receipt');
    const details = { conversationId: 'c', erasedAt };
    for (const collected of [false, true]) {
      if (collected) await (await store.space()).collect();
      const conversation = await store.look('c');
      const reads = [
        () => conversation.info(),
        () => conversation.page(),
        () => conversation.window(1),
        () => conversation.message('m1'),
        () => conversation.graph(),
        () => conversation.state(),
        () => conversation.tasks.list(),
        () => conversation.commitments.list(),
        () => conversation.checkpoints.get('k1'),
        () => conversation.summary(),
        () => conversation.operation('o1'),
        () => conversation.bindings('t1'),
        () => conversation.search('question'),
        () => conversation.at(1),
      ];
      for (const read of reads) await refused(read, 'erased', details);
      same(await conversation.exists(), false, 'it exists');
      same((await (await store.readSpace()).page()).items, [], 'the list');
      same((await (await store.readSpace()).search('question')).hits, [], 'the hits');
    }
  }),
  ...(
    [
      'message.append',
      'conversation.create',
      'turn.submit',
      'checkpoint.create',
      'state.update',
      'conversation.fork',
      'message.redact',
      'run.start',
      'step.start',
      'interrupt.answer',
    ] as const
  ).map((kind) =>
    given('R6', `a late write to an erased conversation is refused: ${kind}`, async (store) => {
      await play(store, 'idle', 'c');
      await play(store, 'idle', 'fork-source');
      const erasedAt = new Date(store.clock.at).toISOString();
      await store.commit('c', [{ kind: 'conversation.erase' }]);
      store.clock.move(1_000);
      for (const collected of [false, true]) {
        if (collected) await (await store.space()).collect();
        await store.untouchedBy(async () => {
          const sent = { commitId: `late ${collected}`, expect: entryOf(kind).expect };
          await refused(store.commit('c', [entryOf(kind).change], sent), 'erased', { conversationId: 'c', erasedAt });
          await refused(store.commit('c', [entryOf(kind).change], { commitId: 'scene-1' }), 'erased', {
            conversationId: 'c',
            erasedAt,
          });
        });
      }
      await refused(store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm2' }]), 'erased', {
        conversationId: 'c',
        erasedAt,
      });
    }),
  ),
  given('R6', 'to erase what was erased changes nothing, and says when it was done', async (store) => {
    await play(store, 'idle', 'c');
    const first = await store.commit('c', [{ kind: 'conversation.erase' }], { commitId: 'one' });
    store.clock.move(1_000);
    for (const collected of [false, true]) {
      if (collected) await (await store.space()).collect();
      await store.untouchedBy(async () => {
        for (const commitId of ['one', 'two']) {
          same(
            await store.commit('c', [{ kind: 'conversation.erase', reason: 'again' }], { commitId }),
            { ...first, commitId, replayed: true },
            `the receipt of ${commitId}`,
          );
        }
      });
    }
  }),
  given('R6', 'collecting again removes nothing, and an untouched conversation stays', async (store) => {
    await play(store, 'idle', 'c');
    await play(store, 'working', 'd');
    const before = await reading(store, 'd');
    await store.commit('c', [{ kind: 'conversation.erase' }]);
    holds((await (await store.space()).collect()) > 20, 'rows went');
    await store.untouchedBy(async () => same(await (await store.space()).collect(), 0, 'rows that went afterwards'));
    same(await reading(store, 'd'), before, 'the other conversation');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R6', 'I6: forks keep exactly what they saw when their source is erased', async (store) => {
    await scenesWithForks(store);
    const before = [await reading(store, 'fork'), await reading(store, 'grandchild')];
    await eraseAndCollect(store, 'source');
    same([await reading(store, 'fork'), await reading(store, 'grandchild')], before, 'what the forks read');
    const left = await store.export();
    for (const words of ['second question', 'after the cut', 'found l1'])
      holds(!left.includes(words), `“${words}”, which no fork saw, is left`);
    same((await (await store.readSpace()).search('first question')).hits.length, 1, 'hits of what a fork still sees');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R6', 'I6: a source stays whole when its fork is erased', async (store) => {
    await scenesWithForks(store);
    const before = [await reading(store, 'source'), await reading(store, 'grandchild')];
    await eraseAndCollect(store, 'fork');
    same([await reading(store, 'source'), await reading(store, 'grandchild')], before, 'what the others read');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R6', 'what an erased ancestor kept for a fork goes with the last fork', async (store) => {
    await scenesWithForks(store);
    await eraseAndCollect(store, 'source');
    await eraseAndCollect(store, 'fork');
    holds((await store.export()).includes('the first question'), 'the grandchild still sees the first question');
    await eraseAndCollect(store, 'grandchild');
    const left = await store.export();
    same(
      left.split('\n').filter((line) => line.startsWith('["row"')),
      [],
      'rows that are left',
    );
    holds(!/question|answer|fork of|of the fork/.test(left), 'words are left');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R6', 'forks go on living after their source is gone', async (store) => {
    await scenesWithForks(store);
    await eraseAndCollect(store, 'source');
    await store.commit(
      'fork',
      [
        { kind: 'turn.record', turnId: 'more', parent: { turnId: 't1' }, origin: 'x' },
        append(says('user', 'x', 'more-1')),
      ],
      { expect: { graphRevision: (await (await store.conversation('fork')).info()).graphRevision } },
    );
    await store.commit('nephew', [{ kind: 'conversation.fork', source: 'fork', at: 'm2' }]);
    const ids = async (id: string) =>
      (await (await store.look(id)).page()).messages.map((message) => message.messageId);
    same(await ids('fork'), ['m1', 'm2', 'more-1'], 'the path of the fork');
    same(await ids('nephew'), ['m1', 'm2'], 'the path of a new fork');
    same(
      (await (await store.look('fork')).siblings('more')).map((turn) => turn.ordinal),
      [1, 2],
      'the ordinals',
    );
  }),
];
