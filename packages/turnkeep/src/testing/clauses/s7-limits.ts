import type { Change, Expect } from '../../core/change.ts';
import { LIMITS } from '../../core/limits.ts';
import type { LimitName } from '../../core/limits.ts';
import type { Part } from '../../core/message.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { refused, same } from '../check.ts';
import { append, play, says, text } from '../scenes.ts';
import type { Store } from '../store.ts';
import { nested } from '../values.ts';

/** What a limit bounds, at a size. */
interface Bounded {
  readonly changes: (size: number) => readonly unknown[];
  readonly path: string;
  /** False where the refusal does not say how large the thing was. */
  readonly measured?: boolean | undefined;
}

const AT = 'commit.changes[0]';
const list = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `item ${at}`);
const words = (bytes: number): string => 'ñ'.repeat(bytes >> 1) + 'n'.repeat(bytes & 1);
const note = (parts: readonly Part[], metadata?: unknown) => ({
  kind: 'message.append',
  message: { role: 'user', parts, metadata },
  turnId: 't3',
});
const callsAndResults = (count: number): readonly Part[] =>
  list(count).map((callId, at) =>
    at % 2 === 0 ? { type: 'tool_call', callId, name: 'f' } : { type: 'tool_call', callId, name: 'g', input: at },
  );

const BOUNDED: { readonly [Limit in LimitName]?: readonly Bounded[] } = {
  jsonDepth: [
    {
      changes: (size) => [note([], nested(size - 4))],
      path: `${AT}.message.metadata${'[0]'.repeat(50)}`,
      measured: false,
    },
  ],
  commitChanges: [
    { changes: (size) => list(size).map((stage) => ({ kind: 'state.update', stage })), path: 'commit.changes' },
  ],
  messageParts: [{ changes: (size) => [note(list(size).map(text))], path: `${AT}.message.parts` }],
  messageCalls: [{ changes: (size) => [note(callsAndResults(size))], path: `${AT}.message.parts` }],
  checkpointParts: [
    {
      changes: (size) => [
        {
          kind: 'checkpoint.create',
          type: 'agent',
          payload: Object.fromEntries(list(size).map((name) => [name, { json: 1 }])),
        },
      ],
      path: `${AT}.payload`,
    },
  ],
  shortTextBytes: [
    { changes: (size) => [{ kind: 'conversation.update', title: words(size) }], path: `${AT}.title` },
    { changes: (size) => [{ kind: 'conversation.update', labels: ['x', words(size)] }], path: `${AT}.labels[1]` },
    {
      changes: (size) => [{ kind: 'conversation.update', readThrough: { reader: words(size), sequence: 1 } }],
      path: `${AT}.readThrough.reader`,
    },
    { changes: (size) => [{ kind: 'message.redact', messageId: 'm2', reason: words(size) }], path: `${AT}.reason` },
  ],
  conversationLabels: [
    { changes: (size) => [{ kind: 'conversation.update', labels: list(size) }], path: `${AT}.labels` },
    { changes: (size) => [{ kind: 'conversation.update', participants: list(size) }], path: `${AT}.participants` },
  ],
  memoryBytes: [{ changes: (size) => [{ kind: 'memory.upsert', text: words(size) }], path: `${AT}.text` }],
  usageCount: [
    {
      changes: (size) => [{ kind: 'usage.record', provider: 'some', model: 'large', inputTokens: size }],
      path: `${AT}.inputTokens`,
    },
  ],
  amountDigits: [
    {
      changes: (size) => [
        {
          kind: 'usage.record',
          provider: 'some',
          model: 'large',
          cost: { amount: '1'.repeat(size), currency: 'USD' },
        },
      ],
      path: `${AT}.cost.amount`,
    },
  ],
  stateItems: [
    { changes: (size) => [{ kind: 'state.update', blockers: list(size) }], path: `${AT}.blockers` },
    { changes: (size) => [{ kind: 'state.update', plan: list(size) }], path: `${AT}.plan` },
  ],
};

function atAndPast(limit: LimitName, bounded: Bounded): ConformanceCase {
  const max = LIMITS[limit];
  return given(
    'S7',
    `${limit} at ${bounded.path.slice(0, 60)}: ${max} is accepted, one more is refused`,
    async (store) => {
      await play(store, 'submitted', 'c');
      const sent = { conversationId: 'c' };
      await store.untouchedBy(async () => {
        const error = await refused(
          store.send({ ...sent, commitId: 'past', changes: bounded.changes(max + 1) }),
          'limit_exceeded',
        );
        const details = { limit, max, ...(bounded.measured === false ? {} : { actual: max + 1 }) };
        same({ ...error.details, path: undefined }, { ...details, path: undefined }, 'the details');
        same(
          error.details.path.replace('…', '').startsWith(bounded.path.slice(0, 150)),
          true,
          `the path ${error.details.path}`,
        );
      });
      const receipt = await store.send({ ...sent, commitId: 'at', changes: bounded.changes(max) });
      same((await (await store.look('c')).info()).version, receipt.version, 'the version at the limit');
    },
  );
}

/** A message whose record is exactly so many bytes. */
function messageOf(bytes: number, messageId: string): Change {
  const frame = Buffer.byteLength(JSON.stringify({ role: 'user', parts: [{ type: 'text', text: '' }] }));
  return append({ role: 'user', parts: [text('x'.repeat(bytes - frame))], messageId }, 't3');
}

const sizes: readonly ConformanceCase[] = [
  given(
    'S7',
    `recordBytes and commitBytes: what is as large as they allow is accepted and read back`,
    async (store) => {
      await play(store, 'submitted', 'c');
      await store.commit(
        'c',
        [messageOf(LIMITS.recordBytes, 'x'), messageOf(LIMITS.commitBytes - LIMITS.recordBytes, 'y')],
        { commitId: 'full' },
      );
      const conversation = await store.look('c');
      for (const messageId of ['x', 'y']) {
        const found = await conversation.message(messageId);
        const [part] = found.status === 'found_verified' ? found.message.parts : [];
        same(
          part?.type === 'text' && part.text.length > LIMITS.recordBytes - 200,
          true,
          `message ${messageId} is whole`,
        );
      }
    },
  ),
  given('S7', 'recordBytes: one byte more is refused', async (store) => {
    await play(store, 'submitted', 'c');
    const details = {
      limit: 'recordBytes',
      max: LIMITS.recordBytes,
      actual: LIMITS.recordBytes + 1,
      path: `${AT}.message`,
    };
    await store.untouchedBy(async () => {
      await refused(store.commit('c', [messageOf(LIMITS.recordBytes + 1, 'x')]), 'limit_exceeded', details);
    });
  }),
  given('S7', 'commitBytes: one byte more is refused', async (store) => {
    await play(store, 'submitted', 'c');
    const half = LIMITS.commitBytes / 2;
    const changes = [messageOf(half - 100, 'x'), messageOf(half, 'y'), messageOf(101, 'z')];
    const details = {
      limit: 'commitBytes',
      max: LIMITS.commitBytes,
      actual: LIMITS.commitBytes + 1,
      path: 'commit.changes[2].message',
    };
    await store.untouchedBy(async () => {
      await refused(store.commit('c', changes), 'limit_exceeded', details);
    });
  }),
];

const RECORDS_A_COMMIT = 256;

/** Turns that each stand under a message of the one before: every one is a branch of its own. */
async function branchOut(store: Store, depth: number): Promise<void> {
  await store.commit('c', [
    { kind: 'turn.record', turnId: 'b0', origin: 'import' },
    append(says('user', '0', 'x0'), 'b0'),
  ]);
  for (let from = 1; from <= depth; from += RECORDS_A_COMMIT) {
    const revision = (await (await store.conversation('c')).info()).graphRevision;
    const count = Math.min(RECORDS_A_COMMIT, depth - from + 1);
    const changes = Array.from({ length: count }, (_, at) => rewind(from + at)).flat();
    await store.commit('c', changes, { expect: { graphRevision: revision } });
  }
}

function rewind(at: number): readonly Change[] {
  return [
    { kind: 'turn.record', turnId: `b${at}`, parent: { messageId: `x${at - 1}` }, origin: 'import' },
    append(says('user', `${at}`, `x${at}`), `b${at}`),
  ];
}

async function revisionOf(store: Store): Promise<Expect> {
  return { graphRevision: (await (await store.conversation('c')).info()).graphRevision };
}

const structures: readonly ConformanceCase[] = [
  given(
    'S7',
    `branchDepth: ${LIMITS.branchDepth} branches under each other are accepted and read, one more is refused`,
    async (store) => {
      await branchOut(store, LIMITS.branchDepth);
      const expect = await revisionOf(store);
      const details = { limit: 'branchDepth', max: LIMITS.branchDepth, actual: LIMITS.branchDepth + 1, path: 'parent' };
      await refused(store.commit('c', rewind(LIMITS.branchDepth + 1), { expect }), 'limit_exceeded', details);
      const window = await (await store.look('c')).window(3);
      same(
        window.messages.map((message) => message.messageId),
        [LIMITS.branchDepth - 2, LIMITS.branchDepth - 1, LIMITS.branchDepth].map((at) => `x${at}`),
        'the window',
      );
    },
  ),
  given('S7', `openInterrupts: ${LIMITS.openInterrupts} questions are accepted, one more is refused`, async (store) => {
    await play(store, 'submitted', 'c');
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'running' }]);
    const ask = { kind: 'interrupt.request' as const, turnId: 't3', type: 'input', payload: null };
    const max = LIMITS.openInterrupts;
    await store.commit(
      'c',
      list(max).map(() => ask),
    );
    const details = { limit: 'openInterrupts', max, actual: max + 1, path: AT };
    await store.untouchedBy(async () => refused(store.commit('c', [ask]), 'limit_exceeded', details));
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'cancelled' }]);
    same((await (await store.look('c')).interrupts()).length, 0, 'questions of a turn that has ended');
  }),
  given('S7', `busyTurns: ${LIMITS.busyTurns} turns at work are accepted, one more is refused`, async (store) => {
    const turnIds = list(LIMITS.busyTurns + 1);
    for (const [at, turnId] of turnIds.entries()) {
      const changes: readonly Change[] = [
        { kind: 'turn.submit', turnId, operationId: `op ${turnId}`, parent: null, prompt: [text('x')] },
        { kind: 'turn.advance', turnId, to: 'waiting' },
      ];
      await store.commit('c', changes, { expect: { graphRevision: 2 * at } });
    }
    const run = (turnId: string): Change => ({ kind: 'turn.advance', turnId, to: 'running' });
    await store.commit('c', turnIds.slice(1).map(run));
    const [last] = turnIds as readonly [string];
    await refused(store.commit('c', [run(last)]), 'limit_exceeded', {
      limit: 'busyTurns',
      max: LIMITS.busyTurns,
      path: 'turnId',
    });
    same(
      (await (await store.look('c')).graph()).filter((turn) => turn.state === 'running').length,
      LIMITS.busyTurns,
      'turns at work',
    );
  }),
];

const queues: readonly ConformanceCase[] = [
  given('S7', `subAgents, subAgentDepth: as many and as deep is accepted, one more is refused`, async (store) => {
    await play(store, 'working', 'c');
    const spawn = (conversationId: string, turnId: string): Change => ({
      kind: 'conversation.spawn',
      parent: { conversationId, turnId },
    });
    const refusedFor = (limit: 'subAgents' | 'subAgentDepth') => ({
      limit,
      max: LIMITS[limit],
      actual: LIMITS[limit] + 1,
      path: AT,
    });
    for (let at = 1; at <= LIMITS.subAgents; at++) await store.commit(`s${at}`, [spawn('c', 't3')]);
    await refused(store.commit('more', [spawn('c', 't3')]), 'limit_exceeded', refusedFor('subAgents'));
    for (let depth = 1; depth < LIMITS.subAgentDepth; depth++) {
      await store.commit(`s${depth}`, [{ kind: 'turn.submit', turnId: 'u', prompt: [text('x')] }]);
      const deeper = store.commit(`d${depth}`, [spawn(depth === 1 ? 's1' : `d${depth - 1}`, 'u')]);
      if (depth + 2 > LIMITS.subAgentDepth) await refused(deeper, 'limit_exceeded', refusedFor('subAgentDepth'));
      else await deeper;
      if (depth + 2 <= LIMITS.subAgentDepth)
        await store.commit(`d${depth}`, [{ kind: 'turn.submit', turnId: 'u', prompt: [text('x')] }]);
    }
    same((await (await store.look('c')).subAgents('t3')).length, LIMITS.subAgents, 'sub-agents');
  }),
  given(
    'S7',
    `memorySources: a memory of ${LIMITS.memorySources} messages is kept, of one more refused`,
    async (store) => {
      const all = list(LIMITS.memorySources + 1);
      await store.commit('c', [
        { kind: 'turn.record', turnId: 't1', origin: 'import' },
        ...all.map((messageId) => append(says('user', messageId, messageId), 't1')),
      ]);
      const learn = (sources: readonly string[]): Change => ({
        kind: 'memory.upsert',
        text: 'they said a lot',
        sources,
      });
      const [max, actual] = [LIMITS.memorySources, LIMITS.memorySources + 1];
      await store.untouchedBy(async () => {
        const details = { limit: 'memorySources', max, actual, path: `${AT}.sources` };
        await refused(store.commit('c', [learn(all)]), 'limit_exceeded', details);
      });
      await store.commit('c', [learn(all.slice(1))]);
      const [memory] = await (await store.readSpace()).memories.list();
      same(memory?.sources.length, max, 'the sources');
    },
  ),
  given('S7', `waitingInputs: ${LIMITS.waitingInputs} inputs wait, one more is refused`, async (store) => {
    await play(store, 'working', 'c');
    const enqueue = (inputId: string): Change => ({ kind: 'input.enqueue', inputId, prompt: [text('x')] });
    const ids = list(LIMITS.waitingInputs);
    await store.commit('c', ids.map(enqueue));
    const [max, actual] = [LIMITS.waitingInputs, LIMITS.waitingInputs + 1];
    await store.untouchedBy(async () => {
      const details = { limit: 'waitingInputs', max, actual, path: AT };
      await refused(store.commit('c', [enqueue('more')]), 'limit_exceeded', details);
    });
    const waiting = await (await store.look('c')).inputs.waiting();
    same(
      waiting.map(({ inputId }) => inputId),
      ids,
      'the queue',
    );
  }),
];

const readings: readonly ConformanceCase[] = [
  given('S7', 'pageMessages: a window of as many is accepted, one more is refused', async (store) => {
    await play(store, 'idle', 'c');
    const conversation = await store.look('c');
    same((await conversation.window(LIMITS.pageMessages)).messages.length, 5, 'messages');
    const actual = LIMITS.pageMessages + 1;
    await refused(conversation.window(actual), 'limit_exceeded', {
      limit: 'pageMessages',
      max: LIMITS.pageMessages,
      actual,
      path: 'count',
    });
    for (const bad of [0, -1, 1.5, Number.NaN]) await refused(conversation.window(bad), 'invalid_value');
  }),
  given('S7', 'pageRows: a page of as many is accepted, one more is refused', async (store) => {
    await play(store, 'idle', 'c');
    const conversation = await store.look('c');
    const space = await store.readSpace();
    const [max, actual] = [LIMITS.pageRows, LIMITS.pageRows + 1];
    same((await space.page({ limit: max })).items.length, 1, 'conversations');
    await refused(space.page({ limit: actual }), 'limit_exceeded', { limit: 'pageRows', max, actual, path: 'limit' });
    for (const bad of [0, -1, 1.5, Number.NaN]) await refused(conversation.page({ limit: bad }), 'invalid_value');
  }),
  given('S7', 'queryBytes: a query of as many is accepted, one more is refused', async (store) => {
    await play(store, 'submitted', 'c');
    const query = words(LIMITS.queryBytes);
    await store.commit('c', [append(says('user', `<${query}>`), 't3')]);
    const space = await store.readSpace();
    same((await space.search(query)).hits.length, 1, 'hits');
    await refused(space.search(`${query}n`), 'limit_exceeded', {
      limit: 'queryBytes',
      max: LIMITS.queryBytes,
      actual: LIMITS.queryBytes + 1,
      path: 'text',
    });
  }),
];

/** Limits that other cases of the suite show, or that none can, and why. */
const ELSEWHERE: { readonly [Limit in LimitName]?: string } = {
  idBytes: 'the cases of ids',
  recordBytes: 'the cases of sizes',
  commitBytes: 'the cases of sizes',
  branchDepth: 'the cases of structures',
  busyTurns: 'the cases of structures',
  openInterrupts: 'the cases of structures',
  waitingInputs: 'the cases of queues',
  subAgents: 'the cases of queues',
  subAgentDepth: 'the cases of queues',
  memories: 'a commit for each thousand: a test of the rules fills a namespace',
  memorySources: 'the cases of queues',
  pageMessages: 'the cases of readings',
  pageRows: 'the cases of readings',
  queryBytes: 'the cases of readings',
  agentRounds: 'a run is no commit: the tests of agents show it',
  draftBytes: 'a draft is no commit: the tests of agents show it',
  ttlMs: 'a time to live is no part of a commit: the tests of agents show it',
  attachmentBytes: 'R11: a smaller one of the call is refused in the same way',
  attachmentQuotaBytes: 'R11: a smaller one of the ledger is refused in the same way',
  queuedCommits: 'a backend that queues nothing never refuses for it: each that does has a test of its own',
};

export const limits: readonly ConformanceCase[] = [
  ...Object.entries(BOUNDED).flatMap(([limit, all]) => all.map((bounded) => atAndPast(limit as LimitName, bounded))),
  ...sizes,
  ...structures,
  ...queues,
  ...readings,
  given('S7', 'every limit is shown at its edge and one past it, or has a reason why not', async () => {
    same([...Object.keys(BOUNDED), ...Object.keys(ELSEWHERE)].toSorted(), Object.keys(LIMITS).toSorted(), 'limits');
  }),
];
