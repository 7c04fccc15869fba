import { describe, expect, test } from 'vitest';
import { sha256 } from '../../platform/hash.ts';
import type { Change } from '../change.ts';
import { advance, call, record, redact, resolve, say, submit, turn } from '../changes.testkit.ts';
import { LIMITS } from '../limits.ts';
import { USAGE_OF } from '../keys.ts';
import { Bodies } from '../read/bodies.ts';
import { conversationInfo } from '../read/listing.ts';
import { readMemories } from '../read/memories.ts';
import { readUsageTotal } from '../read/usage.ts';
import { SHELVES } from '../shelf.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';

function spawn(conversationId: string, turnId: string, callId?: string): Change {
  return { kind: 'conversation.spawn', parent: { conversationId, turnId, callId }, agent: 'finder' };
}

function use(usageId: string, turnId?: string): Change {
  const cost = { amount: '0.1', currency: 'USD' };
  return { kind: 'usage.record', usageId, turnId, provider: 'some', model: 'large', inputTokens: 10, cost };
}

function calls(story: Story, conversationId: string, scope: string = USAGE_OF.all): number {
  return readUsageTotal(story.rows, conversationId, scope).calls;
}

/** The user's conversation `c` with a turn at work, that of its sub-agent `a`, and that of the sub-agent's own, `b`. */
const family = [
  commit(submit('t1'), advance('t1', 'running'), call('m1', ['x1'], 't1')),
  commit(spawn('c', 't1', 'x1')).to('a'),
  commit(submit('u1'), advance('u1', 'running')).to('a'),
  commit(spawn('a', 'u1')).to('b'),
  commit(submit('v1'), advance('v1', 'running')).to('b'),
];

describe('conversation.spawn', () => {
  test('hangs a conversation under a turn and a call, with its own title and its origin', () => {
    const story = given(family[0] as never);
    const title = 'A search';
    story.when(commit({ ...spawn('c', 't1', 'x1'), title } as Change).to('a')).thenSees((seen) => {
      const parent = { conversationId: 'c', turnId: 't1', callId: 'x1' };
      const info = conversationInfo(new Bodies(story.rows, sha256), seen.head);
      expect(info).toMatchObject({ title, parent, origin: { kind: 'sub_agent', ...parent, agent: 'finder' } });
      expect(seen.head.source).toBeNull();
    });
    expect(story.seen().head).toMatchObject({ version: 1 });
    expect(story.seen().head).not.toHaveProperty('parent');
  });

  test('is the first change of a conversation, under what is there', () => {
    const story = given(
      family[0] as never,
      commit(say('n1', null)).to('d'),
      commit({ kind: 'conversation.erase' }).to('d'),
    );
    story.when(commit(spawn('c', 't1'))).thenRefuses('conversation_exists', { conversationId: 'c' });
    story.when(commit(spawn('x', 't1')).to('a')).thenRefuses('conversation_not_found', { conversationId: 'x' });
    story.when(commit(spawn('c', 't9')).to('a')).thenRefuses('no_turn', { turnId: 't9' });
    story.when(commit(spawn('c', 't1', 'x9')).to('a')).thenRefuses('no_call', { callId: 'x9' });
    const erasedAt = '2026-01-01T00:00:03.000Z';
    story.when(commit(spawn('d', 't1')).to('a')).thenRefuses('erased', { conversationId: 'd', erasedAt });
    story.write(commit(advance('t1', 'completed')));
    story.when(commit(spawn('c', 't1')).to('a')).thenRefuses('turn_terminal', { turnId: 't1', state: 'completed' });
  });

  test('a turn has so many, and they reach so deep', () => {
    const story = given(family[0] as never);
    for (let at = 0; at < LIMITS.subAgents; at++) story.write(commit(spawn('c', 't1')).to(`s${at}`));
    const over = (limit: 'subAgents' | 'subAgentDepth') => {
      const max = LIMITS[limit];
      return { limit, max, actual: max + 1, path: 'commit.changes[0]' };
    };
    story.when(commit(spawn('c', 't1')).to('more')).thenRefuses('limit_exceeded', over('subAgents'));
    for (let at = 1; at < LIMITS.subAgentDepth; at++) {
      story.write(commit(submit('t1'), advance('t1', 'running')).to(at === 1 ? 's0' : `d${at}`));
      const child = commit(spawn(at === 1 ? 's0' : `d${at}`, 't1')).to(`d${at + 1}`);
      if (at + 1 < LIMITS.subAgentDepth) story.write(child);
      else story.when(child).thenRefuses('limit_exceeded', over('subAgentDepth'));
    }
  });
});

describe('a sub-agent', () => {
  test('counts what it uses for each turn that it hangs under, and once for the namespace', () => {
    const story = given(...family, commit(use('u1', 't1')), commit(use('u1', 'v1')).to('b'), commit(use('u2')).to('a'));
    expect([calls(story, 'c'), calls(story, 'a'), calls(story, 'b')]).toEqual([3, 2, 1]);
    expect(calls(story, 'c', USAGE_OF.turn('t1'))).toBe(3);
    expect(calls(story, 'a', USAGE_OF.turn('u1'))).toBe(1);
    expect(readUsageTotal(story.rows, SHELVES.usage, USAGE_OF.all)).toMatchObject({ calls: 3, cost: { USD: '0.3' } });
  });

  test.each(['cancelled', 'failed'] as const)('begins and completes nothing once a turn above it has %s', (state) => {
    const story = given(...family, commit(advance('t1', state)));
    const ended = { conversationId: 'c', turnId: 't1', state };
    for (const [id, change] of [
      ['a', advance('u1', 'completed')],
      ['b', advance('v1', 'waiting')],
      ['b', submit('v2')],
      ['a', record('u2')],
      ['a', { kind: 'input.deliver' }],
      ['a', { kind: 'step.start', turnId: 'u1', key: 'k', name: 'look' }],
      ['e', spawn('b', 'v1')],
    ] as const)
      story.when(commit(change).to(id)).thenRefuses('parent_ended', ended);
  });

  test('is not set to work by its operation once a turn above it was cancelled; the operation can fail', () => {
    const story = given(...family, commit(spawn('c', 't1')).to('e'), commit(submit('w1')).to('e'));
    story.write(commit(advance('t1', 'cancelled')));
    const ended = { conversationId: 'c', turnId: 't1', state: 'cancelled' } as const;
    story.when(commit(resolve('w1')).to('e')).thenRefuses('parent_ended', ended);
    story.when(commit(resolve('w1', 'gone', 'nobody asks any more')).to('e')).thenWrites({ status: 'failed' });
  });

  test('can still be cancelled, paid, titled, and say what it had to say', () => {
    const story = given(...family, commit(advance('t1', 'cancelled')));
    story
      .when(commit(say('n1', 'v1', { status: 'incomplete' }), use('u1', 'v1'), advance('v1', 'cancelled')).to('b'))
      .thenWrites();
    story.when(commit(advance('u1', 'failed'), { kind: 'conversation.update', title: 'x' }).to('a')).thenWrites();
  });

  test('outlives a turn above it that was completed', () => {
    given(...family, commit(advance('t1', 'completed')))
      .when(commit(advance('u1', 'completed')).to('a'))
      .thenWrites({ to: 'completed' });
  });

  test('is erased with its parent, in one commit, and what was learnt in it is forgotten', () => {
    const learn: Change = { kind: 'memory.upsert', memoryId: 'n1', text: 'a fact' };
    const story = given(...family, commit(learn).to('b'), commit({ kind: 'conversation.erase' }));
    for (const id of ['c', 'a', 'b'])
      expect(story.rows.head(id)).toMatchObject({
        erasedAt: Date.UTC(2026, 0, 1, 0, 0, 7),
        collected: false,
        busy: [],
      });
    expect(readMemories(new Bodies(story.rows, sha256))).toEqual([]);
    story.when(commit(advance('u1', 'cancelled')).to('a')).thenRefuses('erased', {
      conversationId: 'a',
      erasedAt: '2026-01-01T00:00:07.000Z',
    });
    story.when(commit({ kind: 'conversation.erase' }).to('b')).thenReplays(3);
  });

  test('was erased when it was, though its parent is erased later', () => {
    const story = given(...family, commit({ kind: 'conversation.erase' }).to('a'));
    const before = ['a', 'b'].map((id) => story.rows.head(id));
    story.write(commit(advance('t1', 'completed')));
    story.write(commit({ kind: 'conversation.erase' }));
    expect(story.rows.head('c')?.erasedAt).not.toBeNull();
    expect(['a', 'b'].map((id) => story.rows.head(id))).toEqual(before);
  });

  test('is erased alone, and leaves its parent whole', () => {
    const story = given(...family, commit({ kind: 'conversation.erase' }).to('a'), commit(advance('t1', 'completed')));
    expect(story.rows.head('b')?.erasedAt).not.toBeNull();
    expect(story.seen().turn('t1')).toMatchObject({ state: 'completed' });
    story.when(commit(redact('m1'), ...turn('t2'))).thenWrites();
  });
});
