import { describe, expect, test } from 'vitest';
import { advance, answer as result, call, redact, resolve, submit } from '../changes.testkit.ts';
import type { Change, InterruptRequest } from '../change.ts';
import { readInterrupt, readInterrupts } from '../read/agent.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';

function ask(interruptId: string, more: Partial<InterruptRequest> = {}): Change {
  return { kind: 'interrupt.request', interruptId, turnId: 't1', type: 'approval', payload: interruptId, ...more };
}

function answer(interruptId: string, by: string): Change {
  return { kind: 'interrupt.answer', interruptId, by, response: `${by} says yes` };
}

function expire(interruptId: string): Change {
  return { kind: 'interrupt.expire', interruptId };
}

/** Turn t1 runs and holds no attempt. */
function running(): Story {
  return given(commit(submit('t1'), advance('t1', 'running')));
}

function seen(story: Story, interruptId: string) {
  const { tree, bodies } = story.seen();
  return readInterrupt(tree, bodies, interruptId);
}

describe('interrupt.request', () => {
  test('stands open, and the head names it', () => {
    const story = running()
      .when(commit(ask('i1')))
      .thenWrites({ interruptId: 'i1', type: 'approval' });
    expect(story.seen().head.openInterrupts).toEqual(['i1']);
    expect(seen(story, 'i1')).toMatchObject({ status: 'open', payload: 'i1', closedAt: null, expiresAt: null });
  });

  test('is made once, by whoever holds the turn, about a call that the turn has', () => {
    const story = running();
    story.write(commit(call('a1', ['x']), ask('i1', { callId: 'x' })));
    story.when(commit(ask('i1'))).thenRefuses('interrupt_exists', { interruptId: 'i1' });
    story.when(commit(ask('i2', { callId: 'y' }))).thenRefuses('no_call', { callId: 'y' });
    story.write(commit({ kind: 'attempt.start', turnId: 't1', attempt: 'one' }));
    story.when(commit(ask('i2'))).thenRefuses('fence_required', { turnId: 't1', change: 'commit.changes[0]' });
    story.when(commit(ask('i2')).under('one', 1)).thenWrites({ interruptId: 'i2' });
  });
});

describe('interrupt.answer', () => {
  test('the first one stands, with who and when', () => {
    const story = running();
    story.write(commit(ask('i1'), advance('t1', 'waiting')));
    story.write(commit(answer('i1', 'ann')).at(Date.UTC(2027, 1, 1)));
    story.when(commit(answer('i1', 'bob'))).thenRefuses('interrupt_closed', { interruptId: 'i1', status: 'answered' });
    expect(story.seen().head.openInterrupts).toEqual([]);
    expect(seen(story, 'i1')).toMatchObject({
      status: 'answered',
      closedAt: '2027-02-01T00:00:00.000Z',
      answer: { by: 'ann', response: 'ann says yes' },
    });
  });

  test('of two at once one wins', () => {
    const story = running();
    story.write(commit(ask('i1')));
    story
      .whenOvertaken(commit(answer('i1', 'bob')), commit(answer('i1', 'ann')))
      .thenRefuses('interrupt_closed', { interruptId: 'i1', status: 'answered' });
  });

  test('needs no fence, no operation, and leaves the turn as it waits', () => {
    const story = given(commit(submit('t1'), resolve('t1'), { kind: 'attempt.start', turnId: 't1', attempt: 'one' }));
    story.write(commit(ask('i1'), advance('t1', 'waiting')).under('one', 1));
    story.when(commit(answer('i1', 'ann'))).thenWrites({ turnId: 't1' });
    expect(story.seen().turn('t1')?.state).toBe('waiting');
    story.when(commit(answer('x', 'ann'))).thenRefuses('no_interrupt', { interruptId: 'x' });
  });
});

describe('interrupt.expire', () => {
  test('comes with its time, not before', () => {
    const story = running();
    const expiresAt = '2026-06-01T00:00:00.000Z';
    story.write(commit(ask('i1', { expiresAt })));
    story
      .when(commit(expire('i1')).at(Date.parse(expiresAt) - 1))
      .thenRefuses('interrupt_not_due', { interruptId: 'i1', expiresAt });
    story.when(commit(expire('i1')).at(Date.parse(expiresAt))).thenWrites({ interruptId: 'i1' });
    expect(seen(story, 'i1')).toMatchObject({ status: 'expired' });
    story.when(commit(answer('i1', 'ann'))).thenRefuses('interrupt_closed', { interruptId: 'i1', status: 'expired' });
  });

  test('of one without a time comes at any', () => {
    const story = running();
    story.write(commit(ask('i1')));
    story.when(commit(expire('i1'))).thenWrites({ interruptId: 'i1' });
  });
});

test('the words of a question can be taken away, once, and with them who answered what', () => {
  const story = running();
  story.write(commit(ask('i1'), answer('i1', 'ann')));
  const redaction: Change = { kind: 'interrupt.redact', interruptId: 'i1', reason: 'asked' };
  story.when(commit(redaction)).thenWrites({ kind: 'interrupt.redact', turnId: 't1' });
  expect(seen(story, 'i1')).toMatchObject({ status: 'answered', redacted: true });
  expect(seen(story, 'i1')).not.toHaveProperty('payload');
  expect(seen(story, 'i1')).not.toHaveProperty('answer');
  story.when(commit(redaction)).thenWrites({ noop: true });
  story.when(commit({ ...redaction, interruptId: 'x' })).thenRefuses('no_interrupt', { interruptId: 'x' });
});

test('the end of a turn withdraws what it asked, and only that', () => {
  const story = running();
  story.write(commit(ask('i1'), ask('i2'), answer('i1', 'ann'), advance('t1', 'waiting')));
  story.write(commit(submit('t2', { parent: null }), advance('t2', 'running')).expecting({ graphRevision: 2 }));
  story.write(commit(ask('i3', { turnId: 't2' })));
  story.write(commit(advance('t1', 'failed')));
  const { tree, bodies } = story.seen();
  expect(readInterrupts(tree, bodies, 't1').map(({ status }) => status)).toEqual(['answered', 'withdrawn']);
  expect(tree.head.openInterrupts).toEqual(['i3']);
});

test('the words of a question go with those of the call that it is about', () => {
  const story = running();
  story.write(
    commit(call('a1', ['x', 'y']), ask('i1', { callId: 'x' }), answer('i1', 'ann'), ask('i2', { callId: 'y' })),
  );
  story.write(commit(result('r1', ['x'])));
  story.write(commit(redact('r1')));
  expect(seen(story, 'i1')).toMatchObject({ status: 'answered', redacted: true });
  expect(seen(story, 'i2')).toMatchObject({ status: 'open', payload: 'i2' });
});
