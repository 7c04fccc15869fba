import type { Change } from '../../core/change.ts';
import type { Json } from '../../core/json.ts';
import type { Part } from '../../core/message.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { append, play, says } from '../scenes.ts';
import type { Store } from '../store.ts';
import { KEPT, nested, REFUSED } from '../values.ts';

function partsWith(value: Json): readonly Part[] {
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  return [
    { type: 'text', text: words, citations: [value], providerMetadata: { p: value } },
    { type: 'reasoning', text: words, signature: words },
    { type: 'tool_call', callId: 'call', name: words, input: value },
    { type: 'tool_result', callId: 'call', status: 'ok', output: value },
    { type: 'data', name: 'd', data: value },
    { type: 'opaque', kind: 'vendor.x', value },
  ];
}

function sameJsonText(actual: unknown, expected: unknown, what: string): void {
  same(actual, expected, what);
  same(JSON.stringify(actual), JSON.stringify(expected), `${what}, its keys in order`);
}

/** Puts a value everywhere a caller can put one, and reads it back. */
async function comesOutEqual(store: Store, value: Json): Promise<void> {
  await play(store, 'submitted', 'c');
  const parts = partsWith(value);
  await store.commit('c', [
    append({ role: 'user', parts, metadata: value, messageId: 'x' }, 't3'),
    { kind: 'conversation.update', metadata: value },
    { kind: 'binding.save', turnId: 't1', history: 'h', cursor: value, capture: 'live' },
    { kind: 'state.update', plan: [value] },
    {
      kind: 'checkpoint.create',
      checkpointId: 'k',
      type: 'agent',
      payload: { part: { json: value } },
      metadata: value,
    },
    {
      kind: 'checkpoint.write',
      checkpointId: 'k',
      revision: 0,
      task: 'n',
      index: 0,
      channel: 'c',
      value: { json: value },
    },
  ]);
  const conversation = await store.look('c');
  const found = await conversation.message('x');
  holds(found.status === 'found_verified', 'the message is there, verified');
  sameJsonText(found.message.parts, parts, 'the parts');
  sameJsonText(found.message.metadata, value, 'the message’s metadata');
  sameJsonText((await conversation.info()).metadata, value, 'the conversation’s metadata');
  sameJsonText((await conversation.bindings('t1'))[0]?.cursor, value, 'the cursor');
  sameJsonText((await conversation.state()).plan, [value], 'the plan');
  const checkpoint = await conversation.checkpoints.get('k');
  sameJsonText([checkpoint?.payload, checkpoint?.metadata], [{ part: { json: value } }, value], 'the checkpoint');
  sameJsonText((await conversation.checkpoints.pendingWrites('k', 0))[0]?.value, { json: value }, 'the pending write');
}

const kept = KEPT.map(([what, value]) =>
  given('S7', `it comes out as it went in: ${what}`, async (store) => comesOutEqual(store, value)),
);

const places: readonly (readonly [path: string, change: (value: unknown) => unknown])[] = [
  [
    'commit.changes[0].message.metadata',
    (value) => ({ kind: 'message.append', message: { role: 'user', parts: [], metadata: value } }),
  ],
  [
    'commit.changes[0].message.parts[0].data',
    (value) => ({
      kind: 'message.append',
      message: { role: 'user', parts: [{ type: 'data', name: 'd', data: value }] },
    }),
  ],
  [
    'commit.changes[0].payload.state.json',
    (value) => ({ kind: 'checkpoint.create', type: 'agent', payload: { state: { json: value } } }),
  ],
];

const refusedValues = REFUSED.map(([what, value, fault]) =>
  given('S7', `it is refused with its path, and never turned into something else: ${what}`, async (store) => {
    await play(store, 'idle', 'c');
    await store.untouchedBy(async () => {
      for (const [path, change] of places) {
        const error = await refused(
          store.send({ commitId: 'k', conversationId: 'c', changes: [change(value())] }),
          'invalid_value',
        );
        same(error.details.path, `${path}${fault}`, 'the path');
      }
    });
  }),
);

const IDS = {
  kept: [
    'C:\\abs',
    '..\\up',
    '..',
    '.',
    '/etc/passwd',
    '../../x',
    'a\\b',
    'a/b',
    'a%5Cb',
    'con',
    'x:stream',
    'trailing ',
    ' leading',
    '-rf',
    '$(x)',
    '*',
    '%',
    '_',
    "'",
    '"',
    '?',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'undefined',
    'null',
    '0',
    '-1',
    '1e3',
    'x'.repeat(255),
    'x'.repeat(512),
    '\u2028',
    '\u00a0',
    '\ufeff',
    'e\u0301',
    'é',
  ],
  apart: [
    ['Session', 'session'],
    ['🔥', '～'],
    ['a b', 'a\u00a0b'],
    ['İ', 'i̇'],
    ['é', 'e\u0301'],
    ['a', 'a '],
    ['ß', 'ss'],
    ['ﬁ', 'fi'],
    ['K', '\u212a'],
    ['x', 'x\ufeff'],
    ['1', '01'],
  ],
  refused: ['', 'a\0b', '\u0001', 'a\nb', '\u007f', '\u0085', 'x\ud83d', '\udd25', 'x'.repeat(513), '🔥'.repeat(129)],
} as const;

function everyId(id: string): readonly Change[] {
  return [
    append({ ...says('user', `words of ${id}`, id) }),
    { kind: 'task.create', taskId: id, title: `task ${id}` },
    { kind: 'commitment.add', commitmentId: id, content: `promise ${id}` },
    { kind: 'checkpoint.create', checkpointId: id, type: 'agent', payload: { [id]: { json: id } } },
    {
      kind: 'checkpoint.write',
      checkpointId: id,
      revision: 0,
      task: id,
      taskPath: id,
      index: -3,
      channel: id,
      value: { json: id },
    },
    {
      kind: 'turn.submit',
      turnId: id,
      operationId: id,
      messageId: `${id.slice(0, 100)}+p`,
      promptId: id,
      prompt: [{ type: 'text', text: id }],
    },
    {
      kind: 'message.append',
      turnId: id,
      message: {
        messageId: `${id.slice(0, 100)}+c`,
        role: 'assistant',
        parts: [{ type: 'tool_call', callId: id, name: id }],
      },
    },
    { kind: 'attempt.start', turnId: id, attempt: id },
    { kind: 'binding.save', turnId: id, history: id, cursor: id, capture: 'live' },
    {
      kind: 'conversation.update',
      labels: [id],
      participants: [id],
      owner: id,
      readThrough: { reader: id, sequence: 1 },
    },
  ];
}

async function idComesBack(store: Store, id: string): Promise<void> {
  await store.commit(id, everyId(id), { commitId: id });
  const again = await store.commit(id, everyId(id), { commitId: id });
  same(again.replayed, true, 'the commit id is known');
  const conversation = await store.look(id);
  const found = await conversation.message(id);
  holds(found.status === 'found_verified', `message ${JSON.stringify(id)} is found`);
  same([found.message.messageId, found.message.conversationId], [id, id], 'the ids of the message');
  same((await conversation.tasks.get(id))?.taskId, id, 'the task');
  same(
    (await conversation.commitments.list()).map((one) => one.commitmentId),
    [id],
    'the commitments',
  );
  same(Object.keys((await conversation.checkpoints.get(id))?.payload ?? {}), [id], 'the checkpoint’s parts');
  const [pending] = await conversation.checkpoints.pendingWrites(id, 0);
  same([pending?.task, pending?.taskPath, pending?.index, pending?.channel], [id, id, -3, id], 'the pending write');
  same((await conversation.operation(id))?.turnId, id, 'the operation');
  same(
    (await conversation.bindings(id)).map((one) => [one.history, one.cursor]),
    [[id, id]],
    'the bindings',
  );
  same(
    (await conversation.graph()).map((turn) => turn.turnId),
    [id],
    'the turns',
  );
  same((await conversation.info({ reader: 'nobody' })).unread, 3, 'unread of somebody else');
  const listed = await (await store.readSpace()).page({ owner: id, label: id, participant: id, reader: id });
  same(
    listed.items.map((item) => [item.conversationId, item.unread]),
    [[id, 2]],
    'the list',
  );
}

const ids: readonly ConformanceCase[] = [
  ...IDS.kept.map((id) =>
    given(
      'S7',
      `an id comes back as it is: ${JSON.stringify(id.length > 40 ? `${id.slice(0, 1)}… (${id.length})` : id)}`,
      async (store) => idComesBack(store, id),
    ),
  ),
  ...IDS.apart.map(([left, right]) =>
    given('S7', `two ids that differ in a byte are two ids: ${JSON.stringify([left, right])}`, async (store) => {
      await idComesBack(store, left);
      await idComesBack(store, right);
      same((await (await store.readSpace()).page()).items.length, 2, 'conversations');
      // Within one conversation too.
      await store.commit('both', [append(says('user', 'l', left)), append(says('user', 'r', right))]);
      const { messages } = await (await store.look('both')).page({ leaf: null });
      same(
        messages.map((message) => message.messageId),
        [left, right],
        'the messages',
      );
    }),
  ),
  ...IDS.refused.map((id) =>
    given(
      'S7',
      `it is no id: ${JSON.stringify(id.length > 40 ? `${id.slice(0, 2)}… (${id.length})` : id)}`,
      async (store) => {
        await play(store, 'idle', 'c');
        const limits = id.length > 100;
        await store.untouchedBy(async () => {
          const bad = async (commit: object, path: string) => {
            const error = await refused(
              store.send({
                commitId: 'k',
                conversationId: 'c',
                changes: [{ kind: 'state.update', stage: 'x' }],
                ...commit,
              }),
              'invalid_value',
            );
            same(error.details.path, path, 'the path');
            if (limits) holds(error.details.reason.includes('512'), 'the reason names the limit');
          };
          await bad({ commitId: id }, 'commit.commitId');
          await bad({ conversationId: id }, 'commit.conversationId');
          await bad({ changes: [append(says('user', 'x', id))] }, 'commit.changes[0].message.messageId');
          await bad({ changes: [{ kind: 'task.create', taskId: id, title: 'x' }] }, 'commit.changes[0].taskId');
          await bad({ changes: [{ kind: 'conversation.fork', source: id, at: 'm' }] }, 'commit.changes[0].source');
          await bad({ fence: { attempt: id, token: 1 } }, 'commit.fence.attempt');
          const space = await store.space();
          await refused(() => space.conversation(id), 'invalid_value');
        });
      },
    ),
  ),
];

export const values: readonly ConformanceCase[] = [
  ...kept,
  ...refusedValues,
  ...ids,
  given('S7', '-0 is 0, and a property that holds undefined is absent', async (store) => {
    await play(store, 'submitted', 'c');
    const message = { role: 'user', messageId: 'x', parts: [], metadata: { zero: -0, gone: undefined, list: [-0] } };
    await store.send({
      commitId: 'k',
      conversationId: 'c',
      changes: [{ kind: 'message.append', message, turnId: 't3' }],
    });
    const found = await (await store.look('c')).message('x');
    same(found.status === 'found_verified' && found.message.metadata, { zero: 0, list: [0] }, 'the metadata');
  }),
  given('S7', 'tool input that comes as raw text stays raw text', async (store) => {
    await play(store, 'submitted', 'c');
    const inputText =
      '{"id":2512292042121000001,"dec":0.10000000000000000555,"huge":1e400,"a":1,"a":2, "x":"\\ud83d" }';
    await store.commit('c', [
      append(
        { role: 'assistant', messageId: 'x', parts: [{ type: 'tool_call', callId: 'k', name: 'f', inputText }] },
        't3',
      ),
    ]);
    const found = await (await store.look('c')).message('x');
    holds(found.status === 'found_verified', 'the message is there');
    same(found.message.parts, [{ type: 'tool_call', callId: 'k', name: 'f', inputText }], 'the parts');
    same((await (await store.look('c')).search('2512292042121000001')).hits.length, 1, 'hits');
  }),
  given('S7', 'bytes of a checkpoint come out as they went in', async (store) => {
    await play(store, 'idle', 'c');
    const bytes = Buffer.from(Array.from({ length: 3 * 683 }, (_, at) => at % 256));
    const payload = {
      bytes: { base64: bytes.toString('base64') },
      none: { base64: '' },
      one: { base64: 'AA==' },
      long: { base64: bytes.toString('base64').repeat(20) },
    };
    await store.commit('c', [{ kind: 'checkpoint.create', checkpointId: 'k', type: 'agent', payload }]);
    await store.commit('c', [
      { kind: 'checkpoint.advance', checkpointId: 'k', from: 0, payload: { ...payload, more: { json: 1 } } },
    ]);
    const { checkpoints } = await store.look('c');
    same((await checkpoints.get('k', 0))?.payload, payload, 'revision 0');
    same((await checkpoints.get('k'))?.payload, { ...payload, more: { json: 1 } }, 'revision 1');
  }),
  given('S7', 'a value that contains itself is refused', async (store) => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    await refused(
      store.send({
        commitId: 'k',
        conversationId: 'c',
        changes: [{ kind: 'message.append', message: { role: 'user', parts: [], metadata: circle } }],
      }),
      'limit_exceeded',
    );
    same(await (await store.look('c')).exists(), false, 'the conversation exists');
  }),
  given('S7', 'nesting past its limit is refused, however deep it is', async (store) => {
    const deep = async (value: unknown) =>
      refused(
        store.send({
          commitId: 'k',
          conversationId: 'c',
          changes: [{ kind: 'message.append', message: { role: 'user', parts: [], metadata: value } }],
        }),
        'limit_exceeded',
      );
    for (const depth of [200, 20_000]) same((await deep(nested(depth))).details.limit, 'jsonDepth', 'the limit');
    same(await (await store.look('c')).exists(), false, 'the conversation exists');
  }),
  given('S7', 'what is inherited by an object is not its own', async (store) => {
    const inherited: object = Object.create({ kind: 'state.update', stage: 'x' }) as object;
    await refused(store.send({ commitId: 'k', conversationId: 'c', changes: [inherited] }), 'invalid_value');
    same((await failureless(store)).events.length, 1, 'events of a commit of objects without a prototype');
  }),
];

async function failureless(store: Store) {
  const change: object = Object.assign(Object.create(null) as object, { kind: 'state.update', stage: 'x' });
  return store.send({ commitId: 'bare', conversationId: 'c', changes: [change] });
}
