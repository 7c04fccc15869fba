import type { Rejection } from './rejection.ts';
import { append, HELD, says, text } from './scenes.ts';

const AT = 'commit.changes[0]';
const submit = (more: object = {}) => ({ kind: 'turn.submit', prompt: [text('a question')], ...more });
const record = (more: object = {}): object => ({ kind: 'turn.record', origin: 'background', ...more });
const transcript = { transcript: { turn: 't2', lastSequence: 5 } };
const waiting = { changes: [{ kind: 'turn.advance' as const, turnId: 't3', to: 'waiting' as const }], fence: HELD };
const takenOver = { changes: [{ kind: 'attempt.takeover' as const, attempt: 'a2', turnId: 't3', fromToken: 1 }] };
const finished = { changes: [{ kind: 'task.transition' as const, taskId: 'w1', to: 'completed' as const }] };
const message = (parts: readonly unknown[], more: object = {}) => ({
  kind: 'message.append',
  message: { role: 'user', parts, ...more },
  turnId: 't3',
});

const CONCURRENCY: readonly Rejection[] = [
  {
    code: 'conflict',
    when: 'the version is another',
    scene: 'idle',
    changes: [{ kind: 'state.update', stage: 'x' }],
    expect: { version: 3 },
    details: { field: 'version', expected: 3, actual: 4 },
  },
  {
    code: 'conflict',
    when: 'the version of an unknown conversation is above 0',
    scene: 'none',
    changes: [{ kind: 'state.update', stage: 'x' }],
    expect: { version: 1 },
    details: { field: 'version', expected: 1, actual: 0 },
  },
  {
    code: 'conflict',
    when: 'the graph revision is another',
    scene: 'idle',
    changes: [{ kind: 'leaf.select', turnId: 't1' }],
    expect: { graphRevision: 3 },
    details: { field: 'graphRevision', expected: 3, actual: 4 },
  },
  {
    code: 'conflict',
    when: 'the leaf is another',
    scene: 'idle',
    changes: [{ kind: 'state.update', stage: 'x' }],
    expect: { leaf: null },
    details: { field: 'leaf', expected: null, actual: 't2' },
  },
  {
    code: 'conflict',
    when: 'the transcript has grown',
    scene: 'idle',
    changes: [{ kind: 'state.update', stage: 'x' }],
    expect: { transcript: { turn: 't2', lastSequence: 4 } },
    details: { field: 'transcript.lastSequence', expected: 4, actual: 5 },
  },
  {
    code: 'busy',
    when: 'a turn is preparing',
    scene: 'submitted',
    changes: [submit()],
    details: { turnId: 't3', state: 'preparing' },
  },
  {
    code: 'busy',
    when: 'a turn is running',
    scene: 'working',
    changes: [record()],
    details: { turnId: 't3', state: 'running' },
  },
  {
    code: 'path_busy',
    when: 'the parent turn waits',
    scene: 'working',
    before: [waiting],
    changes: [submit()],
    details: { turnId: 't3', state: 'waiting' },
  },
  {
    code: 'operation_open',
    when: 'the operation of a turn that waits already is open within the commit',
    scene: 'idle',
    changes: [
      submit({ turnId: 't9', operationId: 'o9' }),
      { kind: 'turn.advance', turnId: 't9', to: 'waiting' },
      submit(),
    ],
    details: { operationId: 'o9' },
  },
  {
    code: 'fenced',
    when: 'the token is another',
    scene: 'working',
    changes: [{ kind: 'turn.advance', turnId: 't3', to: 'completed' }],
    fence: { attempt: 'a1', token: 9 },
    details: { turnId: 't3', attempt: 'a1', token: 9, currentToken: 1 },
  },
  {
    code: 'fenced',
    when: 'another attempt took over',
    scene: 'working',
    before: [takenOver],
    changes: [{ kind: 'conversation.update', title: 'whatever it wants' }],
    fence: HELD,
    details: { turnId: 't3', attempt: 'a1', token: 1, currentToken: 2 },
  },
  {
    code: 'fenced',
    when: 'a takeover saw another token',
    scene: 'working',
    changes: [{ kind: 'attempt.takeover', attempt: 'a2', turnId: 't3', fromToken: 7 }],
    details: { turnId: 't3', attempt: 'a2', token: 7, currentToken: 1 },
  },
  {
    code: 'fenced',
    when: 'there is nothing to take over',
    scene: 'submitted',
    changes: [{ kind: 'attempt.takeover', attempt: 'a2', turnId: 't3', fromToken: 0 }],
    details: { turnId: 't3', attempt: 'a2', token: 0, currentToken: 0 },
  },
  {
    code: 'fence_required',
    when: 'a held turn moves without a fence',
    scene: 'working',
    changes: [{ kind: 'turn.advance', turnId: 't3', to: 'completed' }],
    details: { turnId: 't3', change: AT },
  },
  {
    code: 'fence_required',
    when: 'output of a held turn comes without a fence',
    scene: 'working',
    changes: [{ kind: 'state.update', stage: 'x' }, append(says('assistant', 'hm'), 't3')],
    details: { turnId: 't3', change: 'commit.changes[1]' },
  },
  {
    code: 'no_attempt',
    when: 'a fence names nobody',
    scene: 'working',
    changes: [{ kind: 'state.update', stage: 'x' }],
    fence: { attempt: 'nobody', token: 1 },
    details: { attempt: 'nobody' },
  },
  {
    code: 'attempt_exists',
    when: 'a held turn is started again',
    scene: 'working',
    changes: [{ kind: 'attempt.start', attempt: 'a2', turnId: 't3' }],
    details: { turnId: 't3', attempt: 'a1' },
  },
  {
    code: 'attempt_exists',
    when: 'an attempt takes over under a known id',
    scene: 'working',
    changes: [{ kind: 'attempt.takeover', attempt: 'a1', turnId: 't3', fromToken: 1 }],
    details: { turnId: 't3', attempt: 'a1' },
  },
];

const ONE_MORE = { kind: 'input.enqueue' as const, inputId: 'i1', prompt: [text('one more')] };
const enqueue = (more: object = {}): object => ({ ...ONE_MORE, ...more });
const inputWaits = { changes: [ONE_MORE] };
const edited = { changes: [{ ...ONE_MORE, from: 0 }] };
const withdrawn = { changes: [{ kind: 'input.withdraw' as const, inputId: 'i1' }] };

const INPUTS: readonly Rejection[] = [
  {
    code: 'input_exists',
    when: 'it is left again',
    scene: 'working',
    before: [inputWaits],
    changes: [enqueue()],
    details: { inputId: 'i1' },
  },
  {
    code: 'input_exists',
    when: 'an operation has the id',
    scene: 'working',
    changes: [enqueue({ inputId: 'o1' })],
    details: { inputId: 'o1' },
  },
  {
    code: 'input_conflict',
    when: 'it was edited meanwhile',
    scene: 'working',
    before: [inputWaits, edited],
    changes: [enqueue({ from: 0 })],
    details: { inputId: 'i1', expectedRevision: 0, actualRevision: 1 },
  },
  {
    code: 'no_input',
    when: 'nothing waits',
    scene: 'idle',
    changes: [{ kind: 'input.deliver' }],
    details: { inputId: null },
  },
  {
    code: 'no_input',
    when: 'what is withdrawn is unknown',
    scene: 'idle',
    changes: [{ kind: 'input.withdraw', inputId: 'x' }],
    details: { inputId: 'x' },
  },
  {
    code: 'input_settled',
    when: 'it was withdrawn',
    scene: 'idle',
    before: [inputWaits, withdrawn],
    changes: [{ kind: 'input.deliver', inputId: 'i1' }],
    details: { inputId: 'i1', status: 'withdrawn' },
  },
  {
    code: 'busy',
    when: 'an input is to start a turn while one is at work',
    scene: 'working',
    before: [inputWaits],
    changes: [{ kind: 'input.deliver' }],
    details: { turnId: 't3', state: 'running' },
  },
];

const USED = { kind: 'usage.record' as const, usageId: 'u1', provider: 'some', model: 'large' };

const REMEMBERED = { kind: 'memory.upsert' as const, memoryId: 'n1', text: 'They like reports.' };
const remembered = { changes: [REMEMBERED] };

const MEMORIES: readonly Rejection[] = [
  {
    code: 'memory_exists',
    when: 'it is created again',
    scene: 'idle',
    before: [remembered],
    changes: [REMEMBERED],
    details: { memoryId: 'n1' },
  },
  {
    code: 'no_memory',
    when: 'it was forgotten',
    scene: 'idle',
    before: [remembered, { changes: [{ ...REMEMBERED, from: 0, text: null }] }],
    changes: [{ ...REMEMBERED, from: 0 }],
    details: { memoryId: 'n1' },
  },
  {
    code: 'memory_conflict',
    when: 'it was replaced meanwhile',
    scene: 'idle',
    before: [remembered, { changes: [{ ...REMEMBERED, from: 0 }] }],
    changes: [{ ...REMEMBERED, from: 0 }],
    details: { memoryId: 'n1', expectedRevision: 0, actualRevision: 1 },
  },
  {
    code: 'no_message',
    when: 'a memory is made of a message that is not there',
    scene: 'idle',
    changes: [{ ...REMEMBERED, sources: ['m1', 'x'] }],
    details: { messageId: 'x' },
  },
];

const STATE: readonly Rejection[] = [
  {
    code: 'usage_conflict',
    when: 'other usage has the id',
    scene: 'idle',
    before: [{ changes: [USED] }],
    changes: [{ ...USED, model: 'small' }],
    details: { usageId: 'u1' },
  },
  {
    code: 'checkpoint_exists',
    when: 'it is created again',
    scene: 'idle',
    changes: [{ kind: 'checkpoint.create', checkpointId: 'k1', type: 'agent', payload: {} }],
    details: { checkpointId: 'k1', revision: 0 },
  },
  {
    code: 'no_checkpoint',
    when: 'it is advanced unknown',
    scene: 'idle',
    changes: [{ kind: 'checkpoint.advance', checkpointId: 'x', from: 0, payload: {} }],
    details: { checkpointId: 'x' },
  },
  {
    code: 'no_checkpoint',
    when: 'a pending write names an unknown revision',
    scene: 'idle',
    changes: [
      {
        kind: 'checkpoint.write',
        checkpointId: 'k1',
        revision: 1,
        task: 'n',
        index: 0,
        channel: 'c',
        value: { json: 1 },
      },
    ],
    details: { checkpointId: 'k1' },
  },
  {
    code: 'no_checkpoint',
    when: 'its parent is unknown',
    scene: 'idle',
    changes: [{ kind: 'checkpoint.create', type: 'agent', parent: { checkpointId: 'k1', revision: 1 }, payload: {} }],
    details: { checkpointId: 'k1' },
  },
  {
    code: 'checkpoint_conflict',
    when: 'it is at another revision',
    scene: 'idle',
    changes: [{ kind: 'checkpoint.advance', checkpointId: 'k1', from: 1, payload: {} }],
    details: { checkpointId: 'k1', expectedRevision: 1, actualRevision: 0 },
  },
  {
    code: 'task_exists',
    when: 'it is created again',
    scene: 'idle',
    changes: [{ kind: 'task.create', taskId: 'w1', title: 'again' }],
    details: { taskId: 'w1' },
  },
  {
    code: 'active_task',
    when: 'the path has an active task',
    scene: 'idle',
    changes: [{ kind: 'task.create', taskId: 'w2', title: 'more' }],
    details: { taskId: 'w1' },
  },
  {
    code: 'no_task',
    when: 'it is unknown',
    scene: 'idle',
    changes: [{ kind: 'task.amend', taskId: 'x', title: 'y' }],
    details: { taskId: 'x' },
  },
  {
    code: 'no_task',
    when: 'its parent is unknown',
    scene: 'idle',
    before: [finished],
    changes: [{ kind: 'task.create', title: 'y', parentTaskId: 'x' }],
    details: { taskId: 'x' },
  },
  {
    code: 'no_task',
    when: 'a message names an unknown task',
    scene: 'submitted',
    changes: [message([text('a')], { taskId: 'x' })],
    details: { taskId: 'x' },
  },
  {
    code: 'illegal_transition',
    when: 'a task leaves its end',
    scene: 'idle',
    before: [finished],
    changes: [{ kind: 'task.transition', taskId: 'w1', to: 'running' }],
    details: { machine: 'task', id: 'w1', from: 'completed', to: 'running' },
  },
  {
    code: 'illegal_transition',
    when: 'an ended task is amended',
    scene: 'idle',
    before: [finished],
    changes: [{ kind: 'task.amend', taskId: 'w1', title: 'y' }],
    details: { machine: 'task', id: 'w1', from: 'completed', to: 'completed' },
  },
  {
    code: 'illegal_transition',
    when: 'a commitment is closed twice',
    scene: 'idle',
    before: [{ changes: [{ kind: 'commitment.resolve', which: { commitmentId: 'c1' } }] }],
    changes: [{ kind: 'commitment.expire', which: { commitmentId: 'c1' } }],
    details: { machine: 'commitment', id: 'c1', from: 'fulfilled', to: 'expired' },
  },
  {
    code: 'commitment_exists',
    when: 'it is added again',
    scene: 'idle',
    changes: [{ kind: 'commitment.add', commitmentId: 'c1', content: 'again' }],
    details: { commitmentId: 'c1' },
  },
  {
    code: 'no_commitment',
    when: 'it is unknown',
    scene: 'idle',
    changes: [{ kind: 'commitment.resolve', which: { commitmentId: 'x' } }],
    details: { commitmentId: 'x' },
  },
  {
    code: 'summary_not_longer',
    when: 'it covers no more than the last',
    scene: 'idle',
    before: [{ changes: [{ kind: 'summary.commit', upTo: 'm3', text: 's' }], expect: transcript }],
    changes: [{ kind: 'summary.commit', upTo: 'm3', text: 's2' }],
    expect: transcript,
    details: { upTo: 'm3', covered: 'm3' },
  },
];

/** What is refused for what others did, and by checkpoints, tasks, commitments and summaries. */
export const REJECTED_BY_STATE: readonly Rejection[] = [...CONCURRENCY, ...INPUTS, ...MEMORIES, ...STATE];
