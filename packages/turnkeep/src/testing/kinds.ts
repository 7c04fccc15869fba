import type { Change, ChangeKind, ChangeOf, Expect } from '../core/change.ts';
import type { Fence } from '../core/message.ts';
import { HELD, IDLE_LAST_SEQUENCE, IDLE_LEAF, says, text } from './scenes.ts';
import type { Scene } from './scenes.ts';

/**
 * How the suite makes each kind of change happen. The table has a row for every kind of `RULES`; a kind without one does
 * not compile, and fails the suite.
 */
export interface KindEntry<Kind extends ChangeKind = ChangeKind> {
  /** The scene of the conversation that the change is sent to, `none` for one that does not exist. */
  readonly scene: Scene;
  /** A commit between the scene and the change. */
  readonly before?: readonly Change[] | undefined;
  readonly change: ChangeOf<Kind>;
  /** The same kind with other content, which the same commit id does not stand for. */
  readonly other: ChangeOf<Kind>;
  readonly expect?: Expect | undefined;
  readonly fence?: Fence | undefined;
}

/** The conversation that forks are made of; it is in the scene `idle`. */
export const FORK_SOURCE = 'fork-source';
/** The conversation that sub-agents are spawned by; it is in the scene `working`. */
export const SPAWN_PARENT = 'spawn-parent';

const transcript = { turn: IDLE_LEAF, lastSequence: IDLE_LAST_SEQUENCE };
const payload = { state: { json: { step: 1 } }, bytes: { base64: 'AAEC/w==' } };

export const KINDS: { readonly [Kind in ChangeKind]: KindEntry<Kind> } = {
  'conversation.create': {
    scene: 'none',
    change: { kind: 'conversation.create', title: 'One', owner: 'ann' },
    other: { kind: 'conversation.create', title: 'Another' },
  },
  'conversation.update': {
    scene: 'idle',
    change: {
      kind: 'conversation.update',
      title: 'A better title',
      pinned: true,
      readThrough: { reader: 'ann', sequence: 3 },
    },
    other: { kind: 'conversation.update', title: 'A worse title' },
  },
  'conversation.fork': {
    scene: 'none',
    change: { kind: 'conversation.fork', source: FORK_SOURCE, at: 'm2', title: 'A fork' },
    other: { kind: 'conversation.fork', source: FORK_SOURCE, at: 'm5' },
  },
  'conversation.spawn': {
    scene: 'none',
    change: {
      kind: 'conversation.spawn',
      parent: { conversationId: SPAWN_PARENT, turnId: 't3' },
      agent: 'finder',
      title: 'A search',
    },
    other: { kind: 'conversation.spawn', parent: { conversationId: SPAWN_PARENT, turnId: 't3' }, agent: 'writer' },
  },
  'conversation.erase': {
    scene: 'idle',
    change: { kind: 'conversation.erase', reason: 'asked_for' },
    other: { kind: 'conversation.erase', reason: 'other' },
  },
  'message.append': {
    scene: 'working',
    change: { kind: 'message.append', message: says('assistant', 'the third answer', 'm7'), turnId: 't3' },
    other: { kind: 'message.append', message: says('assistant', 'another answer', 'm7'), turnId: 't3' },
    fence: HELD,
  },
  'message.redact': {
    scene: 'idle',
    change: { kind: 'message.redact', messageId: 'm2', reason: 'asked for', replacement: [text('(removed)')] },
    other: { kind: 'message.redact', messageId: 'm2', reason: 'asked again' },
  },
  'turn.submit': {
    scene: 'idle',
    change: { kind: 'turn.submit', turnId: 't9', operationId: 'o9', messageId: 'm9', prompt: [text('a question')] },
    other: {
      kind: 'turn.submit',
      turnId: 't8',
      operationId: 'o8',
      messageId: 'm8',
      prompt: [text('another question')],
    },
  },
  'input.enqueue': {
    scene: 'working',
    change: { kind: 'input.enqueue', inputId: 'i1', mode: 'steering', prompt: [text('and in colour')] },
    other: { kind: 'input.enqueue', inputId: 'i1', prompt: [text('and in grey')] },
  },
  'input.deliver': {
    scene: 'idle',
    before: [{ kind: 'input.enqueue', inputId: 'i1', prompt: [text('one more question')] }],
    change: { kind: 'input.deliver', inputId: 'i1', turnId: 't9', messageId: 'm9' },
    other: { kind: 'input.deliver', inputId: 'i1', turnId: 't8', messageId: 'm8' },
  },
  'input.withdraw': {
    scene: 'working',
    before: [
      { kind: 'input.enqueue', inputId: 'i1', prompt: [text('never mind')] },
      { kind: 'input.enqueue', inputId: 'i2', prompt: [text('never mind that')] },
    ],
    change: { kind: 'input.withdraw', inputId: 'i1' },
    other: { kind: 'input.withdraw', inputId: 'i2' },
  },
  'turn.advance': {
    scene: 'working',
    change: { kind: 'turn.advance', turnId: 't3', to: 'completed' },
    other: { kind: 'turn.advance', turnId: 't3', to: 'failed' },
    fence: HELD,
  },
  'turn.record': {
    scene: 'idle',
    change: { kind: 'turn.record', turnId: 't9', parent: { turnId: 't1' }, origin: 'background' },
    other: { kind: 'turn.record', turnId: 't9', parent: null, origin: 'background' },
    // Creating and starting two turns in turn: four steps of the tree.
    expect: { graphRevision: 4 },
  },
  'leaf.select': {
    scene: 'idle',
    change: { kind: 'leaf.select', turnId: 't1' },
    other: { kind: 'leaf.select', turnId: 't2' },
    expect: { graphRevision: 4 },
  },
  'operation.resolve': {
    scene: 'submitted',
    change: {
      kind: 'operation.resolve',
      operationId: 'o3',
      outcome: { status: 'failed', code: 'refused', message: 'no' },
    },
    other: { kind: 'operation.resolve', operationId: 'o3', outcome: { status: 'succeeded' } },
  },
  'binding.save': {
    scene: 'idle',
    change: { kind: 'binding.save', turnId: 't2', history: 'provider', cursor: { at: 'resp_1' }, capture: 'live' },
    other: { kind: 'binding.save', turnId: 't2', history: 'provider', cursor: { at: 'resp_2' }, capture: 'live' },
  },
  'run.start': {
    scene: 'idle',
    change: { kind: 'run.start', runId: 'r1', agent: 'clerk', baseTurnId: 't2', metadata: { model: 'large' } },
    other: { kind: 'run.start', runId: 'r1', agent: 'painter' },
  },
  'run.end': {
    scene: 'idle',
    before: [{ kind: 'run.start', runId: 'r1', agent: 'clerk' }],
    change: { kind: 'run.end', runId: 'r1', status: 'failed', reason: { code: 'lost', message: 'the process ended' } },
    other: { kind: 'run.end', runId: 'r1', status: 'completed' },
  },
  'attempt.start': {
    scene: 'submitted',
    change: { kind: 'attempt.start', attempt: 'a1', turnId: 't3' },
    other: { kind: 'attempt.start', attempt: 'a2', turnId: 't3' },
  },
  'attempt.takeover': {
    scene: 'working',
    change: { kind: 'attempt.takeover', attempt: 'a2', turnId: 't3', fromToken: 1 },
    other: { kind: 'attempt.takeover', attempt: 'a3', turnId: 't3', fromToken: 1 },
  },
  'step.start': {
    scene: 'working',
    change: { kind: 'step.start', turnId: 't3', key: 'pay', name: 'pay', repeat: 'reconcile', input: { euros: 5 } },
    other: { kind: 'step.start', turnId: 't3', key: 'pay', name: 'pay', input: { euros: 6 } },
    fence: HELD,
  },
  'step.finish': {
    scene: 'stepping',
    change: { kind: 'step.finish', turnId: 't3', key: 'look', outcome: { status: 'succeeded', result: { found: 3 } } },
    other: { kind: 'step.finish', turnId: 't3', key: 'look', outcome: { status: 'failed', code: 'x', message: 'no' } },
    fence: HELD,
  },
  'step.settle': {
    scene: 'stepping',
    before: [{ kind: 'attempt.takeover', attempt: 'a2', turnId: 't3', fromToken: 1 }],
    change: { kind: 'step.settle', turnId: 't3', key: 'look', outcome: { status: 'retry' } },
    other: { kind: 'step.settle', turnId: 't3', key: 'look', outcome: { status: 'succeeded', result: 4 } },
    fence: { attempt: 'a2', token: 2 },
  },
  'interrupt.request': {
    scene: 'working',
    change: {
      kind: 'interrupt.request',
      interruptId: 'i2',
      turnId: 't3',
      type: 'approval',
      payload: { pay: 5 },
      expiresAt: '2099-01-01T00:00:00Z',
    },
    other: { kind: 'interrupt.request', interruptId: 'i2', turnId: 't3', type: 'input', payload: null },
    fence: HELD,
  },
  'interrupt.answer': {
    scene: 'stepping',
    change: { kind: 'interrupt.answer', interruptId: 'i1', by: 'ann', response: { approved: true } },
    other: { kind: 'interrupt.answer', interruptId: 'i1', by: 'bob', response: { approved: false } },
  },
  'interrupt.expire': {
    scene: 'stepping',
    change: { kind: 'interrupt.expire', interruptId: 'i1' },
    other: { kind: 'interrupt.expire', interruptId: 'i2' },
  },
  'interrupt.redact': {
    scene: 'stepping',
    before: [{ kind: 'interrupt.answer', interruptId: 'i1', by: 'ann', response: 'yes' }],
    change: { kind: 'interrupt.redact', interruptId: 'i1', reason: 'asked for' },
    other: { kind: 'interrupt.redact', interruptId: 'i1', reason: 'asked again' },
  },
  'checkpoint.create': {
    scene: 'idle',
    change: {
      kind: 'checkpoint.create',
      checkpointId: 'k2',
      type: 'agent',
      parent: { checkpointId: 'k1', revision: 0 },
      payload,
    },
    other: { kind: 'checkpoint.create', checkpointId: 'k2', type: 'agent', payload: {} },
  },
  'checkpoint.advance': {
    scene: 'idle',
    change: { kind: 'checkpoint.advance', checkpointId: 'k1', from: 0, phase: 'in_flight', payload },
    other: { kind: 'checkpoint.advance', checkpointId: 'k1', from: 0, payload: {} },
  },
  'checkpoint.write': {
    scene: 'idle',
    change: {
      kind: 'checkpoint.write',
      checkpointId: 'k1',
      revision: 0,
      task: 'node',
      index: 0,
      channel: 'out',
      value: { json: 1 },
    },
    other: {
      kind: 'checkpoint.write',
      checkpointId: 'k1',
      revision: 0,
      task: 'node',
      index: 0,
      channel: 'out',
      value: { json: 2 },
    },
  },
  'task.create': {
    scene: 'idle',
    before: [{ kind: 'task.transition', taskId: 'w1', to: 'completed' }],
    change: { kind: 'task.create', taskId: 'w2', title: 'send it', parentTaskId: 'w1', assignee: 'ann' },
    other: { kind: 'task.create', taskId: 'w2', title: 'burn it' },
  },
  'task.amend': {
    scene: 'idle',
    change: { kind: 'task.amend', taskId: 'w1', title: 'write a good report', metadata: { pages: 3 } },
    other: { kind: 'task.amend', taskId: 'w1', title: 'write a bad report' },
  },
  'task.transition': {
    scene: 'idle',
    change: { kind: 'task.transition', taskId: 'w1', to: 'completed', outcomeRef: 'report.txt' },
    other: { kind: 'task.transition', taskId: 'w1', to: 'failed' },
  },
  'state.update': {
    scene: 'idle',
    change: { kind: 'state.update', stage: 'review', nextStep: 'read it', blockers: ['time'], plan: [{ do: 'read' }] },
    other: { kind: 'state.update', stage: null },
  },
  'commitment.add': {
    scene: 'idle',
    change: { kind: 'commitment.add', commitmentId: 'c2', content: 'decision: no meetings' },
    other: { kind: 'commitment.add', commitmentId: 'c2', content: 'more meetings' },
  },
  'commitment.resolve': {
    scene: 'idle',
    change: { kind: 'commitment.resolve', which: { commitmentId: 'c1' } },
    other: { kind: 'commitment.resolve', which: { matching: 'report' } },
  },
  'commitment.expire': {
    scene: 'idle',
    change: { kind: 'commitment.expire', which: { matching: 'the report' } },
    other: { kind: 'commitment.expire', which: { commitmentId: 'c1' } },
  },
  'memory.upsert': {
    scene: 'idle',
    change: { kind: 'memory.upsert', memoryId: 'n1', text: 'They like reports.', type: 'preference', sources: ['m1'] },
    other: { kind: 'memory.upsert', memoryId: 'n1', text: 'They hate reports.' },
  },
  'usage.record': {
    scene: 'working',
    change: {
      kind: 'usage.record',
      usageId: 'u1',
      turnId: 't3',
      provider: 'some',
      model: 'large',
      inputTokens: 1_200,
      cachedInputTokens: 1_000,
      outputTokens: 30,
      cost: { amount: '0.0042', currency: 'USD' },
      raw: { total: 1_230 },
    },
    other: { kind: 'usage.record', usageId: 'u1', turnId: 't3', provider: 'some', model: 'small' },
  },
  'summary.commit': {
    scene: 'idle',
    change: { kind: 'summary.commit', summaryId: 's1', upTo: 'm3', text: 'They asked twice.' },
    other: { kind: 'summary.commit', summaryId: 's1', upTo: 'm3', text: 'They asked once.' },
    expect: { transcript },
  },
};

/** A change that is refused wherever it stands, and which of its refusals it is. */
export const FAILING: Change = { kind: 'checkpoint.advance', checkpointId: 'no such checkpoint', from: 0, payload: {} };

/** The entry of any kind. */
export function entryOf<Kind extends ChangeKind>(kind: Kind): KindEntry<Kind> {
  return KINDS[kind];
}
