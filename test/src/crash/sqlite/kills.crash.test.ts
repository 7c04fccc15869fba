import { expect, test } from 'vitest';
import { killRuns } from './kills.ts';
import { earlyAcknowledgement, traceOfCommits } from './sync-trace.ts';

test('I1: after SIGKILL inside commits every acknowledged commit is whole, and no other is there in part', async () => {
  const said: string[] = [];
  const report = await killRuns({ runs: 20, seed: 20_261_129, say: (line) => said.push(line) });
  expect(report.faults).toEqual([]);
  expect(report.passed).toBe(20);
  expect(said.join('\n')).toMatch(/[1-9]\d* kills landed inside a commit/);
});

test('I8: no acknowledgement precedes the return of its sync', () => {
  const trace = traceOfCommits(30);
  expect(trace.filter((event) => event === 'ack')).toHaveLength(30);
  expect(trace.filter((event) => event === 'sync returns').length).toBeGreaterThanOrEqual(30);
  expect(earlyAcknowledgement(trace)).toBeUndefined();
});

test('a trace in which an acknowledgement comes too early is told', () => {
  expect(earlyAcknowledgement(['write', 'ack', 'sync begins', 'sync returns'])).toContain('before the sync');
  expect(earlyAcknowledgement(['write', 'sync begins', 'ack', 'sync returns'])).toContain('before the sync');
  expect(earlyAcknowledgement(['write', 'sync begins', 'sync returns', 'ack', 'ack'])).toContain('without a write');
  expect(earlyAcknowledgement(['write', 'sync begins', 'sync returns', 'ack'])).toBeUndefined();
});
