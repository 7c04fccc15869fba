import type { Change, Expect } from '../core/change.ts';
import type { ErrorCode, ErrorDetails } from '../core/errors.ts';
import type { Fence, Part } from '../core/message.ts';
import { FORK_SOURCE } from './kinds.ts';
import { answers, append, calls, HELD, says, text } from './scenes.ts';
import type { Scene } from './scenes.ts';

/** A commit that a rule refuses, and what exactly the refusal says. */
export type Rejection = { readonly [Code in ErrorCode]: RejectionOf<Code> }[ErrorCode];

export interface RejectionOf<Code extends ErrorCode> {
  readonly code: Code;
  readonly when: string;
  readonly scene: Scene;
  /** Commits between the scene and the refused one. */
  readonly before?: readonly { readonly changes: readonly Change[]; readonly fence?: Fence; readonly expect?: Expect }[] | undefined;
  readonly changes: readonly unknown[];
  readonly expect?: unknown;
  readonly fence?: Fence | undefined;
  /** All details; of `invalid_value` the path alone counts, its reason is for people. */
  readonly details: Code extends 'invalid_value' ? { readonly path: string } : ErrorDetails[Code];
}

const AT = 'commit.changes[0]';
const submit = (more: object = {}) => ({ kind: 'turn.submit', prompt: [text('a question')], ...more });
const record = (more: object = {}): object => ({ kind: 'turn.record', origin: 'background', ...more });
const graphRevision = { graphRevision: 4 };
const transcript = { transcript: { turn: 't2', lastSequence: 5 } };
const waiting = { changes: [{ kind: 'turn.advance' as const, turnId: 't3', to: 'waiting' as const }], fence: HELD };
const takenOver = { changes: [{ kind: 'attempt.takeover' as const, attempt: 'a2', turnId: 't3', fromToken: 1 }] };
const finished = { changes: [{ kind: 'task.transition' as const, taskId: 'w1', to: 'completed' as const }] };
const redact = (messageId: string) => ({ changes: [{ kind: 'message.redact' as const, messageId, reason: 'asked for' }] });
const message = (parts: readonly unknown[], more: object = {}) => ({ kind: 'message.append', message: { role: 'user', parts, ...more }, turnId: 't3' });
const result = (more: object): object => ({ type: 'tool_result', callId: 'x', status: 'ok', ...more });

const INPUT: readonly Rejection[] = [
  { code: 'invalid_value', when: 'a kind of change is unknown', scene: 'idle', changes: [{ kind: 'nope' }], details: { path: `${AT}.kind` } },
  { code: 'invalid_value', when: 'a kind is a name that every object has', scene: 'idle', changes: [{ kind: 'constructor' }], details: { path: `${AT}.kind` } },
  { code: 'invalid_value', when: 'a commit has no change', scene: 'idle', changes: [], details: { path: 'commit.changes' } },
  { code: 'invalid_value', when: 'a change has an unknown field', scene: 'idle', changes: [{ kind: 'state.update', objectiv: 'x' }], details: { path: AT } },
  { code: 'invalid_value', when: 'an expectation has an unknown field', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }], expect: { versoin: 4 }, details: { path: 'commit.expect' } },
  { code: 'invalid_value', when: 'an expected version is no whole number', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }], expect: { version: 1.5 }, details: { path: 'commit.expect.version' } },
  { code: 'invalid_value', when: 'an expected version is null', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }], expect: { version: null }, details: { path: 'commit.expect.version' } },
  { code: 'invalid_value', when: 'an erasure has company', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }, { kind: 'conversation.erase' }], details: { path: 'commit.changes[1]' } },
  { code: 'invalid_value', when: 'a turn is submitted without words', scene: 'idle', changes: [{ kind: 'turn.submit' }], details: { path: AT } },
  { code: 'invalid_value', when: 'a turn is submitted with two prompts', scene: 'idle', changes: [submit({ samePromptAs: 't1' })], details: { path: AT } },
  { code: 'invalid_value', when: 'a regeneration brings an author', scene: 'idle', changes: [{ kind: 'turn.submit', samePromptAs: 't1', author: { id: 'x', kind: 'human' } }], details: { path: AT } },
  { code: 'invalid_value', when: 'a task has a blank title', scene: 'idle', before: [finished], changes: [{ kind: 'task.create', title: ' \n' }], details: { path: `${AT}.title` } },
  { code: 'invalid_value', when: 'a commitment is blank', scene: 'idle', changes: [{ kind: 'commitment.add', content: '\t' }], details: { path: `${AT}.content` } },
  { code: 'invalid_value', when: 'a summary is blank', scene: 'idle', changes: [{ kind: 'summary.commit', upTo: 'm2', text: ' ' }], expect: transcript, details: { path: `${AT}.text` } },
  { code: 'invalid_value', when: 'a commitment is chosen by blank text', scene: 'idle', changes: [{ kind: 'commitment.resolve', which: { matching: ' ' } }], details: { path: `${AT}.which.matching` } },
  { code: 'invalid_value', when: 'a call stands twice in one message', scene: 'submitted', changes: [message([...calls('x').parts, ...calls('x').parts])], details: { path: `${AT}.message.parts` } },
  { code: 'invalid_value', when: 'a call has two inputs', scene: 'submitted', changes: [message([{ type: 'tool_call', callId: 'x', name: 'f', input: 1, inputText: '1' }])], details: { path: `${AT}.message.parts[0]` } },
  { code: 'invalid_value', when: 'a result has two outputs', scene: 'submitted', changes: [message([result({ output: 1, content: [] })])], details: { path: `${AT}.message.parts[0]` } },
  { code: 'invalid_value', when: 'a part is of an unknown type', scene: 'submitted', changes: [message([{ type: 'song', text: 'la' }])], details: { path: `${AT}.message.parts[0].type` } },
  { code: 'invalid_value', when: 'a part lacks its text', scene: 'submitted', changes: [message([text('a'), { type: 'text' }])], details: { path: `${AT}.message.parts[1].text` } },
  { code: 'invalid_value', when: 'a part within a result has an unknown field', scene: 'submitted', changes: [message([result({ content: [text('a'), { type: 'text', text: 'b', colour: 'red' }] })])], details: { path: `${AT}.message.parts[0].content[1]` } },
  { code: 'invalid_value', when: 'a role is unknown', scene: 'submitted', changes: [message([text('a')], { role: 'robot' })], details: { path: `${AT}.message.role` } },
  { code: 'invalid_value', when: 'a state is unknown', scene: 'working', changes: [{ kind: 'turn.advance', turnId: 't3', to: 'done' }], fence: HELD, details: { path: `${AT}.to` } },
  { code: 'invalid_value', when: 'bytes are not base64', scene: 'idle', changes: [{ kind: 'checkpoint.create', type: 'agent', payload: { a: { base64: 'AAE' } } }], details: { path: `${AT}.payload.a` } },
  { code: 'invalid_value', when: 'a code is not snake_case', scene: 'idle', changes: [record({ origin: 'Back Ground' })], details: { path: `${AT}.origin` } },
  { code: 'invalid_value', when: 'a result names another turn than its call', scene: 'working', before: [{ changes: [append(calls('l2'), 't3')], fence: HELD }], changes: [append(answers('l2'), 't1')], fence: HELD, details: { path: `${AT}.turnId` } },
  { code: 'invalid_value', when: 'one message answers calls of two turns', scene: 'submitted', before: [{ changes: [{ kind: 'turn.advance', turnId: 't3', to: 'running' }, append(calls('l2', 'm7'), 't3'), append({ role: 'assistant', parts: calls('l3').parts, messageId: 'm8' }, 't3'), { kind: 'turn.advance', turnId: 't3', to: 'completed' }, { kind: 'turn.record', turnId: 't4', origin: 'import' }, append(calls('l4', 'm9'))] }], changes: [{ kind: 'message.append', message: { role: 'tool', parts: [...answers('l2').parts, ...answers('l4').parts] } }], details: { path: `${AT}.message.parts` } },
  { code: 'invalid_value', when: 'a reader’s mark lies beyond the end', scene: 'idle', changes: [{ kind: 'conversation.update', readThrough: { reader: 'ann', sequence: 6 } }], details: { path: `${AT}.readThrough.sequence` } },
  { code: 'expect_required', when: 'a leaf is selected', scene: 'idle', changes: [{ kind: 'leaf.select', turnId: 't1' }], details: { field: 'graphRevision', change: AT } },
  { code: 'expect_required', when: 'a recorded turn names its parent', scene: 'idle', changes: [record({ parent: null })], details: { field: 'graphRevision', change: AT } },
  { code: 'expect_required', when: 'a submitted turn names its parent', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }, submit({ parent: { messageId: 'm1' } })], details: { field: 'graphRevision', change: 'commit.changes[1]' } },
  { code: 'expect_required', when: 'a summary does not say what it saw', scene: 'idle', changes: [{ kind: 'summary.commit', upTo: 'm2', text: 'x' }], details: { field: 'transcript', change: AT } },
];

const CONCURRENCY: readonly Rejection[] = [
  { code: 'conflict', when: 'the version is another', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }], expect: { version: 3 }, details: { field: 'version', expected: 3, actual: 4 } },
  { code: 'conflict', when: 'the version of an unknown conversation is above 0', scene: 'none', changes: [{ kind: 'state.update', stage: 'x' }], expect: { version: 1 }, details: { field: 'version', expected: 1, actual: 0 } },
  { code: 'conflict', when: 'the graph revision is another', scene: 'idle', changes: [{ kind: 'leaf.select', turnId: 't1' }], expect: { graphRevision: 3 }, details: { field: 'graphRevision', expected: 3, actual: 4 } },
  { code: 'conflict', when: 'the leaf is another', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }], expect: { leaf: null }, details: { field: 'leaf', expected: null, actual: 't2' } },
  { code: 'conflict', when: 'the transcript has grown', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }], expect: { transcript: { turn: 't2', lastSequence: 4 } }, details: { field: 'transcript.lastSequence', expected: 4, actual: 5 } },
  { code: 'busy', when: 'a turn is preparing', scene: 'submitted', changes: [submit()], details: { turnId: 't3', state: 'preparing' } },
  { code: 'busy', when: 'a turn is running', scene: 'working', changes: [record()], details: { turnId: 't3', state: 'running' } },
  { code: 'path_busy', when: 'the parent turn waits', scene: 'working', before: [waiting], changes: [submit()], details: { turnId: 't3', state: 'waiting' } },
  { code: 'operation_open', when: 'the operation of a turn that waits already is open within the commit', scene: 'idle', changes: [submit({ turnId: 't9', operationId: 'o9' }), { kind: 'turn.advance', turnId: 't9', to: 'waiting' }, submit()], details: { operationId: 'o9' } },
  { code: 'fenced', when: 'the token is another', scene: 'working', changes: [{ kind: 'turn.advance', turnId: 't3', to: 'completed' }], fence: { attempt: 'a1', token: 9 }, details: { turnId: 't3', attempt: 'a1', token: 9, currentToken: 1 } },
  { code: 'fenced', when: 'another attempt took over', scene: 'working', before: [takenOver], changes: [{ kind: 'conversation.update', title: 'whatever it wants' }], fence: HELD, details: { turnId: 't3', attempt: 'a1', token: 1, currentToken: 2 } },
  { code: 'fenced', when: 'a takeover saw another token', scene: 'working', changes: [{ kind: 'attempt.takeover', attempt: 'a2', turnId: 't3', fromToken: 7 }], details: { turnId: 't3', attempt: 'a2', token: 7, currentToken: 1 } },
  { code: 'fenced', when: 'there is nothing to take over', scene: 'submitted', changes: [{ kind: 'attempt.takeover', attempt: 'a2', turnId: 't3', fromToken: 0 }], details: { turnId: 't3', attempt: 'a2', token: 0, currentToken: 0 } },
  { code: 'fence_required', when: 'a held turn moves without a fence', scene: 'working', changes: [{ kind: 'turn.advance', turnId: 't3', to: 'completed' }], details: { turnId: 't3', change: AT } },
  { code: 'fence_required', when: 'output of a held turn comes without a fence', scene: 'working', changes: [{ kind: 'state.update', stage: 'x' }, append(says('assistant', 'hm'), 't3')], details: { turnId: 't3', change: 'commit.changes[1]' } },
  { code: 'no_attempt', when: 'a fence names nobody', scene: 'working', changes: [{ kind: 'state.update', stage: 'x' }], fence: { attempt: 'nobody', token: 1 }, details: { attempt: 'nobody' } },
  { code: 'attempt_exists', when: 'a held turn is started again', scene: 'working', changes: [{ kind: 'attempt.start', attempt: 'a2', turnId: 't3' }], details: { turnId: 't3', attempt: 'a1' } },
  { code: 'attempt_exists', when: 'an attempt takes over under a known id', scene: 'working', changes: [{ kind: 'attempt.takeover', attempt: 'a1', turnId: 't3', fromToken: 1 }], details: { turnId: 't3', attempt: 'a1' } },
];

const CONVERSATIONS: readonly Rejection[] = [
  { code: 'conversation_not_found', when: 'the source of a fork is unknown', scene: 'none', changes: [{ kind: 'conversation.fork', source: 'nowhere', at: 'm1' }], details: { conversationId: 'nowhere' } },
  { code: 'conversation_not_found', when: 'what is to be erased is unknown', scene: 'none', changes: [{ kind: 'conversation.erase' }], details: { conversationId: 'c' } },
  { code: 'conversation_exists', when: 'it is created again', scene: 'idle', changes: [{ kind: 'conversation.create' }], details: { conversationId: 'c' } },
  { code: 'conversation_exists', when: 'its creation is not the first change', scene: 'none', changes: [{ kind: 'state.update', stage: 'x' }, { kind: 'conversation.create' }], details: { conversationId: 'c' } },
  { code: 'conversation_exists', when: 'it becomes a fork afterwards', scene: 'idle', changes: [{ kind: 'conversation.fork', source: FORK_SOURCE, at: 'm2' }], details: { conversationId: 'c' } },
];

const TURNS: readonly Rejection[] = [
  { code: 'no_turn', when: 'a turn that moves is unknown', scene: 'idle', changes: [{ kind: 'turn.advance', turnId: 'x', to: 'running' }], details: { turnId: 'x' } },
  { code: 'no_turn', when: 'a message names an unknown turn', scene: 'idle', changes: [append(says('user', 'hi'), 'x')], details: { turnId: 'x' } },
  { code: 'no_turn', when: 'a message names the root after the first turn', scene: 'idle', changes: [append(says('user', 'hi'), null)], details: { turnId: null } },
  { code: 'no_turn', when: 'an unknown turn is selected', scene: 'idle', changes: [{ kind: 'leaf.select', turnId: 'x' }], expect: graphRevision, details: { turnId: 'x' } },
  { code: 'no_turn', when: 'an unknown turn is bound', scene: 'idle', changes: [{ kind: 'binding.save', turnId: 'x', history: 'h', cursor: 1, capture: 'live' }], details: { turnId: 'x' } },
  { code: 'no_turn', when: 'an unknown turn is attempted', scene: 'idle', changes: [{ kind: 'attempt.start', turnId: 'x' }], details: { turnId: 'x' } },
  { code: 'no_turn', when: 'an unknown turn is regenerated', scene: 'idle', changes: [{ kind: 'turn.submit', samePromptAs: 'x' }], details: { turnId: 'x' } },
  { code: 'no_turn', when: 'an entry names an unknown turn', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x', turnId: 'x' }], details: { turnId: 'x' } },
  { code: 'no_turn', when: 'an expected transcript ends in an unknown turn', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x' }], expect: { transcript: { turn: 'x', lastSequence: 0 } }, details: { turnId: 'x' } },
  { code: 'no_parent', when: 'the parent turn is unknown', scene: 'idle', changes: [submit({ parent: { turnId: 'x' } })], expect: graphRevision, details: { parent: 'x' } },
  { code: 'no_parent', when: 'the parent message is unknown', scene: 'idle', changes: [record({ parent: { messageId: 'x' } })], expect: graphRevision, details: { parent: 'x' } },
  { code: 'no_parent', when: 'a turn is its own parent', scene: 'idle', changes: [submit({ turnId: 'x', parent: { turnId: 'x' } })], expect: graphRevision, details: { parent: 'x' } },
  { code: 'no_parent', when: 'the parent comes later in the commit', scene: 'idle', changes: [record({ turnId: 'x', parent: { turnId: 'y' } }), record({ turnId: 'y' })], expect: graphRevision, details: { parent: 'y' } },
  { code: 'turn_exists', when: 'a submitted turn is known', scene: 'idle', changes: [submit({ turnId: 't1' })], details: { turnId: 't1' } },
  { code: 'turn_exists', when: 'a recorded turn is known', scene: 'idle', changes: [record({ turnId: 't1' })], details: { turnId: 't1' } },
  { code: 'turn_terminal', when: 'a message comes after the end', scene: 'idle', changes: [append(says('user', 'hi'))], details: { turnId: 't2', state: 'completed' } },
  { code: 'turn_terminal', when: 'an ended turn is attempted', scene: 'idle', changes: [{ kind: 'attempt.start', turnId: 't1' }], details: { turnId: 't1', state: 'completed' } },
  { code: 'turn_terminal', when: 'what a recorded turn holds is complete once the leaf moves', scene: 'idle', changes: [record({ turnId: 'x' }), { kind: 'leaf.select', turnId: 't1' }, append(says('user', 'hi'), 'x')], expect: graphRevision, details: { turnId: 'x', state: 'completed' } },
  { code: 'turn_not_running', when: 'an entry names a turn that has ended and is not the leaf', scene: 'idle', changes: [{ kind: 'state.update', stage: 'x', turnId: 't1' }], details: { turnId: 't1', state: 'completed' } },
  { code: 'turn_not_running', when: 'an entry names a turn that has not started', scene: 'submitted', changes: [{ kind: 'commitment.add', content: 'x', turnId: 't3' }], details: { turnId: 't3', state: 'preparing' } },
  { code: 'illegal_transition', when: 'a turn goes back', scene: 'working', changes: [{ kind: 'turn.advance', turnId: 't3', to: 'preparing' }], fence: HELD, details: { machine: 'turn', id: 't3', from: 'running', to: 'preparing' } },
  { code: 'illegal_transition', when: 'a turn ends twice', scene: 'idle', changes: [{ kind: 'turn.advance', turnId: 't1', to: 'cancelled' }], details: { machine: 'turn', id: 't1', from: 'completed', to: 'cancelled' } },
  { code: 'no_operation', when: 'it is unknown', scene: 'idle', changes: [{ kind: 'operation.resolve', operationId: 'x', outcome: { status: 'succeeded' } }], details: { operationId: 'x' } },
  { code: 'operation_resolved', when: 'it was resolved', scene: 'idle', changes: [{ kind: 'operation.resolve', operationId: 'o1', outcome: { status: 'failed', code: 'late', message: '' } }], details: { operationId: 'o1', status: 'succeeded' } },
  { code: 'binding_live', when: 'a live capture would be overwritten', scene: 'idle', before: [{ changes: [{ kind: 'binding.save', turnId: 't1', history: 'h', cursor: 1, capture: 'live' }] }], changes: [{ kind: 'binding.save', turnId: 't1', history: 'h', cursor: 2, capture: 'replay' }], details: { turnId: 't1', history: 'h' } },
];

const MESSAGES: readonly Rejection[] = [
  { code: 'no_message', when: 'what is redacted is unknown', scene: 'idle', changes: [{ kind: 'message.redact', messageId: 'x', reason: 'r' }], details: { messageId: 'x' } },
  { code: 'no_message', when: 'a summary ends at an unknown message', scene: 'idle', changes: [{ kind: 'summary.commit', upTo: 'x', text: 's' }], expect: transcript, details: { messageId: 'x' } },
  { code: 'message_conflict', when: 'the id has other content', scene: 'submitted', changes: [append(says('assistant', 'other', 'm2'), 't3')], details: { messageId: 'm2' } },
  { code: 'message_conflict', when: 'a prompt takes a known message id', scene: 'idle', changes: [submit({ messageId: 'm2' })], details: { messageId: 'm2' } },
  { code: 'prompt_conflict', when: 'the id has other words', scene: 'idle', changes: [submit({ promptId: 'p1' })], details: { promptId: 'p1' } },
  { code: 'redacted', when: 'the id of a redacted message is appended again', scene: 'submitted', before: [redact('m2')], changes: [append(says('assistant', 'the first answer', 'm2'), 't3')], details: { messageId: 'm2' } },
  { code: 'redacted', when: 'a redacted prompt is asked again', scene: 'idle', before: [redact('m1')], changes: [{ kind: 'turn.submit', samePromptAs: 't1' }], details: { messageId: 'm1' } },
  { code: 'no_call', when: 'nobody made the call', scene: 'submitted', changes: [append(answers('x'))], details: { callId: 'x' } },
  { code: 'call_exists', when: 'a turn makes a call twice', scene: 'submitted', before: [{ changes: [append(calls('l2'), 't3')] }], changes: [append(calls('l2', 'again'), 't3')], details: { callId: 'l2', turnId: 't3' } },
  { code: 'already_answered', when: 'a call is answered twice', scene: 'idle', changes: [append(answers('l1', 'again'))], details: { callId: 'l1' } },
];

const STATE: readonly Rejection[] = [
  { code: 'checkpoint_exists', when: 'it is created again', scene: 'idle', changes: [{ kind: 'checkpoint.create', checkpointId: 'k1', type: 'agent', payload: {} }], details: { checkpointId: 'k1', revision: 0 } },
  { code: 'no_checkpoint', when: 'it is advanced unknown', scene: 'idle', changes: [{ kind: 'checkpoint.advance', checkpointId: 'x', from: 0, payload: {} }], details: { checkpointId: 'x' } },
  { code: 'no_checkpoint', when: 'a pending write names an unknown revision', scene: 'idle', changes: [{ kind: 'checkpoint.write', checkpointId: 'k1', revision: 1, task: 'n', index: 0, channel: 'c', value: { json: 1 } }], details: { checkpointId: 'k1' } },
  { code: 'no_checkpoint', when: 'its parent is unknown', scene: 'idle', changes: [{ kind: 'checkpoint.create', type: 'agent', parent: { checkpointId: 'k1', revision: 1 }, payload: {} }], details: { checkpointId: 'k1' } },
  { code: 'checkpoint_conflict', when: 'it is at another revision', scene: 'idle', changes: [{ kind: 'checkpoint.advance', checkpointId: 'k1', from: 1, payload: {} }], details: { checkpointId: 'k1', expectedRevision: 1, actualRevision: 0 } },
  { code: 'task_exists', when: 'it is created again', scene: 'idle', changes: [{ kind: 'task.create', taskId: 'w1', title: 'again' }], details: { taskId: 'w1' } },
  { code: 'active_task', when: 'the path has an active task', scene: 'idle', changes: [{ kind: 'task.create', taskId: 'w2', title: 'more' }], details: { taskId: 'w1' } },
  { code: 'no_task', when: 'it is unknown', scene: 'idle', changes: [{ kind: 'task.amend', taskId: 'x', title: 'y' }], details: { taskId: 'x' } },
  { code: 'no_task', when: 'its parent is unknown', scene: 'idle', before: [finished], changes: [{ kind: 'task.create', title: 'y', parentTaskId: 'x' }], details: { taskId: 'x' } },
  { code: 'no_task', when: 'a message names an unknown task', scene: 'submitted', changes: [message([text('a')], { taskId: 'x' })], details: { taskId: 'x' } },
  { code: 'illegal_transition', when: 'a task leaves its end', scene: 'idle', before: [finished], changes: [{ kind: 'task.transition', taskId: 'w1', to: 'running' }], details: { machine: 'task', id: 'w1', from: 'completed', to: 'running' } },
  { code: 'illegal_transition', when: 'an ended task is amended', scene: 'idle', before: [finished], changes: [{ kind: 'task.amend', taskId: 'w1', title: 'y' }], details: { machine: 'task', id: 'w1', from: 'completed', to: 'completed' } },
  { code: 'illegal_transition', when: 'a commitment is closed twice', scene: 'idle', before: [{ changes: [{ kind: 'commitment.resolve', which: { commitmentId: 'c1' } }] }], changes: [{ kind: 'commitment.expire', which: { commitmentId: 'c1' } }], details: { machine: 'commitment', id: 'c1', from: 'fulfilled', to: 'expired' } },
  { code: 'commitment_exists', when: 'it is added again', scene: 'idle', changes: [{ kind: 'commitment.add', commitmentId: 'c1', content: 'again' }], details: { commitmentId: 'c1' } },
  { code: 'no_commitment', when: 'it is unknown', scene: 'idle', changes: [{ kind: 'commitment.resolve', which: { commitmentId: 'x' } }], details: { commitmentId: 'x' } },
  { code: 'summary_not_longer', when: 'it covers no more than the last', scene: 'idle', before: [{ changes: [{ kind: 'summary.commit', upTo: 'm3', text: 's' }], expect: transcript }], changes: [{ kind: 'summary.commit', upTo: 'm3', text: 's2' }], expect: transcript, details: { upTo: 'm3', covered: 'm3' } },
];

/** Every refusal that one commit shows. */
export const REJECTIONS: readonly Rejection[] = [...INPUT, ...CONCURRENCY, ...CONVERSATIONS, ...TURNS, ...MESSAGES, ...STATE];

/** Codes that cases of their own show, with the clause. */
export const SHOWN_ELSEWHERE: { readonly [Code in ErrorCode]?: string } = {
  limit_exceeded: 'S7: each limit',
  commit_id_reused: 'S4: each kind of change',
  erased: 'R6: a late write',
  turn_open: 'R8: a fork of a turn at work',
  bad_cursor: 'R1, R2, R5: cursors of another reading',
  group_too_large: 'R1: a group larger than the window',
  aborted: 'S8: a caller who gives up',
  closed: 'S8: a closed handle',
};

/** Codes that no commit and no reading can show on every backend, and why. */
export const NOT_SHOWN: { readonly [Code in ErrorCode]?: string } = {
  unsupported: 'no call of this version is refused so',
  corrupt: 'damage is made by a way past the seam, which is each backend’s own',
  store_foreign: 'what a store is made of is each backend’s own',
  store_newer: 'what a store is made of is each backend’s own',
  store_locked: 'only a backend with a single writer refuses another',
  store_busy: 'it needs a lock held from outside',
  store_full: 'it needs a full disk',
  store_unavailable: 'it needs a broken connection or disk',
  overloaded: 'it needs as many waiting commits as LIMITS.queuedCommits, where the backend queues at all',
  outcome_unknown: 'it needs a connection lost between write and answer',
};
