import type { Change, Expect } from '../core/change.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Fence } from '../core/message.ts';
import { FORK_SOURCE } from './kinds.ts';
import { answers, append, HELD, says, text } from './scenes.ts';
import type { Scene } from './scenes.ts';

/** A commit of one of two racing writers, as data: it crosses to another process. */
export interface RaceCommit {
  readonly commitId: string;
  readonly conversationId: string;
  readonly changes: readonly Change[];
  readonly expect?: Expect | undefined;
  readonly fence?: Fence | undefined;
}

/** What the later one of two writers is told. `accepted` and `replayed` are answers too. */
export interface Told {
  readonly code: ErrorCode | 'accepted' | 'replayed';
  readonly details?: object | undefined;
}

/** Two writers who saw the same and want what only one can have, or what only one order allows. */
export interface Race {
  readonly over: string;
  readonly scene: Scene;
  readonly left: RaceCommit;
  readonly right: RaceCommit;
  /** What each is told where the other one was first. */
  readonly leftLate: Told;
  readonly rightLate: Told;
}

function writer(
  name: string,
  changes: readonly Change[],
  sent: { readonly expect?: Expect; readonly fence?: Fence } = {},
): RaceCommit {
  return { commitId: name, conversationId: 'c', changes, ...sent };
}

/** A race where both are told the same. */
function even(over: string, scene: Scene, left: RaceCommit, right: RaceCommit, late: Told): Race {
  return { over, scene, left, right, leftLate: late, rightLate: late };
}

const record = (turnId: string): Change => ({ kind: 'turn.record', turnId, parent: { turnId: 't1' }, origin: 'race' });
const stage = (name: string): Change => ({ kind: 'state.update', stage: name });
const advance = (to: 'completed' | 'failed'): Change => ({ kind: 'turn.advance', turnId: 't3', to });
const submit = (name: string): Change => ({
  kind: 'turn.submit',
  turnId: `turn-${name}`,
  operationId: `op-${name}`,
  prompt: [text(name)],
});
const conflict = (field: string, expected: unknown, actual: unknown): Told => ({
  code: 'conflict',
  details: { field, expected, actual },
});
const checkpoint = (step: number): Change => ({
  kind: 'checkpoint.advance',
  checkpointId: 'k1',
  from: 0,
  payload: { state: { json: { step } } },
});
const task = (to: 'completed' | 'failed'): Change => ({ kind: 'task.transition', taskId: 'w1', to });
const moved = (machine: string, id: string, from: string, to: string): Told => ({
  code: 'illegal_transition',
  details: { machine, id, from, to },
});
const takeover = (attempt: string): Change => ({ kind: 'attempt.takeover', attempt, turnId: 't3', fromToken: 1 });
const fenced = (attempt: string): Told => ({
  code: 'fenced',
  details: { turnId: 't3', attempt, token: 1, currentToken: 2 },
});
const resolve = (outcome: 'succeeded' | 'failed'): Change => ({
  kind: 'operation.resolve',
  operationId: 'o3',
  outcome: outcome === 'failed' ? { status: 'failed', code: 'refused', message: 'no' } : { status: 'succeeded' },
});
const resolved = (status: string): Told => ({ code: 'operation_resolved', details: { operationId: 'o3', status } });
const fork: RaceCommit = {
  commitId: 'fork',
  conversationId: 'c',
  changes: [{ kind: 'conversation.fork', source: FORK_SOURCE, at: 'm2' }],
};
const erase: RaceCommit = { commitId: 'erase', conversationId: FORK_SOURCE, changes: [{ kind: 'conversation.erase' }] };
const expectGraph = { expect: { graphRevision: 4 } };
const expectTranscript = { expect: { transcript: { turn: 't3', lastSequence: 6 } } };
const hello = (words: string): Change => append(says('user', words, 'same'), 't3');
const commitment = (kind: 'commitment.resolve' | 'commitment.expire'): Change => ({
  kind,
  which: { commitmentId: 'c1' },
});
const binding = (cursor: string): Change => ({
  kind: 'binding.save',
  turnId: 't2',
  history: 'h',
  cursor,
  capture: 'live',
});
const seen = { expect: { version: 4 } };

export const RACES: readonly Race[] = [
  even(
    'the version',
    'idle',
    writer('left', [stage('l')], seen),
    writer('right', [stage('r')], seen),
    conflict('version', 4, 5),
  ),
  even(
    'the graph revision',
    'idle',
    writer('left', [record('l')], expectGraph),
    writer('right', [record('r')], expectGraph),
    conflict('graphRevision', 4, 6),
  ),
  {
    over: 'the leaf',
    scene: 'idle',
    left: writer('left', [{ kind: 'turn.record', turnId: 'l', origin: 'race' }], { expect: { leaf: 't2' } }),
    right: writer('right', [{ kind: 'turn.record', turnId: 'r', origin: 'race' }], { expect: { leaf: 't2' } }),
    leftLate: conflict('leaf', 't2', 'r'),
    rightLate: conflict('leaf', 't2', 'l'),
  },
  even(
    'the transcript',
    'submitted',
    writer('left', [append(says('user', 'l'), 't3')], expectTranscript),
    writer('right', [append(says('user', 'r'), 't3')], expectTranscript),
    conflict('transcript.lastSequence', 6, 7),
  ),
  even('a checkpoint’s revision', 'idle', writer('left', [checkpoint(1)]), writer('right', [checkpoint(2)]), {
    code: 'checkpoint_conflict',
    details: { checkpointId: 'k1', expectedRevision: 0, actualRevision: 1 },
  }),
  {
    over: 'a task’s next status',
    scene: 'idle',
    left: writer('left', [task('completed')]),
    right: writer('right', [task('failed')]),
    leftLate: moved('task', 'w1', 'failed', 'completed'),
    rightLate: moved('task', 'w1', 'completed', 'failed'),
  },
  {
    over: 'the open operation',
    scene: 'idle',
    left: writer('left', [submit('l')]),
    right: writer('right', [submit('r')]),
    leftLate: { code: 'busy', details: { turnId: 'turn-r', state: 'preparing' } },
    rightLate: { code: 'busy', details: { turnId: 'turn-l', state: 'preparing' } },
  },
  {
    over: 'the fence token',
    scene: 'working',
    left: writer('left', [takeover('a-left')]),
    right: writer('right', [takeover('a-right')]),
    leftLate: fenced('a-left'),
    rightLate: fenced('a-right'),
  },
  {
    over: 'a turn, as its owner and as who takes it over',
    scene: 'working',
    left: writer('left', [stage('from the owner')], { fence: HELD }),
    right: writer('right', [takeover('a2')]),
    leftLate: fenced('a1'),
    rightLate: { code: 'accepted' },
  },
  {
    over: 'a turn’s end',
    scene: 'working',
    left: writer('left', [advance('completed')], { fence: HELD }),
    right: writer('right', [advance('failed')], { fence: HELD }),
    leftLate: moved('turn', 't3', 'failed', 'completed'),
    rightLate: moved('turn', 't3', 'completed', 'failed'),
  },
  {
    over: 'an operation’s end',
    scene: 'submitted',
    left: writer('left', [resolve('succeeded')]),
    right: writer('right', [resolve('failed')]),
    leftLate: resolved('failed'),
    rightLate: resolved('succeeded'),
  },
  even(
    'the creation of a conversation',
    'none',
    writer('left', [{ kind: 'conversation.create', title: 'l' }]),
    writer('right', [{ kind: 'conversation.create', title: 'r' }]),
    {
      code: 'conversation_exists',
      details: { conversationId: 'c' },
    },
  ),
  {
    over: 'a source, as who forks it and as who erases it',
    scene: 'none',
    left: fork,
    right: erase,
    leftLate: { code: 'erased' },
    rightLate: { code: 'accepted' },
  },
  even('one commit, sent twice', 'idle', writer('same', [stage('x')]), writer('same', [stage('x')]), {
    code: 'replayed',
  }),
  even('one commit id', 'idle', writer('same', [stage('l')]), writer('same', [stage('r')]), {
    code: 'commit_id_reused',
    details: { commitId: 'same' },
  }),
  even('one message, sent twice', 'submitted', writer('left', [hello('x')]), writer('right', [hello('x')]), {
    code: 'accepted',
  }),
  even('one message id', 'submitted', writer('left', [hello('l')]), writer('right', [hello('r')]), {
    code: 'message_conflict',
    details: { messageId: 'same' },
  }),
  even('a live binding', 'idle', writer('left', [binding('l')]), writer('right', [binding('r')]), {
    code: 'binding_live',
    details: { turnId: 't2', history: 'h' },
  }),
  {
    over: 'the first attempt',
    scene: 'submitted',
    left: writer('left', [{ kind: 'attempt.start', attempt: 'l', turnId: 't3' }]),
    right: writer('right', [{ kind: 'attempt.start', attempt: 'r', turnId: 't3' }]),
    leftLate: { code: 'attempt_exists', details: { turnId: 't3', attempt: 'r' } },
    rightLate: { code: 'attempt_exists', details: { turnId: 't3', attempt: 'l' } },
  },
  {
    over: 'a commitment’s end',
    scene: 'idle',
    left: writer('left', [commitment('commitment.resolve')]),
    right: writer('right', [commitment('commitment.expire')]),
    leftLate: moved('commitment', 'c1', 'expired', 'fulfilled'),
    rightLate: moved('commitment', 'c1', 'fulfilled', 'expired'),
  },
  even(
    'the answer to a call',
    'submitted',
    writer('left', [
      append({ role: 'assistant', parts: [{ type: 'tool_call', callId: 'l9', name: 'f' }], messageId: 'call' }, 't3'),
      append(answers('l9', 'l')),
    ]),
    writer('right', [
      append({ role: 'assistant', parts: [{ type: 'tool_call', callId: 'l9', name: 'f' }], messageId: 'call' }, 't3'),
      append(answers('l9', 'r')),
    ]),
    { code: 'already_answered', details: { callId: 'l9' } },
  ),
];
