import type { Rejection } from './rejection.ts';
import { HELD } from './scenes.ts';

const AT = 'commit.changes[0]';
const stepStart = (more: object = {}): object => ({ kind: 'step.start', turnId: 't3', key: 'pay', ...more });
const finish = (key: string, more: object = {}): object => ({
  kind: 'step.finish',
  turnId: 't3',
  key,
  outcome: { status: 'succeeded', ...more },
});
const settle = (key: string): object => ({ kind: 'step.settle', turnId: 't3', key, outcome: { status: 'retry' } });
const ask = (more: object = {}): object => ({
  kind: 'interrupt.request',
  turnId: 't3',
  type: 'input',
  payload: null,
  ...more,
});
const answer = { kind: 'interrupt.answer' as const, interruptId: 'i1', by: 'ann', response: 'yes' };
const answered = { changes: [answer] };
const runs = { changes: [{ kind: 'run.start' as const, runId: 'r1', agent: 'clerk' }] };
const ran = { changes: [{ kind: 'run.end' as const, runId: 'r1', status: 'completed' as const }] };
const takenOver = { changes: [{ kind: 'attempt.takeover' as const, attempt: 'a2', turnId: 't3', fromToken: 1 }] };
const SECOND = { attempt: 'a2', token: 2 };
const done = {
  changes: [
    { kind: 'step.finish' as const, turnId: 't3', key: 'look', outcome: { status: 'succeeded' as const, result: 1 } },
  ],
  fence: HELD,
};

const RUNS: readonly Rejection[] = [
  {
    code: 'run_exists',
    when: 'it is started again',
    scene: 'idle',
    before: [runs],
    changes: [{ kind: 'run.start', runId: 'r1', agent: 'other' }],
    details: { runId: 'r1' },
  },
  {
    code: 'no_turn',
    when: 'a run starts from an unknown turn',
    scene: 'idle',
    changes: [{ kind: 'run.start', agent: 'clerk', baseTurnId: 'x' }],
    details: { turnId: 'x' },
  },
  {
    code: 'no_run',
    when: 'an unknown one is ended',
    scene: 'idle',
    changes: [{ kind: 'run.end', runId: 'x', status: 'completed' }],
    details: { runId: 'x' },
  },
  {
    code: 'no_run',
    when: 'an attempt names an unknown one',
    scene: 'submitted',
    changes: [{ kind: 'attempt.start', turnId: 't3', runId: 'x' }],
    details: { runId: 'x' },
  },
  {
    code: 'run_ended',
    when: 'it is ended again',
    scene: 'idle',
    before: [runs, ran],
    changes: [{ kind: 'run.end', runId: 'r1', status: 'failed' }],
    details: { runId: 'r1', status: 'completed' },
  },
  {
    code: 'run_ended',
    when: 'an attempt names one that has ended',
    scene: 'submitted',
    before: [runs, ran],
    changes: [{ kind: 'attempt.start', turnId: 't3', runId: 'r1' }],
    details: { runId: 'r1', status: 'completed' },
  },
];

const STEPS: readonly Rejection[] = [
  {
    code: 'invalid_value',
    when: 'a step has neither a key nor a call',
    scene: 'working',
    changes: [stepStart({ key: undefined })],
    fence: HELD,
    details: { path: AT },
  },
  {
    code: 'invalid_value',
    when: 'a step has two results',
    scene: 'stepping',
    changes: [finish('look', { result: 1, messageId: 'm6' })],
    fence: HELD,
    details: { path: `${AT}.outcome` },
  },
  {
    code: 'fence_required',
    when: 'a step of a held turn starts without a fence',
    scene: 'working',
    changes: [stepStart()],
    details: { turnId: 't3', change: AT },
  },
  {
    code: 'turn_not_running',
    when: 'a step starts in a turn that has not started',
    scene: 'submitted',
    changes: [stepStart()],
    details: { turnId: 't3', state: 'preparing' },
  },
  {
    code: 'turn_terminal',
    when: 'a step starts in a turn that has ended',
    scene: 'idle',
    changes: [stepStart({ turnId: 't2' })],
    details: { turnId: 't2', state: 'completed' },
  },
  {
    code: 'no_turn',
    when: 'a step starts in an unknown turn',
    scene: 'working',
    changes: [stepStart({ turnId: 'x' })],
    details: { turnId: 'x' },
  },
  {
    code: 'no_call',
    when: 'a step is for a call of another turn',
    scene: 'working',
    changes: [stepStart({ callId: 'l1' })],
    fence: HELD,
    details: { callId: 'l1' },
  },
  {
    code: 'ambiguous',
    when: 'a step that may have been done is started again',
    scene: 'stepping',
    before: [takenOver],
    changes: [stepStart({ key: 'look', name: 'look_up', input: { key: 'x' } })],
    fence: SECOND,
    details: { turnId: 't3', keys: ['look'] },
  },
  {
    code: 'ambiguous',
    when: 'a step of an earlier attempt is finished',
    scene: 'stepping',
    before: [takenOver],
    changes: [finish('look')],
    fence: SECOND,
    details: { turnId: 't3', keys: ['look'] },
  },
  {
    code: 'step_ended',
    when: 'it is started again',
    scene: 'stepping',
    before: [done],
    changes: [stepStart({ key: 'look', name: 'look_up', input: { key: 'x' } })],
    fence: HELD,
    details: { turnId: 't3', key: 'look', status: 'succeeded' },
  },
  {
    code: 'step_ended',
    when: 'it is finished again',
    scene: 'stepping',
    before: [done],
    changes: [finish('look')],
    fence: HELD,
    details: { turnId: 't3', key: 'look', status: 'succeeded' },
  },
  {
    code: 'step_ended',
    when: 'it is settled after its end',
    scene: 'stepping',
    before: [done],
    changes: [settle('look')],
    fence: HELD,
    details: { turnId: 't3', key: 'look', status: 'succeeded' },
  },
  {
    code: 'step_conflict',
    when: 'it is done again with another input',
    scene: 'stepping',
    before: [
      {
        changes: [{ kind: 'step.settle' as const, turnId: 't3', key: 'look', outcome: { status: 'retry' as const } }],
        fence: HELD,
      },
    ],
    changes: [stepStart({ key: 'look', name: 'look_up', input: { key: 'y' } })],
    fence: HELD,
    details: { turnId: 't3', key: 'look' },
  },
  {
    code: 'no_step',
    when: 'an unknown one is finished',
    scene: 'working',
    changes: [finish('x')],
    fence: HELD,
    details: { turnId: 't3', key: 'x' },
  },
  {
    code: 'no_step',
    when: 'an unknown one is settled',
    scene: 'working',
    changes: [settle('x')],
    fence: HELD,
    details: { turnId: 't3', key: 'x' },
  },
  {
    code: 'no_message',
    when: 'its result is a message of another turn',
    scene: 'stepping',
    changes: [finish('look', { messageId: 'm5' })],
    fence: HELD,
    details: { messageId: 'm5' },
  },
];

const INTERRUPTS: readonly Rejection[] = [
  {
    code: 'interrupt_exists',
    when: 'it is requested again',
    scene: 'stepping',
    changes: [ask({ interruptId: 'i1' })],
    fence: HELD,
    details: { interruptId: 'i1' },
  },
  {
    code: 'fence_required',
    when: 'a held turn asks without a fence',
    scene: 'working',
    changes: [ask()],
    details: { turnId: 't3', change: AT },
  },
  {
    code: 'turn_terminal',
    when: 'a turn that has ended asks',
    scene: 'idle',
    changes: [ask({ turnId: 't2' })],
    details: { turnId: 't2', state: 'completed' },
  },
  {
    code: 'no_call',
    when: 'it is about a call that the turn does not have',
    scene: 'working',
    changes: [ask({ callId: 'x' })],
    fence: HELD,
    details: { callId: 'x' },
  },
  {
    code: 'invalid_value',
    when: 'its expiry is no time',
    scene: 'working',
    changes: [ask({ expiresAt: 'tomorrow' })],
    fence: HELD,
    details: { path: `${AT}.expiresAt` },
  },
  {
    code: 'no_interrupt',
    when: 'an unknown one is answered',
    scene: 'working',
    changes: [{ ...answer, interruptId: 'x' }],
    details: { interruptId: 'x' },
  },
  {
    code: 'no_interrupt',
    when: 'an unknown one is redacted',
    scene: 'working',
    changes: [{ kind: 'interrupt.redact', interruptId: 'x', reason: 'asked for' }],
    details: { interruptId: 'x' },
  },
  {
    code: 'interrupt_closed',
    when: 'it is answered a second time',
    scene: 'stepping',
    before: [answered],
    changes: [{ ...answer, by: 'bob' }],
    details: { interruptId: 'i1', status: 'answered' },
  },
  {
    code: 'interrupt_closed',
    when: 'it is answered after the end of its turn',
    scene: 'stepping',
    before: [{ changes: [{ kind: 'turn.advance', turnId: 't3', to: 'cancelled' }] }],
    changes: [answer],
    details: { interruptId: 'i1', status: 'withdrawn' },
  },
  {
    code: 'interrupt_not_due',
    when: 'it expires before its time',
    scene: 'working',
    before: [
      {
        changes: [
          {
            kind: 'interrupt.request',
            interruptId: 'i9',
            turnId: 't3',
            type: 'input',
            payload: null,
            expiresAt: '2999-01-01T00:00:00+01:00',
          },
        ],
        fence: HELD,
      },
    ],
    changes: [{ kind: 'interrupt.expire', interruptId: 'i9' }],
    details: { interruptId: 'i9', expiresAt: '2998-12-31T23:00:00.000Z' },
  },
];

/** What is refused of runs, steps and interrupts. */
export const REJECTED_AGENTS: readonly Rejection[] = [...RUNS, ...STEPS, ...INTERRUPTS];
