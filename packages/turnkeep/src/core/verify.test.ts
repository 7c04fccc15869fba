import { describe, expect, test } from 'vitest';
import { sha256 } from '../platform/hash.ts';
import type { Row, RowReader } from './backend.ts';
import type { Change } from './change.ts';
import { advance, aim, answer, call, fork, move, promise, say, submit, task, text } from './changes.testkit.ts';
import type { Head } from './head.ts';
import { prefixEnd, TABLES } from './keys.ts';
import { ENTRIES } from './rows.ts';
import { SHELVES } from './shelf.ts';
import { commit, given } from './story.testkit.ts';
import { verifyConversation } from './verify.ts';

const OWNERS = ['c', 'fork', 'sub', SHELVES.memories, SHELVES.usage] as const;

/** A conversation with a row in every table but those of attachments, its fork and its sub-agent. */
function everything(): RowReader {
  const spawn: Change = { kind: 'conversation.spawn', parent: { conversationId: 'c', turnId: 't1', callId: 'x1' } };
  const payload = { state: { json: 'y'.repeat(2_000) } };
  return given(
    commit(submit('t1'), advance('t1', 'running'), { kind: 'run.start', runId: 'r1', agent: 'an agent' }),
    commit({ kind: 'attempt.start', attempt: 'a1', turnId: 't1', runId: 'r1' }),
    commit(
      call('m1', ['x1', 'x2'], 't1'),
      { kind: 'step.start', turnId: 't1', callId: 'x1' },
      { kind: 'interrupt.request', interruptId: 'i1', turnId: 't1', type: 'approval', payload: 1 },
      { kind: 'usage.record', usageId: 'u1', turnId: 't1', provider: 'some', model: 'large', inputTokens: 1 },
    ).under('a1', 1),
    commit(spawn).to('sub'),
    commit(submit('s1'), advance('s1', 'running')).to('sub'),
    commit({ kind: 'checkpoint.create', checkpointId: 'k1', type: 'some', payload }),
    commit({ kind: 'checkpoint.advance', checkpointId: 'k1', from: 0, payload: {} }),
    commit({
      kind: 'checkpoint.write',
      checkpointId: 'k1',
      revision: 1,
      task: 'w1',
      index: 0,
      channel: 'some',
      value: { json: 1 },
    }),
    commit({ kind: 'binding.save', turnId: 't1', history: 'h1', cursor: 1, capture: 'live' }),
    commit(aim('to the end'), task('task1'), move('task1', 'running'), promise('p1')),
    commit(say('m2', 't1', { taskId: 'task1' }), answer('m3', ['x1'], 't1')).under('a1', 1),
    commit({ kind: 'memory.upsert', memoryId: 'v1', text: 'a fact', sources: ['m2'] }),
    commit({ kind: 'input.enqueue', inputId: 'q1', prompt: text('next') }),
    commit(advance('t1', 'completed')).under('a1', 1),
    commit(answer('m4', ['x2'])),
    commit({ kind: 'summary.commit', summaryId: 'z1', upTo: 'm3', text: 'so far' }).expecting({
      transcript: { turn: 't1', lastSequence: 5 },
    }),
    commit({ kind: 'conversation.update', title: 'All', readThrough: { reader: 'me', sequence: 1 } }),
    commit(fork('c', 'm3')).to('fork'),
    commit(submit('f1'), advance('f1', 'running')).to('fork'),
    commit(submit('t2', { samePromptAs: 't1', parent: null })).expecting({ graphRevision: 2 }),
    commit(advance('t2', 'running'), {
      kind: 'interrupt.request',
      interruptId: 'i2',
      turnId: 't2',
      type: 'approval',
      payload: 1,
    }),
  ).rows;
}

function faults(rows: RowReader): readonly string[] {
  return OWNERS.flatMap((owner) => {
    const found: string[] = [];
    let step = verifyConversation(rows, sha256, owner);
    for (;;) {
      found.push(...step.faults.map(({ place, reason }) => `${place}: ${reason}`));
      if (!step.next) return found;
      step = verifyConversation(rows, sha256, owner, step.next);
    }
  });
}

function rowsOf(rows: RowReader, owner: string): readonly Row[] {
  return rows.scan(owner, { from: '', to: prefixEnd('') });
}

/** The rows with some of a conversation's in place of what is there; `null` for one that is lost. */
function changed(rows: RowReader, owner: string, others: ReadonlyMap<string, Row['value'] | null>): RowReader {
  const now = (row: Row): readonly Row[] => {
    const other = others.get(row.key);
    if (other === null) return [];
    return [other === undefined ? row : { ...row, value: other }];
  };
  return {
    head: (id) => rows.head(id),
    log: (id, version) => rows.log(id, version),
    heads: (query) => rows.heads(query),
    get(id, key) {
      const other = id === owner ? others.get(key) : undefined;
      return other === undefined ? rows.get(id, key) : (other ?? undefined);
    },
    scan(id, range) {
      if (id !== owner) return rows.scan(id, range);
      return rows
        .scan(id, { ...range, limit: undefined })
        .flatMap(now)
        .slice(0, range.limit);
    },
  };
}

/** Tables whose lost rows nothing else tells of: where readers are, sums, and what only a body says. */
const UNTOLD: ReadonlySet<string> = new Set([
  TABLES.readers,
  TABLES.usageSums,
  TABLES.memoryCount,
  TABLES.taskMessages,
  TABLES.contents,
]);

const isUntold = ({ key }: Row) =>
  UNTOLD.has(key[0] as string) || (key[0] === TABLES.entries && key.includes(`${ENTRIES.tasks}\u0001`));

describe('verify', () => {
  test('finds nothing wrong with what was written', () => {
    expect(faults(everything())).toEqual([]);
  });

  test('finds every row that is lost', () => {
    const rows = everything();
    const lost = OWNERS.flatMap((owner) => rowsOf(rows, owner).map((row) => ({ owner, row })));
    const kinds = new Set(lost.map(({ row }) => row.key[0] as string));
    expect(Object.values(TABLES).filter((table) => !kinds.has(table))).toEqual([TABLES.references]);
    for (const { owner, row } of lost) {
      if (isUntold(row)) continue;
      const found = faults(changed(rows, owner, new Map([[row.key, null]])));
      expect(found, `without ${owner} ${JSON.stringify(row)}`).not.toEqual([]);
    }
  });

  test('finds rows that stand in each other’s place', () => {
    const rows = everything();
    for (const table of 'btTnmMalceoUkiIARS') {
      const values = new Map<string, Row>();
      for (const row of rowsOf(rows, 'c')) if (row.key[0] === table) values.set(JSON.stringify(row.value), row);
      const [one, two] = values.values();
      if (!one || !two) continue;
      const swapped = new Map([
        [one.key, two.value],
        [two.key, one.value],
      ]);
      const found = faults(changed(rows, 'c', swapped));
      expect(found, `${JSON.stringify(one)} and ${JSON.stringify(two)}`).not.toEqual([]);
    }
  });

  test.each<Partial<Head>>([
    { graphRevision: 1 },
    { leaf: null },
    { leaf: 't1' },
    { branches: 1 },
    { turns: 1 },
    { messages: 1 },
    { lastSequence: 9 },
    { busy: [] },
    { busy: ['t1'] },
    { busy: ['t9'] },
    { openInterrupts: [] },
    { openInterrupts: ['i1'] },
    { openInterrupts: ['i9'] },
    { openOperation: 't1.op' },
    { openOperation: 'none' },
    { source: 'nobody' },
    { parent: { conversationId: 'nobody', turnId: 't1', callId: null } },
    { fields: { owner: 'c', version: 1, index: 9 } },
    { lastMessage: { role: 'user', sequence: 1, ref: { owner: 'c', version: 99, index: 0 } } },
    { chain: 'another' },
    { cutTurn: 't1' },
    { source: 'sub' },
    { parent: { conversationId: 'fork', turnId: 'f1', callId: null } },
    { collected: true },
    { erasedAt: 1 },
    { erasedAt: 1, collected: true },
  ])('finds a head that says %j', (other) => {
    const rows = everything();
    const head = (id: string) => {
      const found = rows.head(id);
      return found && id === 'c' ? { ...found, ...other } : found;
    };
    const reader: RowReader = { ...changed(rows, 'c', new Map()), head };
    expect(faults(reader)).not.toEqual([]);
  });
});
