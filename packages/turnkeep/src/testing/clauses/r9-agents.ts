import type { Change } from '../../core/change.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { append, answers, calls, HELD, play, text } from '../scenes.ts';
import type { Store } from '../store.ts';

const SECOND = { attempt: 'a2', token: 2 };
const takeover: Change = { kind: 'attempt.takeover', attempt: 'a2', turnId: 't3', fromToken: 1 };
const start = (key: string, more: object = {}): Change => ({ kind: 'step.start', turnId: 't3', key, ...more });
const done = (key: string, result: number): Change => ({
  kind: 'step.finish',
  turnId: 't3',
  key,
  outcome: { status: 'succeeded', result },
});
const ask = (interruptId: string, more: object = {}): Change => ({
  kind: 'interrupt.request',
  interruptId,
  turnId: 't3',
  type: 'approval',
  payload: { may: interruptId },
  ...more,
});
const answer = (interruptId: string, by: string, response: unknown = 'yes'): Change => ({
  kind: 'interrupt.answer',
  interruptId,
  by,
  response: response as string,
});

async function steps(store: Store): Promise<readonly (readonly [string, string, number, unknown])[]> {
  const all = await (await store.look('c')).steps('t3');
  return all.map(({ key, status, starts, result }) => [key, status, starts, result]);
}

async function openIn(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const one of (await store.readSpace()).interrupts())
    found.push(`${one.conversationId} ${one.interruptId}`);
  return found.sort();
}

const stepCases: readonly ConformanceCase[] = [
  given('R9', 'I7: a step that has its result keeps it, whichever attempt asks', async (store) => {
    await play(store, 'stepping', 'c');
    await store.commit('c', [done('look', 7)], { fence: HELD });
    await store.commit('c', [takeover]);
    same(await steps(store), [['look', 'succeeded', 1, 7]], 'the steps');
    await store.untouchedBy(async () => {
      const again = start('look', { name: 'look_up', input: { key: 'x' } });
      await refused(store.commit('c', [again], { fence: SECOND }), 'step_ended', {
        turnId: 't3',
        key: 'look',
        status: 'succeeded',
      });
      await refused(store.commit('c', [done('look', 8)], { fence: SECOND }), 'step_ended');
    });
  }),
  given('R9', 'a step without a result is ambiguous to the next attempt, until somebody settles it', async (store) => {
    await play(store, 'stepping', 'c');
    await store.commit('c', [takeover]);
    const again = start('look', { name: 'look_up', input: { key: 'x' } });
    await refused(store.commit('c', [again], { fence: SECOND }), 'ambiguous', { turnId: 't3', keys: ['look'] });
    await store.commit('c', [{ kind: 'step.settle', turnId: 't3', key: 'look', outcome: { status: 'retry' } }], {
      fence: SECOND,
    });
    await store.commit('c', [again], { fence: SECOND });
    await store.commit('c', [done('look', 9)], { fence: SECOND });
    same(await steps(store), [['look', 'succeeded', 2, 9]], 'the steps');
  }),
  given('R9', 'a step that is safe to repeat is started again, also after it failed', async (store) => {
    await play(store, 'working', 'c');
    const read = start('read', { repeat: 'safe', input: 1 });
    await store.commit('c', [read], { fence: HELD });
    await store.commit('c', [takeover]);
    await store.commit('c', [read], { fence: SECOND });
    const failed = { status: 'failed' as const, code: 'timeout', message: 'too slow' };
    await store.commit('c', [{ kind: 'step.finish', turnId: 't3', key: 'read', outcome: failed }], { fence: SECOND });
    const step = (await (await store.look('c')).steps('t3'))[0];
    same(step?.failure, { code: 'timeout', message: 'too slow' }, 'how it failed');
    await store.commit('c', [read], { fence: SECOND });
    await store.commit('c', [done('read', 2)], { fence: SECOND });
    same(await steps(store), [['read', 'succeeded', 3, 2]], 'the steps');
  }),
  given('R9', 'the key of a step is its tool call, and its result may be a message', async (store) => {
    await play(store, 'working', 'c');
    const message = calls('l9', 'm7');
    await store.commit('c', [append(message, 't3'), { kind: 'step.start', turnId: 't3', callId: 'l9' }], {
      fence: HELD,
    });
    const outcome = { status: 'succeeded' as const, messageId: 'm8' };
    await store.commit('c', [append(answers('l9', 'm8')), { kind: 'step.finish', turnId: 't3', key: 'l9', outcome }], {
      fence: HELD,
    });
    const step = (await (await store.look('c')).steps('t3'))[0];
    same([step?.key, step?.messageId, step?.result], ['l9', 'm8', undefined], 'the step');
  }),
  given('R9', 'a redacted tool call takes the words of its step and of its question along', async (store) => {
    await play(store, 'working', 'c');
    await store.commit('c', [append(calls('l9', 'm7'), 't3')], { fence: HELD });
    const word = 'zanzibar';
    await store.commit(
      'c',
      [
        { kind: 'step.start', turnId: 't3', callId: 'l9', input: word },
        ask('i9', { callId: 'l9', payload: word }),
        answer('i9', 'ann', word),
        { kind: 'step.finish', turnId: 't3', key: 'l9', outcome: { status: 'succeeded', result: word } },
      ],
      { fence: HELD },
    );
    await store.commit('c', [{ kind: 'message.redact', messageId: 'm7', reason: 'asked' }]);
    holds(!(await store.export()).includes(word), 'the word is left');
    const conversation = await store.look('c');
    const step = (await conversation.steps('t3'))[0];
    same([step?.status, step?.redacted, step?.result], ['succeeded', true, undefined], 'the step');
    same((await conversation.interrupt('i9'))?.redacted, true, 'the question');
  }),
  given('R9', 'a fork has no steps, questions or runs of its source', async (store) => {
    await play(store, 'working', 'c');
    await store.commit('c', [start('one'), ask('i9'), done('one', 1)], { fence: HELD });
    await store.commit('c', [{ kind: 'run.start', runId: 'r1', agent: 'clerk' }]);
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'completed' }], { fence: HELD });
    await store.commit('fork', [{ kind: 'conversation.fork', source: 'c', at: 'm6' }]);
    const fork = await store.look('fork');
    same(
      [await fork.steps('t3'), await fork.interrupts('t3'), await fork.interrupt('i9'), await fork.runRecord('r1')],
      [[], [], undefined, undefined],
      'what the fork has',
    );
  }),
];

const interruptCases: readonly ConformanceCase[] = [
  given('R9', 'a turn waits without an attempt or an operation, and is answered from anywhere', async (store) => {
    await play(store, 'working', 'c');
    await store.commit('c', [ask('i1'), { kind: 'turn.advance', turnId: 't3', to: 'waiting' }], { fence: HELD });
    same(await openIn(store), ['c i1'], 'what is open');
    store.clock.move(90 * 24 * 3_600_000);
    const at = new Date(store.clock.at).toISOString();
    const answered = await (await store.space()).answer('i1', { by: 'ann', response: { ok: true } });
    same(answered, { conversationId: 'c', turnId: 't3', first: true }, 'the answer');
    const { status, answer: said, closedAt } = (await (await store.look('c')).interrupt('i1')) ?? {};
    same([status, said, closedAt], ['answered', { by: 'ann', response: { ok: true } }, at], 'the interrupt');
    same(await openIn(store), [], 'what is open');
  }),
  given('R9', 'the first answer stands, and later ones are told', async (store) => {
    await play(store, 'stepping', 'c');
    const space = await store.space();
    await space.answer('i1', { by: 'ann', response: 1 });
    await store.untouchedBy(async () => {
      const second = await space.answer('i1', { by: 'bob', response: 2 });
      same(second, { conversationId: 'c', turnId: 't3', first: false }, 'the second answer');
      await refused(space.answer('x', { by: 'bob', response: 2 }), 'no_interrupt', { interruptId: 'x' });
    });
    same((await (await store.look('c')).interrupt('i1'))?.answer, { by: 'ann', response: 1 }, 'the answer that stands');
  }),
  given('R9', 'of two conversations that ask under one id, the one that waits is meant', async (store) => {
    await play(store, 'stepping', 'c');
    await play(store, 'stepping', 'd');
    same(await openIn(store), ['c i1', 'd i1'], 'what is open');
    const space = await store.space();
    await refused(space.answer('i1', { by: 'ann', response: 1 }), 'invalid_value');
    await space.answer('i1', { by: 'ann', response: 1, conversationId: 'd' });
    same((await space.answer('i1', { by: 'ann', response: 2 })).conversationId, 'c', 'the conversation that waits');
  }),
  given('R9', 'a question expires when its time has come, not before', async (store) => {
    await play(store, 'working', 'c');
    const expiresAt = new Date(store.clock.at + 1_000).toISOString();
    await store.commit('c', [ask('i1', { expiresAt })], { fence: HELD });
    const expire: Change = { kind: 'interrupt.expire', interruptId: 'i1' };
    store.clock.move(999);
    await refused(store.commit('c', [expire]), 'interrupt_not_due', { interruptId: 'i1', expiresAt });
    store.clock.move(1);
    await store.commit('c', [expire]);
    await refused(store.commit('c', [answer('i1', 'ann')]), 'interrupt_closed', {
      interruptId: 'i1',
      status: 'expired',
    });
    same(await openIn(store), [], 'what is open');
  }),
  given('R9', 'a turn that ends withdraws what it asked', async (store) => {
    await play(store, 'working', 'c');
    await store.commit('c', [ask('i1'), ask('i2'), answer('i1', 'ann')], { fence: HELD });
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'cancelled' }]);
    const all = await (await store.look('c')).interrupts('t3');
    same(
      all.map(({ interruptId, status }) => [interruptId, status]),
      [
        ['i1', 'answered'],
        ['i2', 'withdrawn'],
      ],
      'the interrupts',
    );
    same(await openIn(store), [], 'what is open');
  }),
  given(
    'R9',
    'the words of a question and its answer can be taken away, and go with the person who answered',
    async (store) => {
      await play(store, 'stepping', 'c');
      const word = 'zanzibar';
      await store.commit('c', [ask('i2', { payload: word }), answer('i2', 'ann', word), ask('i3')], { fence: HELD });
      await store.commit('c', [
        answer('i3', 'zoe', word),
        { kind: 'interrupt.redact', interruptId: 'i2', reason: 'asked' },
      ]);
      const { messagesRedacted } = await (await store.space()).eraseSubject('zoe', { idempotencyKey: 'erase zoe' });
      same(messagesRedacted, 0, 'messages of who only answered');
      const left = await store.export();
      holds(!left.includes(word) && !left.includes('"zoe"'), 'words are left');
      const all = await (await store.look('c')).interrupts('t3');
      same(
        all.map(({ interruptId, status, redacted }) => [interruptId, status, redacted]),
        [
          ['i1', 'open', undefined],
          ['i2', 'answered', true],
          ['i3', 'answered', true],
        ],
        'the interrupts',
      );
    },
  ),
  given('R9', 'an erased conversation asks nothing', async (store) => {
    await play(store, 'stepping', 'c');
    await store.commit('c', [{ kind: 'conversation.erase' }]);
    same(await openIn(store), [], 'what is open');
    await refused((await store.space()).answer('i1', { by: 'ann', response: 1 }), 'no_interrupt');
  }),
];

const runCases: readonly ConformanceCase[] = [
  given('R9', 'a run says which agent, and why it ended', async (store) => {
    await play(store, 'submitted', 'c');
    await store.commit('c', [
      { kind: 'run.start', runId: 'r1', agent: 'clerk', metadata: { model: 'large' } },
      { kind: 'turn.advance', turnId: 't3', to: 'running' },
      { kind: 'attempt.start', attempt: 'a1', turnId: 't3', runId: 'r1' },
      { kind: 'message.append', message: { role: 'user', parts: [text('go on')] }, turnId: 't3' },
    ]);
    const startedAt = new Date(store.clock.at).toISOString();
    const run = { runId: 'r1', agent: 'clerk', baseTurnId: null, metadata: { model: 'large' }, startedAt };
    same(await (await store.look('c')).runRecord('r1'), { ...run, status: 'running', endedAt: null }, 'the run');
    store.clock.move(5_000);
    const reason = { code: 'owner_lost', message: 'the process ended' };
    await store.commit('c', [{ kind: 'run.end', runId: 'r1', status: 'failed', reason }]);
    const endedAt = new Date(store.clock.at).toISOString();
    same(await (await store.look('c')).runRecord('r1'), { ...run, status: 'failed', endedAt, reason }, 'the run');
  }),
];

const scratchCases: readonly ConformanceCase[] = [
  given(
    'R9',
    'what is kept beside the log is seen by every handle, replaced whole, and of one namespace',
    async (store) => {
      const { namespace } = store;
      const { scratch } = await store.backend();
      const other = (await store.otherLedger()).backend.scratch;
      const place = { namespace, conversationId: 'c/../é', key: 'beat a1' };
      const value = JSON.stringify({ text: 'ünï \ud83d 🔥 x'.repeat(20_000) });
      same(await other.get(place), undefined, 'what was never put');
      await scratch.put(place, 'first');
      await scratch.put(place, value);
      await scratch.put({ ...place, key: 'draft t1' }, 'a draft');
      same([await other.get(place), await other.get({ ...place, conversationId: 'd' })], [value, undefined], 'values');
      const keys = async (of: string) => (await other.list(of)).map(({ key }) => key).sort();
      same(
        [await keys(namespace), await keys(`${namespace}x`)],
        [['beat a1', 'draft t1'], []],
        'what a namespace holds',
      );
      await other.remove(place);
      await other.remove(place);
      same([await scratch.get(place), await keys(namespace)], [undefined, ['draft t1']], 'what is left');
      await store.untouchedBy(async () => scratch.put(place, 'no commit'));
    },
  ),
  given('R9', 'what is kept beside the log of a conversation goes with its erasure', async (store) => {
    await play(store, 'working', 'c');
    await play(store, 'working', 'd');
    const { namespace } = store;
    const { scratch } = await store.backend();
    for (const conversationId of ['c', 'd']) await scratch.put({ namespace, conversationId, key: 'draft t3' }, 'x');
    await store.commit('c', [{ kind: 'conversation.erase' }]);
    await (await store.space()).collect();
    const left = await (await store.backend()).scratch.list(namespace);
    same(left, [{ namespace, conversationId: 'd', key: 'draft t3' }], 'what is left');
  }),
];

/** R9: what agents record of their work. */
export const agents: readonly ConformanceCase[] = [...stepCases, ...interruptCases, ...runCases, ...scratchCases];
