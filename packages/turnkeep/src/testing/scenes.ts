import type { Change } from '../core/change.ts';
import type { Fence, NewMessage, Part, Role } from '../core/message.ts';
import type { Store } from './store.ts';

/**
 * The conversations that cases start from. Ids are fixed, so that a case can name what it wants: turns t1, t2, t3,
 * prompts and messages m1 to m6, operations o1 to o3, task w1, commitment c1, checkpoint k1, call l1, step look, interrupt i1.
 */
export const SCENES = ['none', 'idle', 'submitted', 'working', 'stepping'] as const;
export type Scene = (typeof SCENES)[number];

/** The claim of the attempt at work in the scene `working`. */
export const HELD: Fence = { attempt: 'a1', token: 1 };

export function text(words: string): Part {
  return { type: 'text', text: words };
}

export function says(role: Role, words: string, messageId?: string): NewMessage {
  return { role, parts: [text(words)], messageId };
}

export function append(message: NewMessage, turnId?: string | null): Change {
  return { kind: 'message.append', message, turnId };
}

export function calls(callId: string, messageId?: string): NewMessage {
  return {
    role: 'assistant',
    parts: [{ type: 'tool_call', callId, name: 'look_up', input: { key: callId } }],
    messageId,
  };
}

export function answers(callId: string, messageId?: string): NewMessage {
  return { role: 'tool', parts: [{ type: 'tool_result', callId, status: 'ok', output: `found ${callId}` }], messageId };
}

const IDLE: readonly (readonly Change[])[] = [
  [{ kind: 'conversation.create', title: 'A plan', owner: 'ann', labels: ['work'], participants: ['ann', 'bob'] }],
  [
    {
      kind: 'turn.submit',
      turnId: 't1',
      operationId: 'o1',
      messageId: 'm1',
      promptId: 'p1',
      prompt: [text('the first question')],
    },
  ],
  [
    { kind: 'turn.advance', turnId: 't1', to: 'running' },
    append(says('assistant', 'the first answer', 'm2'), 't1'),
    { kind: 'checkpoint.create', checkpointId: 'k1', type: 'agent', payload: { state: { json: { step: 0 } } } },
    { kind: 'task.create', taskId: 'w1', title: 'write the report' },
    { kind: 'task.transition', taskId: 'w1', to: 'running' },
    { kind: 'commitment.add', commitmentId: 'c1', content: 'send the report' },
    { kind: 'state.update', objective: 'a report', stage: 'draft' },
    { kind: 'turn.advance', turnId: 't1', to: 'completed' },
  ],
  [
    {
      kind: 'turn.submit',
      turnId: 't2',
      operationId: 'o2',
      messageId: 'm3',
      promptId: 'p2',
      prompt: [text('the second question')],
    },
    { kind: 'turn.advance', turnId: 't2', to: 'running' },
    append(calls('l1', 'm4'), 't2'),
    append(answers('l1', 'm5')),
    { kind: 'turn.advance', turnId: 't2', to: 'completed' },
  ],
];

const SUBMITTED: readonly (readonly Change[])[] = [
  [
    {
      kind: 'turn.submit',
      turnId: 't3',
      operationId: 'o3',
      messageId: 'm6',
      promptId: 'p3',
      prompt: [text('the third question')],
    },
  ],
];

const WORKING: readonly (readonly Change[])[] = [
  [
    { kind: 'turn.advance', turnId: 't3', to: 'running' },
    { kind: 'attempt.start', attempt: HELD.attempt, turnId: 't3' },
  ],
];

const STEPPING: readonly (readonly Change[])[] = [
  [
    { kind: 'step.start', turnId: 't3', key: 'look', name: 'look_up', input: { key: 'x' } },
    { kind: 'interrupt.request', interruptId: 'i1', turnId: 't3', type: 'approval', payload: { may: 'I?' } },
  ],
];

const COMMITS: { readonly [Name in Scene]: readonly (readonly Change[])[] } = {
  none: [],
  idle: IDLE,
  submitted: [...IDLE, ...SUBMITTED],
  working: [...IDLE, ...SUBMITTED, ...WORKING],
  stepping: [...IDLE, ...SUBMITTED, ...WORKING, ...STEPPING],
};

/** Facts of the scenes, as cases expect them. */
export const IDLE_LEAF = 't2';
export const IDLE_LAST_SEQUENCE = 5;

/** Plays a scene in a conversation of the case's namespace. */
export async function play(store: Store, scene: Scene, conversationId: string): Promise<void> {
  for (const [index, changes] of COMMITS[scene].entries()) {
    const fence = STEPPING.includes(changes) ? HELD : undefined;
    await store.commit(conversationId, changes, { commitId: `scene-${index + 1}`, fence });
  }
}
