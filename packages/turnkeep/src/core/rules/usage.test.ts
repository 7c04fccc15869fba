import { describe, expect, test } from 'vitest';
import type { Change, UsageRecord } from '../change.ts';
import { advance, submit, turn } from '../changes.testkit.ts';
import { USAGE_OF } from '../keys.ts';
import { readUsage, readUsageByDay, readUsageTotal } from '../read/usage.ts';
import type { UsageTotal } from '../read/usage.ts';
import { SHELVES } from '../shelf.ts';
import { commit, given } from '../story.testkit.ts';
import type { Seen, Story } from '../story.testkit.ts';

function use(usageId: string, more: Partial<UsageRecord> = {}): Change {
  return { kind: 'usage.record', usageId, provider: 'some', model: 'large', inputTokens: 10, ...more };
}

function total(seen: Seen, scope: string = USAGE_OF.all): UsageTotal {
  return readUsageTotal(seen.tree.rows, seen.head.conversationId, scope);
}

function spent(story: Story): UsageTotal {
  return readUsageTotal(story.rows, SHELVES.usage, USAGE_OF.all);
}

const dollars = (amount: string) => ({ cost: { amount, currency: 'USD' } });

describe('usage.record', () => {
  test('keeps the call as it was said, and counts it for its turn, its conversation and its day', () => {
    const said = { turnId: 't1', outputTokens: 3, latencyMs: 250, ...dollars('0.10'), raw: { total: 13 } };
    given(commit(submit('t1')), commit(advance('t1', 'running')))
      .when(commit(use('u1', said), advance('t1', 'completed')).at(Date.UTC(2026, 10, 29, 23, 59)))
      .thenSees((seen) => {
        const call = readUsage(seen.tree, seen.bodies, 'u1');
        expect(call).toMatchObject({ usageId: 'u1', ...said, recordedAt: '2026-11-29T23:59:00.000Z' });
        const sum = { calls: 1, inputTokens: 10, outputTokens: 3, latencyMs: 250, cost: { USD: '0.10' } };
        expect(total(seen)).toMatchObject({ ...sum, models: [{ provider: 'some', model: 'large', ...sum }] });
        expect(total(seen, USAGE_OF.turn('t1'))).toEqual(total(seen));
        const days = readUsageByDay(seen.tree.rows, 'c', 0, 100_000);
        expect(days).toEqual([{ day: '2026-11-29', ...total(seen) }]);
      });
  });

  test('sums are exact, by model and by currency', () => {
    const story = given(
      commit(use('u1', dollars('0.1')), use('u2', dollars('0.2')), use('u3', { model: 'small' })),
      commit(use('u4', { cost: { amount: '5', currency: 'EUR' }, cachedInputTokens: 4 })),
    );
    expect(total(story.seen())).toMatchObject({
      calls: 4,
      inputTokens: 40,
      cachedInputTokens: 4,
      cost: { USD: '0.3', EUR: '5' },
      models: [
        { model: 'large', calls: 3, cost: { EUR: '5', USD: '0.3' } },
        { model: 'small', calls: 1, cost: {} },
      ],
    });
  });

  test('is recorded once: the same again is a no-op, something else a conflict', () => {
    const story = given(commit(use('u1')));
    story.when(commit(use('u1')).as('again')).thenWrites({ usageId: 'u1', noop: true });
    story.when(commit(use('u1', { model: 'small' }))).thenRefuses('usage_conflict', { usageId: 'u1' });
    story.when(commit(use('u1')).as('again')).thenReplays(2);
    expect(total(story.seen()).calls).toBe(1);
    expect(spent(story).calls).toBe(1);
  });

  test('a repeat with other words is told from the repeat that was sent', () => {
    const story = given(commit(use('u1')), commit(use('u1')).as('again'));
    story.when(commit(use('u2')).as('again')).thenRefuses('commit_id_reused', { commitId: 'again' });
  });

  test('names an own turn, whatever its state, and needs no fence', () => {
    const story = given(commit(...turn('t1')), commit(submit('t2')), commit(advance('t2', 'running')));
    story.when(commit(use('u1', { turnId: 'nowhere' }))).thenRefuses('no_turn', { turnId: 'nowhere' });
    story.when(commit(use('u1', { turnId: 't1' }))).thenWrites({ turnId: 't1' });
    story.when(commit({ kind: 'attempt.start', attempt: 'a1', turnId: 't2' })).thenWrites();
    story.when(commit(use('u2', { turnId: 't2' }))).thenWrites({ turnId: 't2' });
    expect(total(story.seen(), USAGE_OF.turn('t1')).calls).toBe(1);
  });

  test('the namespace counts every conversation, and goes on counting what was erased', () => {
    const story = given(
      commit(use('u1', dollars('0.5'))),
      commit(use('u1', dollars('0.25'))).to('d'),
      commit({ kind: 'conversation.erase' }).to('d'),
    );
    expect(spent(story)).toMatchObject({ calls: 2, cost: { USD: '0.75' } });
    expect(story.rows.head(SHELVES.usage)).toMatchObject({ version: 0, erasedAt: null });
  });

  test('a cost is a decimal of some currency', () => {
    for (const amount of ['1e3', '-1', '.5', '01'])
      expect(() => given(commit(use('u1', dollars(amount))))).toThrow('a decimal is digits');
    for (const currency of ['', 'usd', 'Usd', 'US', 'USDT', 'U$D', 'USD\n', 'ＵＳＤ', 'ÜSD'])
      expect(() => given(commit(use('u1', { cost: { amount: '1', currency } })))).toThrow('a currency is');
  });
});
