import { hash, randomBytes } from 'node:crypto';
import type { Conversation, Json } from 'turnkeep';
import { isTurnkeepError } from 'turnkeep';
import { describe, expect, test } from 'vitest';
import { assistant, everything, feed, refused, text, turn, user, words } from './messages.testkit.ts';
import { BACKENDS, storeFor } from './stores.testkit.ts';

/** Faults that were seen in other stores by running them. Each must be impossible here. */
describe.each(BACKENDS)('faults of other stores, on %s', (backend) => {
  const store = storeFor(backend);

  // ---- Forks that read each other

  test('two branches of one turn never read each other’s data', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    for (const [turnId, graphRevision] of [
      ['left', 2],
      ['right', 4],
    ] as const) {
      const submit = { turnId, prompt: text(`go ${turnId}`), parent: { turnId: 't1' } };
      await conversation.submit(submit, { expect: { graphRevision } });
      await conversation.commit([
        { kind: 'turn.advance', turnId, to: 'running' },
        { kind: 'state.update', turnId, objective: turnId },
        { kind: 'task.create', turnId, taskId: `task ${turnId}`, title: turnId },
        { kind: 'commitment.add', turnId, content: `promise ${turnId}` },
        { kind: 'turn.advance', turnId, to: 'completed' },
      ]);
    }
    await store.everywhere(async (other) => {
      for (const leaf of ['left', 'right']) {
        expect(await words(other, leaf)).toEqual(['ask t1', 'answer t1', `go ${leaf}`]);
        expect((await other.state({ leaf })).objective).toBe(leaf);
        expect(await other.tasks.active({ leaf })).toMatchObject({ title: leaf });
        expect(await other.commitments.openLoops({ leaf })).toMatchObject([{ content: `promise ${leaf}` }]);
      }
    });
  });

  test('two forks of one conversation, and two checkpoints that go on from one, keep to themselves', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    await conversation.checkpoints.create({ checkpointId: 'base', type: 'agent', payload: { v: { json: 'base' } } });
    for (const id of ['left', 'right']) {
      const fork = await conversation.fork('t1.a', { conversationId: id });
      await fork.updateState({ objective: id });
      await fork.commit(turn('t2', `answer of ${id}`));
      await fork.checkpoints.create({ checkpointId: 'k', type: 'agent', payload: { v: { json: id } } });
      const parent = { checkpointId: 'base', revision: 0 };
      await conversation.checkpoints.create({ checkpointId: id, type: 'agent', parent, payload: { v: { json: id } } });
    }
    for (const id of ['left', 'right']) {
      await store.everywhere(async (fork) => {
        expect((await words(fork)).at(-1)).toBe(`answer of ${id}`);
        expect((await fork.state()).objective).toBe(id);
        expect((await fork.checkpoints.get('k'))?.payload).toEqual({ v: { json: id } });
      }, id);
      expect((await store.conversation().checkpoints.get(id))?.payload).toEqual({ v: { json: id } });
    }
    expect(await words(store.conversation())).toEqual(['ask t1', 'answer t1']);
  });

  // ---- Turns that are lost

  test('of two turns that begin at once none is lost: the second is told, asks again and stands after the first', async () => {
    const handle = await store.handles();
    await Promise.all([0, 1].map((at) => untilDone(() => handle(at).commit(turn(`t${at}`)), 'busy', 'conflict')));
    await store.everywhere(async (conversation) => {
      expect(await conversation.graph()).toHaveLength(2);
      expect((await words(conversation)).toSorted()).toEqual(['answer t0', 'answer t1', 'ask t0', 'ask t1']);
    });
  });

  test('two writers never branch in silence: who names a stale tree is told', async () => {
    const conversation = store.conversation();
    await conversation.commit(turn('t1'));
    const { graphRevision } = await conversation.info();
    const other = await store.elsewhere();
    const again = (turnId: string) => ({ turnId, prompt: text(turnId), parent: { turnId: 't1' } });
    const results = await Promise.allSettled([
      conversation.submit(again('one'), { expect: { graphRevision } }),
      other.submit(again('two'), { expect: { graphRevision } }),
    ]);
    const refusals = results.filter((result) => result.status === 'rejected');
    expect(refusals.map(({ reason }) => (isTurnkeepError(reason) ? reason.code : reason) as unknown)).toEqual([
      'conflict',
    ]);
    await store.everywhere(async (any) => expect(await any.graph()).toHaveLength(2));
  });

  test('a stale handle is refused with what it expected and what there is', async () => {
    const conversation = store.conversation();
    await conversation.append(user('one'));
    const { version } = await conversation.info();
    await (await store.elsewhere()).append(user('two'));
    await refused(conversation.append(user('three'), { expect: { version } }), 'conflict', {
      field: 'version',
      expected: 1,
      actual: 2,
    });
    await store.everywhere(async (any) => expect(await words(any)).toEqual(['one', 'two']));
  });

  test('twenty increments make twenty', async () => {
    const handle = await store.handles();
    await store.conversation().updateState({ plan: [0] });
    const increment = async (conversation: Conversation) => {
      const { version } = await conversation.info();
      const { plan } = await conversation.state({ atVersion: version });
      await conversation.updateState({ plan: [Number(plan[0]) + 1] }, { expect: { version } });
    };
    await Promise.all(Array.from({ length: 20 }, (_, at) => untilDone(() => increment(handle(at)), 'conflict')));
    await store.everywhere(async (conversation) => expect((await conversation.state()).plan).toEqual([20]));
  });

  test('a turn whose provider fails after a tool ran keeps what was said and done', async () => {
    const conversation = store.conversation();
    const { turnId } = await conversation.submit({ prompt: text('look it up') });
    await conversation.advance(turnId, 'running');
    await conversation.append({
      role: 'assistant',
      parts: [{ type: 'tool_call', callId: 'x', name: 'look', input: {} }],
    });
    await conversation.append({
      role: 'tool',
      parts: [{ type: 'tool_result', callId: 'x', status: 'ok', output: 'found' }],
    });
    await conversation.advance(turnId, 'failed');
    await store.everywhere(async (other) => {
      expect(await words(other)).toEqual(['look it up', 'tool_call', 'tool_result']);
      expect(await other.graph()).toMatchObject([{ turnId, state: 'failed' }]);
      expect((await other.info()).leaf).toBe(turnId);
    });
  });

  // ---- Growth

  test('a blob of 200 KB that does not change over 50 revisions is stored once', async () => {
    const { checkpoints } = store.conversation();
    const blob = { json: 'x'.repeat(200_000) };
    await checkpoints.create({ checkpointId: 'k', type: 'agent', payload: { blob, at: { json: 0 } } });
    for (let from = 0; from < 49; from++)
      await checkpoints.advance('k', { from, payload: { blob, at: { json: from + 1 } } });
    expect(await store.logBytes()).toBeLessThan(250_000);
    await store.everywhere(async (other) => {
      expect(await other.checkpoints.get('k', 0)).toMatchObject({ payload: { blob, at: { json: 0 } } });
      expect(await other.checkpoints.get('k')).toMatchObject({ revision: 49, payload: { blob, at: { json: 49 } } });
    });
    expect(store.fileBytes()).toBeLessThan(1_000_000);
  });

  test('storage grows with what is said, not with its square', async () => {
    const conversation = store.conversation();
    const say = async (from: number, to: number) => {
      for (let at = from; at < to; at++) {
        await conversation.commit([
          ...turn(`t${at}`, 'y'.repeat(2_000)),
          { kind: 'checkpoint.create', checkpointId: `k${at}`, type: 'agent', payload: { at: { json: at } } },
        ]);
      }
      return store.logBytes();
    };
    const first = await say(0, 40);
    const second = (await say(40, 80)) - first;
    expect(first).toBeLessThan(40 * 2_000 * 2);
    expect(second).toBeLessThan(first * 1.05);
  });

  // ---- Values

  test('a value is kept as it is', async () => {
    const value = JSON.parse(
      '{"z":1,"a":[null,true,"\\u0000","\\ud800 alone","\\u2028\\u2029","\\ud83d\\ude00"],"__proto__":{"x":1},"1":0.1,"big":9007199254740993,"":{}}',
    ) as Json;
    const conversation = store.conversation();
    await conversation.append(user('\u0000 \ud800 \u2028 __proto__', { messageId: 'm', metadata: value }));
    await conversation.update({ metadata: value });
    await conversation.updateState({ plan: [value] });
    const payload = { json: { json: value }, bytes: { base64: Buffer.from([0, 255, 10, 128]).toString('base64') } };
    await conversation.checkpoints.create({ checkpointId: 'k', type: 'agent', payload, metadata: value });
    await conversation.checkpoints.write('k', 0, [
      { task: 't', index: 0, channel: 'out', value: { json: value } },
      { task: 't', index: 1, channel: 'bytes', value: payload.bytes },
    ]);
    await store.everywhere(async (other) => {
      // As text: key order and own `__proto__` keys count.
      const same = (found: Json | undefined) => expect(JSON.stringify(found)).toBe(JSON.stringify(value));
      const { messages } = await other.window(1);
      same(messages[0]?.metadata);
      expect(await words(other)).toEqual(['\u0000 \ud800 \u2028 __proto__']);
      same((await other.info()).metadata);
      same((await other.state()).plan[0]);
      const checkpoint = await other.checkpoints.get('k');
      same(checkpoint?.metadata);
      expect(JSON.stringify(checkpoint?.payload)).toBe(JSON.stringify(payload));
      const pending = await other.checkpoints.pendingWrites('k', 0);
      expect(JSON.stringify(pending.map(({ value: one }) => one))).toBe(
        JSON.stringify([{ json: value }, payload.bytes]),
      );
    });
  });

  test.each([
    ['a BigInt', 1n],
    ['a Date', new Date(0)],
    ['NaN', Number.NaN],
    ['an infinity', Number.NEGATIVE_INFINITY],
    ['a Map', new Map()],
    ['bytes', new Uint8Array(2)],
    ['a function', () => 0],
    ['a symbol', Symbol('s')],
    ['undefined in an array', [undefined]],
    ['an instance of a class', new URL('https://example.org')],
  ])('%s is refused with its path, and never becomes something else', async (_, value) => {
    const conversation = store.conversation();
    await conversation.append(user('before'));
    const before = await everything(conversation);
    const bad = { deep: [{ value }] } as unknown as Json; // what a caller without types may hand in
    const at = Array.isArray(value) ? 'deep[0].value[0]' : 'deep[0].value';
    const pathOf = (call: Promise<unknown>) =>
      call.catch((error: unknown) => isTurnkeepError(error, 'invalid_value') && error.details.path);
    expect(await pathOf(conversation.append(user('x', { metadata: bad })))).toBe(
      `commit.changes[0].message.metadata.${at}`,
    );
    expect(await pathOf(conversation.updateState({ plan: [bad] }))).toBe(`commit.changes[0].plan[0].${at}`);
    const payload = { a: { json: bad } };
    expect(await pathOf(conversation.checkpoints.create({ type: 'agent', payload }))).toBe(
      `commit.changes[0].payload.a.json.${at}`,
    );
    expect(await everything(conversation)).toEqual(before);
  });

  test('a value that contains itself is refused', async () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const call = store.conversation().append(user('x', { metadata: loop as Json }));
    await expect(call).rejects.toMatchObject({ code: 'limit_exceeded', details: { limit: 'jsonDepth' } });
    expect(await store.conversation().exists()).toBe(false);
  });

  // ---- Ids and order

  test('a message id that another conversation or another tenant has moves nothing', async () => {
    await store.conversation('theirs').append(user('theirs', { messageId: 'm' }));
    await store.conversation('theirs', 'tenant').append(user('of the tenant', { messageId: 'm' }));
    await store.conversation('mine').append(user('mine', { messageId: 'm' }));
    for (const [id, said] of [
      ['theirs', 'theirs'],
      ['mine', 'mine'],
    ] as const) {
      await store.everywhere(async (conversation) => {
        expect(await words(conversation)).toEqual([said]);
        expect(await conversation.message('m')).toMatchObject({
          status: 'found_verified',
          message: { conversationId: id },
        });
      }, id);
    }
    expect(await words(store.conversation('theirs', 'tenant'))).toEqual(['of the tenant']);
  });

  test('of a batch with a duplicate id all is kept, or all is refused and said', async () => {
    const conversation = store.conversation();
    await conversation.append(user('one', { messageId: 'm1' }));
    const batch = (second: string) =>
      [user('one', { messageId: 'm1' }), user(second, { messageId: 'm2' }), user(second, { messageId: 'm2' })].map(
        (message) => ({ kind: 'message.append' as const, message }),
      );
    await conversation.commit(batch('two'));
    expect(await words(conversation)).toEqual(['one', 'two']);
    const clash = [...batch('two'), { kind: 'message.append' as const, message: user('other', { messageId: 'm1' }) }];
    await refused(conversation.commit(clash), 'message_conflict', { messageId: 'm1' });
    await store.everywhere(async (other) => expect(await words(other)).toEqual(['one', 'two']));
  });

  test('ids that differ in a byte, in case or in normal form are different ids', async () => {
    const conversation = store.conversation();
    const ids = ['e\u0301', '\u00e9', 'M', 'm', 'm ', ' m', '../m', '%6d'];
    for (const messageId of ids) await conversation.append(user(messageId, { messageId }));
    await store.everywhere(async (other) => {
      const { messages } = await other.page();
      expect(messages.map(({ messageId }) => messageId)).toEqual(ids);
      for (const messageId of ids)
        expect(await other.message(messageId)).toMatchObject({ message: { messageId, parts: text(messageId) } });
    });
  });

  test('ten updates of metadata at once all survive, each by compare and set', async () => {
    const handle = await store.handles();
    await store.conversation().create({ metadata: {} });
    const put = async (conversation: Conversation, key: string) => {
      const { version, metadata } = await conversation.info();
      await conversation.update({ metadata: { ...(metadata as object), [key]: true } }, { expect: { version } });
    };
    const keys = Array.from({ length: 10 }, (_, at) => `k${at}`);
    await Promise.all(keys.map((key, at) => untilDone(() => put(handle(at), key), 'conflict')));
    await store.everywhere(async (conversation) => {
      expect(Object.keys((await conversation.info()).metadata as object).toSorted()).toEqual(keys);
    });
  });

  test('updates of different fields at once all survive', async () => {
    const handle = await store.handles();
    const fields = [
      { title: 't' },
      { owner: 'o' },
      { labels: ['l'] },
      { participants: ['p'] },
      { pinned: true },
      { archived: true },
      { metadata: 1 },
    ];
    await Promise.all(fields.map((one, at) => handle(at).update(one)));
    const all = Object.assign({}, ...fields) as object;
    await store.everywhere(async (conversation) => expect(await conversation.info()).toMatchObject(all));
  });

  // ---- Damage

  test('a bad record in the middle is reported and never skipped', async () => {
    const conversation = store.conversation();
    for (const said of ['first words', 'middle words', 'last words']) await conversation.append(user(said));
    await store.damage('middle words');
    await store.everywhere(async (other) => {
      for (const reading of [() => other.page(), () => other.window(3), () => words(other)])
        await expect(reading()).rejects.toMatchObject({ code: 'corrupt', details: store.damagedRecord(2) });
      expect((await other.window(1)).messages).toMatchObject([{ parts: text('last words') }]);
    });
    const { faults } = await store.ledger.verify();
    const place = expect.stringMatching(/^conversation c, version 2\b/) as string;
    expect(faults).toContainEqual(expect.objectContaining({ place }));
    // An index that still has the words as they were may say so too; no other record is blamed.
    const blamed = faults.filter(({ kind }) => kind.endsWith('_digest'));
    expect(blamed).toEqual(blamed.map(() => expect.objectContaining({ place }) as object));
  });
});

describe.each(BACKENDS)('order does not come from a clock, on %s', (backend) => {
  const times = [1_000, 1_000, 900, 5_000, 10];
  let calls = 0;
  const surroundings = {
    sha256: (text: string) => hash('sha256', text, 'base64url'),
    now: () => times[calls++ % times.length] ?? 0,
    nonce: () => randomBytes(16).toString('base64url'),
  };
  const store = storeFor(backend, { surroundings });

  test('messages of one millisecond, or of a clock that goes back, are read in the order of their commits', async () => {
    const conversation = store.conversation();
    const said = Array.from({ length: 25 }, (_, at) => `m${at}`);
    for (const [at, one] of said.entries()) {
      // Ids that sort against the order of the commits.
      await conversation.append(
        at % 2 === 0 ? user(one, { messageId: `id ${99 - at}` }) : assistant(one, { messageId: `id ${99 - at}` }),
      );
    }
    await store.everywhere(async (other) => {
      expect(await words(other)).toEqual(said);
      expect((await feed(other)).map(({ version }) => version)).toEqual(said.map((_, at) => at + 1));
      expect((await other.info()).lastActivityAt).toBe(new Date(5_000).toISOString());
    });
  });

  test('turns and tasks of one millisecond keep their order', async () => {
    const conversation = store.conversation();
    for (const turnId of ['z', 'm', 'a']) await conversation.commit(turn(turnId));
    for (const taskId of ['y', 'b']) {
      await conversation.tasks.create({ taskId, title: taskId });
      await conversation.tasks.transition(taskId, 'failed');
    }
    await store.everywhere(async (other) => {
      expect((await other.graph()).map(({ turnId }) => turnId)).toEqual(['z', 'm', 'a']);
      expect((await other.tasks.list()).map(({ taskId }) => taskId)).toEqual(['y', 'b']);
      expect((await other.tasks.latest())?.taskId).toBe('b');
    });
  });
});

/** Asks again while the answer is one of these refusals. */
async function untilDone(call: () => Promise<unknown>, ...codes: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (!isTurnkeepError(error) || !codes.includes(error.code)) throw error;
    }
  }
}
