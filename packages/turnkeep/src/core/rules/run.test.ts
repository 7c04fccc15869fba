import { describe, expect, test } from 'vitest';
import { fork, submit, turn } from '../changes.testkit.ts';
import { sha256 } from '../../platform/hash.ts';
import type { RowValue } from '../backend.ts';
import type { Change } from '../change.ts';
import { KEYS } from '../keys.ts';
import { readRun, runOfAttempt } from '../read/agent.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { verifyConversation } from '../verify/conversation.ts';

function start(runId: string, baseTurnId?: string): Change {
  return { kind: 'run.start', runId, agent: 'clerk', baseTurnId };
}

const failed: Change = { kind: 'run.end', runId: 'r1', status: 'failed', reason: { code: 'lost', message: 'gone' } };

function seen(story: Story, runId: string) {
  const { tree, bodies } = story.seen();
  return readRun(tree, bodies, runId);
}

describe('run.start', () => {
  test('says which agent, and the turn that it goes on from, be it inherited', () => {
    const story = given(commit(...turn('t1')), commit(fork('c', 't1.q')).to('fork'));
    story.when(commit(start('r1', 't1'))).thenWrites({ runId: 'r1', baseTurnId: 't1' });
    expect(seen(story, 'r1')).toMatchObject({ agent: 'clerk', status: 'running', endedAt: null });
    story.when(commit(start('r1', 't1')).to('fork')).thenWrites({ runId: 'r1' });
    story.when(commit(start('r1'))).thenRefuses('run_exists', { runId: 'r1' });
    story.when(commit(start('r2', 'x'))).thenRefuses('no_turn', { turnId: 'x' });
  });
});

describe('run.end', () => {
  test('is said once, with its reason', () => {
    const story = given(commit(start('r1')));
    story.when(commit(failed)).thenWrites({ status: 'failed' });
    expect(seen(story, 'r1')).toMatchObject({ status: 'failed', reason: { code: 'lost', message: 'gone' } });
    story.when(commit(failed)).thenRefuses('run_ended', { runId: 'r1', status: 'failed' });
    story.when(commit({ kind: 'run.end', runId: 'r2', status: 'completed' })).thenRefuses('no_run', { runId: 'r2' });
  });
});

test('an attempt names a run that has not ended', () => {
  const story = given(commit(submit('t1'), start('r1')));
  const attempt = (runId: string): Change => ({ kind: 'attempt.start', turnId: 't1', attempt: 'one', runId });
  story.when(commit(attempt('x'))).thenRefuses('no_run', { runId: 'x' });
  story.when(commit(failed, attempt('r1'))).thenRefuses('run_ended', { runId: 'r1', status: 'failed' });
  story.when(commit(attempt('r1'))).thenWrites({ attempt: 'one', token: 1, runId: 'r1' });
  expect(runOfAttempt(story.seen().tree, 'one')).toBe('r1');
});

test('verify names rows of runs, steps and interrupts that lead nowhere', () => {
  const story = given(commit(...turn('t1'), start('r1')));
  const put = (key: string, value: RowValue) => story.rows.put('c', key, value);
  put(KEYS.run('r2'), ['running', [9, 0], null, null]);
  put(KEYS.step('t1', 'a'), ['started', 0, 'never', 1, 1, [1, 0], [9, 1], null]);
  put(KEYS.interrupt('t1', 'i1'), ['open', 'input', null, [9, 2], null, null, null]);
  put(KEYS.interruptId('i2'), ['t1']);
  const faults = [];
  for (let step = verifyConversation(story.rows, sha256, { namespace: 'n', conversationId: 'c' }); ;) {
    faults.push(...step.faults);
    if (!step.next) break;
    step = verifyConversation(story.rows, sha256, { namespace: 'n', conversationId: 'c' }, step.next);
  }
  expect(faults.map(({ kind, reason }) => `${kind}: ${reason}`).sort()).toEqual([
    'reference: it points to a record that is not there',
    'reference: it points to a record that is not there',
    'reference: it points to a record that is not there',
    'reference: it points to an interrupt that is not there',
    'reference: its number of open interrupts is 0, and 1 is what is there',
    'rows: together they are not what its commits wrote',
  ]);
});
