import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Change, ChangeKind } from '../../core/change.ts';
import { prepare } from '../../testing/clauses/s1-atomicity.ts';
import { failureOf } from '../../testing/check.ts';
import { entryOf, KINDS } from '../../testing/kinds.ts';
import { append, HELD, play, says } from '../../testing/scenes.ts';
import type { Store } from '../../testing/store.ts';
import { ledgerOver, NAMESPACE, Recorder, recordedStore, TestSchema } from '../postgres.testkit.ts';

let schema: TestSchema;
let recorder: Recorder;
let store: Store;

beforeEach(async () => {
  schema = await TestSchema.create();
  recorder = new Recorder(await schema.driver());
  store = recordedStore(schema, recorder);
});

afterEach(async () => schema.end());

/** The round trips of a commit to a store that was opened just now: the process knows nothing. */
async function tripsAfresh(id: string, changes: readonly Change[], sent: object = {}): Promise<number> {
  await store.session.close();
  await store.backend();
  sentBefore = recorder.flushes.length;
  return recorder.trips(() => store.commit(id, changes, sent));
}

/** One that locks and looks, and one that leaves it at that. */
const TO_LOOK_AND_LEAVE = 2;
let sentBefore = 0;

const RECORD: Change = { kind: 'turn.record', origin: 'test' };
const kinds = Object.keys(KINDS) as readonly ChangeKind[];

it.each(kinds)('%s takes three at most', async (kind) => {
  const entry = entryOf(kind);
  await prepare(store, entry);
  const trips = await tripsAfresh('c', [entry.change], { expect: entry.expect, fence: entry.fence });
  expect(trips).toBeLessThanOrEqual(3);
});

it.each(kinds)('%s sent again takes two, and so does another one under its id', async (kind) => {
  const entry = entryOf(kind);
  await prepare(store, entry);
  const sent = { commitId: 'once', expect: entry.expect, fence: entry.fence };
  const receipt = await store.commit('c', [entry.change], sent);
  expect(await tripsAfresh('c', [entry.change], sent)).toBe(TO_LOOK_AND_LEAVE);
  const { version } = await store.commit('c', [entry.change], sent);
  expect(version).toBe(receipt.version);
  if (kind === 'conversation.erase') return;
  const reused = await failureOf(tripsAfresh('c', [entry.other], { commitId: 'once' }));
  expect(reused).toMatchObject({ code: 'commit_id_reused' });
  expect(recorder.flushes.length - sentBefore).toBe(TO_LOOK_AND_LEAVE);
});

it('what was done long ago takes two when it is sent again, and so does its operation under another commit', async () => {
  await play(store, 'idle', 'c');
  for (let at = 0; at < 4; at++) await store.commit('c', [RECORD, append(says('user', `${at}`))]);
  await (await store.backend()).cool?.(NAMESPACE, { hotMessages: 1 });
  const submit: readonly Change[] = [
    {
      kind: 'turn.submit',
      turnId: 't1',
      operationId: 'o1',
      messageId: 'm1',
      promptId: 'p1',
      prompt: [{ type: 'text', text: 'the first question' }],
    },
  ];
  expect(await tripsAfresh('c', submit, { commitId: 'scene-2' })).toBe(TO_LOOK_AND_LEAVE);
  expect(await tripsAfresh('c', submit, { commitId: 'another' })).toBe(TO_LOOK_AND_LEAVE);
});

it('what was said, started or counted before and is so again takes three, and three when it is sent again', async () => {
  await play(store, 'stepping', 'c');
  const used: Change = { kind: 'usage.record', usageId: 'u1', provider: 'some', model: 'large', inputTokens: 1 };
  const start: Change = {
    kind: 'step.start',
    turnId: 't3',
    key: 'see',
    name: 'see',
    repeat: 'safe',
    input: { at: 'x' },
  };
  await store.commit('c', [used, start], { fence: HELD });
  const again: readonly (readonly Change[])[] = [
    [append(says('assistant', 'the first answer', 'm2'))],
    [start],
    [used],
  ];
  for (const [at, changes] of again.entries())
    for (let time = 0; time < 2; time++)
      expect([at, await tripsAfresh('c', changes, { commitId: `again${at}`, fence: HELD })]).toEqual([at, 3]);
});

it('what comes too late is refused at once', async () => {
  await play(store, 'idle', 'c');
  await store.commit('c', [{ kind: 'conversation.erase' }]);
  expect(await failureOf(tripsAfresh('c', [RECORD]))).toMatchObject({ code: 'erased' });
  expect(recorder.flushes.length - sentBefore).toBe(TO_LOOK_AND_LEAVE);
});

it('a fork takes three, wherever it is cut, in what a fork inherits, too', async () => {
  await play(store, 'idle', 'c');
  const fork = (source: string, at: string): Change => ({ kind: 'conversation.fork', source, at });
  for (const at of ['m1', 'm2', 'm3', 'm4', 'm5'])
    expect([at, await tripsAfresh(`c-${at}`, [fork('c', at)])]).toEqual([at, 3]);
  for (const at of ['own1', 'own2']) await store.commit('c-m2', [RECORD, append(says('user', at, at))]);
  expect(await tripsAfresh('own', [fork('c-m2', 'own1')])).toBe(3);
  expect(await tripsAfresh('inherited', [fork('c-m2', 'm2')])).toBe(3);
});

it('what is said and done in a fork of a fork takes three', async () => {
  await play(store, 'idle', 'a');
  await store.commit('b', [{ kind: 'conversation.fork', source: 'a', at: 'm5' }]);
  await store.commit('b', [RECORD, append(says('user', 'there', 'b1'))]);
  await store.commit('c', [{ kind: 'conversation.fork', source: 'b', at: 'b1' }]);
  const changes: readonly (readonly Change[])[] = [
    [{ kind: 'state.update', stage: 'another' }],
    [{ kind: 'task.transition', taskId: 'w1', to: 'completed' }],
    [{ kind: 'commitment.resolve', which: { commitmentId: 'c1' } }],
    [{ kind: 'turn.record', turnId: 'mine', origin: 'test' }, append(says('assistant', 'an answer'))],
    [RECORD, append(says('assistant', 'another'))],
    [{ kind: 'state.update', stage: 'a third' }],
  ];
  for (const [at, some] of changes.entries()) expect([at, await tripsAfresh('c', some)]).toEqual([at, 3]);
});

it('a message that shows attachments takes three', async () => {
  await play(store, 'idle', 'c');
  const { attachments } = ledgerOver(await schema.open({ watch: 'poll' })).namespace(NAMESPACE);
  const shows = async (text: string): Promise<Change> => {
    const { digest } = await attachments.put(new TextEncoder().encode(text));
    const parts = [{ type: 'file' as const, mediaType: 'text/plain', source: { attachment: digest } }];
    return append({ role: 'user', parts });
  };
  const [one, two] = [await shows('one'), await shows('two')];
  expect(await tripsAfresh('c', [RECORD, one])).toBe(3);
  expect(await tripsAfresh('c', [RECORD, one, two])).toBe(3);
});

/** What looks for something along the path to the leaf, and what a new branch asks for. */
const ALONG_A_PATH: readonly (readonly Change[])[] = [
  [RECORD, append(says('user', 'a question'))],
  [{ kind: 'state.update', stage: 'another' }],
  [{ kind: 'task.transition', taskId: 'w1', to: 'completed', outcomeRef: 'report.txt' }],
  [{ kind: 'commitment.resolve', which: { matching: 'report' } }],
];

async function tripsAlongAPath(id: string): Promise<readonly number[]> {
  const trips: number[] = [];
  for (const changes of ALONG_A_PATH) trips.push(await tripsAfresh(id, changes));
  return trips;
}

it('what was written many turns ago takes three', async () => {
  await play(store, 'idle', 'c');
  for (let at = 0; at < 20; at++) await store.commit('c', [RECORD, append(says('user', `${at}`))]);
  expect(await tripsAlongAPath('c')).toEqual([3, 3, 3, 3]);
});

it('a path of more branches than come along takes three', async () => {
  await play(store, 'idle', 'c');
  let expected = { graphRevision: 4 };
  const turn = async (turnId: string, parent: object) => {
    const record = { ...RECORD, turnId, parent } as Change;
    expected = await store.commit('c', [record, append(says('user', turnId, `${turnId}q`))], {
      expect: { graphRevision: expected.graphRevision },
    });
  };
  await turn('x0', { turnId: 't2' });
  for (let at = 1; at < 80; at++) {
    await turn(`side${at}`, { turnId: `x${at - 1}` });
    await turn(`x${at}`, { turnId: `x${at - 1}` });
  }
  const onAnother = [{ ...RECORD, parent: { messageId: 'side40q' } } as Change, append(says('user', 'there'))];
  const { graphRevision } = expected;
  const trips = [await tripsAfresh('c', onAnother, { expect: { graphRevision } })];
  trips.push(
    await tripsAfresh('c', [{ kind: 'leaf.select', turnId: 'x79' }], { expect: { graphRevision: graphRevision + 2 } }),
  );
  expect(trips).toEqual([3, 3]);
  expect(await tripsAfresh('fork', [{ kind: 'conversation.fork', source: 'c', at: 'x79q' }])).toBe(3);
  expect(await tripsAlongAPath('fork')).toEqual([3, 3, 3, 3]);
  expect(await tripsAlongAPath('c')).toEqual([3, 3, 3, 3]);
});

it('a line of many forks takes three', async () => {
  await play(store, 'idle', 'c0');
  for (let at = 1; at < 70; at++) {
    await store.commit(`c${at}`, [
      { kind: 'conversation.fork', source: `c${at - 1}`, at: at === 1 ? 'm5' : `x${at - 1}` },
    ]);
    await store.commit(`c${at}`, [RECORD, append(says('user', 'there', `x${at}`))]);
  }
  for (const at of ['m2', 'x69'])
    expect(await tripsAfresh(at, [{ kind: 'conversation.fork', source: 'c69', at }])).toBe(3);
  expect(await tripsAlongAPath('c69')).toEqual([3, 3, 3, 3]);
}, 60_000);

it('what has cooled takes three', async () => {
  await play(store, 'idle', 'c');
  for (let at = 0; at < 30; at++) await store.commit('c', [RECORD, append(says('user', `${at}`))]);
  await (await store.backend()).cool(NAMESPACE, { hotMessages: 4 });
  expect(await tripsAlongAPath('c')).toEqual([3, 3, 3, 3]);
  expect(await tripsAfresh('fork', [{ kind: 'conversation.fork', source: 'c', at: 'm2' }])).toBe(3);
  expect(await tripsAlongAPath('fork')).toEqual([3, 3, 3, 3]);
});

it('a turn that has the prompt of another, that may have to wait, or goes on from what a fork inherits takes three', async () => {
  await play(store, 'idle', 'c');
  for (let at = 0; at < 12; at++) await store.commit('c', [RECORD, append(says('user', `${at}`))]);
  const parts = [{ type: 'text' as const, text: 'why' }];
  expect(await tripsAfresh('c', [{ kind: 'turn.submit', prompt: parts, whenBusy: 'enqueue' }])).toBe(3);
  expect(await tripsAfresh('c', [{ kind: 'turn.submit', samePromptAs: 't1', whenBusy: 'interrupt' }])).toBe(3);
  await store.commit('fork', [{ kind: 'conversation.fork', source: 'c', at: 'm5' }]);
  const sent = { expect: { graphRevision: 0 } };
  expect(await tripsAfresh('fork', [{ ...RECORD, parent: { messageId: 'm2' } }], sent)).toBe(3);
});

it('several changes of which one leads to where the others stand take three', async () => {
  await play(store, 'idle', 'c');
  for (let at = 0; at < 12; at++) await store.commit('c', [RECORD, append(says('user', `${at}`))]);
  const select: Change = { kind: 'leaf.select', turnId: 't1' };
  const end: Change = { kind: 'task.transition', taskId: 'w1', to: 'completed', turnId: 't1', outcomeRef: 'a' };
  expect(
    await tripsAfresh('c', [select, end, { kind: 'state.update', stage: 'x' }], { expect: { graphRevision: 28 } }),
  ).toBe(3);
});

it('the input that waits longest is delivered in three, as it came', async () => {
  await play(store, 'idle', 'c');
  for (let at = 0; at < 20; at++) await store.commit('c', [RECORD, append(says('user', `${at}`))]);
  for (const inputId of ['i1', 'i2'])
    await store.commit('c', [{ kind: 'input.enqueue', inputId, prompt: [{ type: 'text', text: inputId }] }]);
  expect(await tripsAfresh('c', [{ kind: 'input.deliver' }])).toBe(3);
});

it('a fork whose commit goes on takes three', async () => {
  await play(store, 'idle', 'c');
  for (let at = 0; at < 12; at++) await store.commit('c', [RECORD, append(says('user', `${at}`, `x${at}`))]);
  for (const at of ['m5', 'x11'])
    for (const [which, changes] of ALONG_A_PATH.entries()) {
      const fork: Change = { kind: 'conversation.fork', source: 'c', at };
      expect([at, which, await tripsAfresh(`${at}${which}`, [fork, ...changes])]).toEqual([at, which, 3]);
    }
});
