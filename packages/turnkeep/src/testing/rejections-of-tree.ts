import { FORK_SOURCE } from './kinds.ts';
import type { Rejection } from './rejection.ts';
import { answers, append, calls, HELD, says, text } from './scenes.ts';

const submit = (more: object = {}) => ({ kind: 'turn.submit', prompt: [text('a question')], ...more });
const record = (more: object = {}): object => ({ kind: 'turn.record', origin: 'background', ...more });
const graphRevision = { graphRevision: 4 };
const transcript = { transcript: { turn: 't2', lastSequence: 5 } };
const redact = (messageId: string) => ({
  changes: [{ kind: 'message.redact' as const, messageId, reason: 'asked for' }],
});

const CONVERSATIONS: readonly Rejection[] = [
  {
    code: 'conversation_not_found',
    when: 'the source of a fork is unknown',
    scene: 'none',
    changes: [{ kind: 'conversation.fork', source: 'nowhere', at: 'm1' }],
    details: { conversationId: 'nowhere' },
  },
  {
    code: 'conversation_not_found',
    when: 'what is to be erased is unknown',
    scene: 'none',
    changes: [{ kind: 'conversation.erase' }],
    details: { conversationId: 'c' },
  },
  {
    code: 'conversation_exists',
    when: 'it is created again',
    scene: 'idle',
    changes: [{ kind: 'conversation.create' }],
    details: { conversationId: 'c' },
  },
  {
    code: 'conversation_exists',
    when: 'its creation is not the first change',
    scene: 'none',
    changes: [{ kind: 'state.update', stage: 'x' }, { kind: 'conversation.create' }],
    details: { conversationId: 'c' },
  },
  {
    code: 'conversation_exists',
    when: 'it becomes a fork afterwards',
    scene: 'idle',
    changes: [{ kind: 'conversation.fork', source: FORK_SOURCE, at: 'm2' }],
    details: { conversationId: 'c' },
  },
];

const TURNS: readonly Rejection[] = [
  {
    code: 'no_turn',
    when: 'a turn that moves is unknown',
    scene: 'idle',
    changes: [{ kind: 'turn.advance', turnId: 'x', to: 'running' }],
    details: { turnId: 'x' },
  },
  {
    code: 'no_turn',
    when: 'a message names an unknown turn',
    scene: 'idle',
    changes: [append(says('user', 'hi'), 'x')],
    details: { turnId: 'x' },
  },
  {
    code: 'no_turn',
    when: 'a message names the root after the first turn',
    scene: 'idle',
    changes: [append(says('user', 'hi'), null)],
    details: { turnId: null },
  },
  {
    code: 'no_turn',
    when: 'an unknown turn is selected',
    scene: 'idle',
    changes: [{ kind: 'leaf.select', turnId: 'x' }],
    expect: graphRevision,
    details: { turnId: 'x' },
  },
  {
    code: 'no_turn',
    when: 'an unknown turn is bound',
    scene: 'idle',
    changes: [{ kind: 'binding.save', turnId: 'x', history: 'h', cursor: 1, capture: 'live' }],
    details: { turnId: 'x' },
  },
  {
    code: 'no_turn',
    when: 'an unknown turn is attempted',
    scene: 'idle',
    changes: [{ kind: 'attempt.start', turnId: 'x' }],
    details: { turnId: 'x' },
  },
  {
    code: 'no_turn',
    when: 'an unknown turn is regenerated',
    scene: 'idle',
    changes: [{ kind: 'turn.submit', samePromptAs: 'x' }],
    details: { turnId: 'x' },
  },
  {
    code: 'no_turn',
    when: 'an entry names an unknown turn',
    scene: 'idle',
    changes: [{ kind: 'state.update', stage: 'x', turnId: 'x' }],
    details: { turnId: 'x' },
  },
  {
    code: 'no_turn',
    when: 'an expected transcript ends in an unknown turn',
    scene: 'idle',
    changes: [{ kind: 'state.update', stage: 'x' }],
    expect: { transcript: { turn: 'x', lastSequence: 0 } },
    details: { turnId: 'x' },
  },
  {
    code: 'no_parent',
    when: 'the parent turn is unknown',
    scene: 'idle',
    changes: [submit({ parent: { turnId: 'x' } })],
    expect: graphRevision,
    details: { parent: 'x' },
  },
  {
    code: 'no_parent',
    when: 'the parent message is unknown',
    scene: 'idle',
    changes: [record({ parent: { messageId: 'x' } })],
    expect: graphRevision,
    details: { parent: 'x' },
  },
  {
    code: 'no_parent',
    when: 'a turn is its own parent',
    scene: 'idle',
    changes: [submit({ turnId: 'x', parent: { turnId: 'x' } })],
    expect: graphRevision,
    details: { parent: 'x' },
  },
  {
    code: 'no_parent',
    when: 'the parent comes later in the commit',
    scene: 'idle',
    changes: [record({ turnId: 'x', parent: { turnId: 'y' } }), record({ turnId: 'y' })],
    expect: graphRevision,
    details: { parent: 'y' },
  },
  {
    code: 'turn_exists',
    when: 'a submitted turn is known',
    scene: 'idle',
    changes: [submit({ turnId: 't1' })],
    details: { turnId: 't1' },
  },
  {
    code: 'turn_exists',
    when: 'a recorded turn is known',
    scene: 'idle',
    changes: [record({ turnId: 't1' })],
    details: { turnId: 't1' },
  },
  {
    code: 'turn_terminal',
    when: 'a message comes after the end',
    scene: 'idle',
    changes: [append(says('user', 'hi'))],
    details: { turnId: 't2', state: 'completed' },
  },
  {
    code: 'turn_terminal',
    when: 'an ended turn is attempted',
    scene: 'idle',
    changes: [{ kind: 'attempt.start', turnId: 't1' }],
    details: { turnId: 't1', state: 'completed' },
  },
  {
    code: 'turn_terminal',
    when: 'what a recorded turn holds is complete once the leaf moves',
    scene: 'idle',
    changes: [record({ turnId: 'x' }), { kind: 'leaf.select', turnId: 't1' }, append(says('user', 'hi'), 'x')],
    expect: graphRevision,
    details: { turnId: 'x', state: 'completed' },
  },
  {
    code: 'turn_not_running',
    when: 'an entry names a turn that has ended and is not the leaf',
    scene: 'idle',
    changes: [{ kind: 'state.update', stage: 'x', turnId: 't1' }],
    details: { turnId: 't1', state: 'completed' },
  },
  {
    code: 'turn_not_running',
    when: 'an entry names a turn that has not started',
    scene: 'submitted',
    changes: [{ kind: 'commitment.add', content: 'x', turnId: 't3' }],
    details: { turnId: 't3', state: 'preparing' },
  },
  {
    code: 'illegal_transition',
    when: 'a turn goes back',
    scene: 'working',
    changes: [{ kind: 'turn.advance', turnId: 't3', to: 'preparing' }],
    fence: HELD,
    details: { machine: 'turn', id: 't3', from: 'running', to: 'preparing' },
  },
  {
    code: 'illegal_transition',
    when: 'a turn ends twice',
    scene: 'idle',
    changes: [{ kind: 'turn.advance', turnId: 't1', to: 'cancelled' }],
    details: { machine: 'turn', id: 't1', from: 'completed', to: 'cancelled' },
  },
  {
    code: 'no_operation',
    when: 'it is unknown',
    scene: 'idle',
    changes: [{ kind: 'operation.resolve', operationId: 'x', outcome: { status: 'succeeded' } }],
    details: { operationId: 'x' },
  },
  {
    code: 'operation_resolved',
    when: 'it was resolved',
    scene: 'idle',
    changes: [
      { kind: 'operation.resolve', operationId: 'o1', outcome: { status: 'failed', code: 'late', message: '' } },
    ],
    details: { operationId: 'o1', status: 'succeeded' },
  },
  {
    code: 'binding_live',
    when: 'a live capture would be overwritten',
    scene: 'idle',
    before: [{ changes: [{ kind: 'binding.save', turnId: 't1', history: 'h', cursor: 1, capture: 'live' }] }],
    changes: [{ kind: 'binding.save', turnId: 't1', history: 'h', cursor: 2, capture: 'replay' }],
    details: { turnId: 't1', history: 'h' },
  },
];

const MESSAGES: readonly Rejection[] = [
  {
    code: 'no_message',
    when: 'what is redacted is unknown',
    scene: 'idle',
    changes: [{ kind: 'message.redact', messageId: 'x', reason: 'r' }],
    details: { messageId: 'x' },
  },
  {
    code: 'no_message',
    when: 'a summary ends at an unknown message',
    scene: 'idle',
    changes: [{ kind: 'summary.commit', upTo: 'x', text: 's' }],
    expect: transcript,
    details: { messageId: 'x' },
  },
  {
    code: 'message_conflict',
    when: 'the id has other content',
    scene: 'submitted',
    changes: [append(says('assistant', 'other', 'm2'), 't3')],
    details: { messageId: 'm2' },
  },
  {
    code: 'message_conflict',
    when: 'a prompt takes a known message id',
    scene: 'idle',
    changes: [submit({ messageId: 'm2' })],
    details: { messageId: 'm2' },
  },
  {
    code: 'prompt_conflict',
    when: 'the id has other words',
    scene: 'idle',
    changes: [submit({ promptId: 'p1' })],
    details: { promptId: 'p1' },
  },
  {
    code: 'redacted',
    when: 'the id of a redacted message is appended again',
    scene: 'submitted',
    before: [redact('m2')],
    changes: [append(says('assistant', 'the first answer', 'm2'), 't3')],
    details: { messageId: 'm2' },
  },
  {
    code: 'redacted',
    when: 'a redacted prompt is asked again',
    scene: 'idle',
    before: [redact('m1')],
    changes: [{ kind: 'turn.submit', samePromptAs: 't1' }],
    details: { messageId: 'm1' },
  },
  {
    code: 'no_call',
    when: 'nobody made the call',
    scene: 'submitted',
    changes: [append(answers('x'))],
    details: { callId: 'x' },
  },
  {
    code: 'call_exists',
    when: 'a turn makes a call twice',
    scene: 'submitted',
    before: [{ changes: [append(calls('l2'), 't3')] }],
    changes: [append(calls('l2', 'again'), 't3')],
    details: { callId: 'l2', turnId: 't3' },
  },
  {
    code: 'already_answered',
    when: 'a call is answered twice',
    scene: 'idle',
    changes: [append(answers('l1', 'again'))],
    details: { callId: 'l1' },
  },
];

/** What conversations, turns and messages refuse. */
export const REJECTED_BY_TREE: readonly Rejection[] = [...CONVERSATIONS, ...TURNS, ...MESSAGES];
