import { describe, expect, test } from 'vitest';
import { sha256 } from '../../platform/hash.ts';
import type { Row, RowReader } from '../backend.ts';
import type { Change } from '../change.ts';
import { advance, submit } from '../changes.testkit.ts';
import type { Head } from '../head.ts';
import { prefixEnd, TABLES } from '../keys.ts';
import { SHELVES } from '../shelf.ts';
import { commit, given } from '../story.testkit.ts';
import { verifyConversation } from './conversation.ts';
import { everything, faultsOf, OWNERS } from './verify.testkit.ts';

function used(usageId: string, turnId: string | undefined): Change {
  return { kind: 'usage.record', usageId, turnId, provider: 'some', model: 'large', inputTokens: 1 };
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

describe('verify', () => {
  test('finds nothing wrong with what was written', () => {
    expect(faultsOf(everything())).toEqual([]);
  });

  test.each([
    ['itself', used('u2', 't1'), 'c'],
    ['its sub-agent', used('u2', undefined), 'sub'],
  ])('finds nothing wrong where %s goes on meanwhile', (_who, change, where) => {
    const spawn: Change = { kind: 'conversation.spawn', parent: { conversationId: 'c', turnId: 't1' } };
    const story = given(
      commit(submit('t1'), advance('t1', 'running'), used('u1', 't1')),
      commit(spawn).to('sub'),
      commit(used('u1', undefined)).to('sub'),
    );
    const verified = { namespace: 'n', conversationId: 'c' };
    for (let step = verifyConversation(story.rows, sha256, verified); ;) {
      expect(step.faults).toEqual([]);
      if (!step.next) return;
      if (step.next.stage === 'rows') story.write(commit(change).to(where));
      step = verifyConversation(story.rows, sha256, verified, step.next);
    }
  });

  test('finds nothing wrong with what was used before the epoch, after it, and in years of more digits', () => {
    const spawn: Change = { kind: 'conversation.spawn', parent: { conversationId: 'c', turnId: 't1' } };
    const days = ['-271821-04-20', '-000001-12-31', '1969-12-31', '1970-01-01', '2026-11-30', '+275760-09-13'];
    const story = given(commit(submit('t1'), advance('t1', 'running')), commit(spawn).to('sub'));
    for (const [at, day] of days.entries()) {
      const now = Date.parse(`${day}T00:00:00Z`);
      story.write(commit(used(`u${at}`, 't1')).at(now));
      story.write(
        commit(used(`u${at}`, undefined))
          .to('sub')
          .at(now),
      );
    }
    for (const conversationId of ['c', 'sub', SHELVES.usage]) {
      const verified = { namespace: 'n', conversationId };
      for (let step = verifyConversation(story.rows, sha256, verified); ;) {
        expect(step.faults).toEqual([]);
        if (!step.next) break;
        step = verifyConversation(story.rows, sha256, verified, step.next);
      }
    }
  });

  test('finds every row that is lost', () => {
    const rows = everything();
    const lost = OWNERS.flatMap((owner) => rowsOf(rows, owner).map((row) => ({ owner, row })));
    const kinds = new Set(lost.map(({ row }) => row.key[0] as string));
    expect(Object.values(TABLES).filter((table) => !kinds.has(table))).toEqual([]);
    for (const { owner, row } of lost) {
      const found = faultsOf(changed(rows, owner, new Map([[row.key, null]])));
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
      const found = faultsOf(changed(rows, 'c', swapped));
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
    expect(faultsOf(reader)).not.toEqual([]);
  });
});
