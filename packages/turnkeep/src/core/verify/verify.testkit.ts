import { sha256 } from '../../platform/hash.ts';
import { sealUpload } from '../attachments/keep.ts';
import { shelfProblems, verifyShelf } from '../attachments/verify.ts';
import type { RowReader } from '../backend.ts';
import type { Change } from '../change.ts';
import {
  advance,
  aim,
  answer,
  call,
  fork,
  move,
  promise,
  redact,
  say,
  submit,
  task,
  text,
} from '../changes.testkit.ts';
import { SHELVES } from '../shelf.ts';
import { commit, given } from '../story.testkit.ts';
import type { Phrase } from '../story.testkit.ts';
import { verifyConversation } from './conversation.ts';

/** The conversations and shelves of {@link everything}. */
export const OWNERS: readonly string[] = ['c', 'fork', 'sub', ...Object.values(SHELVES)];

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const FILE = 'a'.repeat(64);

/** A conversation with rows in every table, its fork and its sub-agent. */
export function everything(): RowReader {
  return storyOfEverything().rows;
}

export function storyOfEverything(): ReturnType<typeof given> {
  const story = given();
  const seal = { upload: 'u', digest: FILE, sizeBytes: 10, parts: ['p'], now: START, quotaBytes: 1_000 };
  story.rows.apply(sealUpload(story.rows, seal, sha256));
  story.rows.apply(sealUpload(story.rows, { ...seal, digest: 'b'.repeat(64) }, sha256));
  for (const phrase of everyTable(FILE)) story.write(phrase);
  return story;
}

const PAYLOAD = { state: { json: 'y'.repeat(2_000) } };
const SPAWN: Change = { kind: 'conversation.spawn', parent: { conversationId: 'c', turnId: 't1', callId: 'x1' } };

function used(usageId: string, turnId: string, model = 'large', amount = '0.25'): Change {
  const cost = { amount, currency: 'USD' };
  return { kind: 'usage.record', usageId, turnId, provider: 'some', model, inputTokens: 7, outputTokens: 3, cost };
}

function ask(interruptId: string, turnId: string): Change {
  return { kind: 'interrupt.request', interruptId, turnId, type: 'approval', payload: interruptId };
}

function enqueue(inputId: string): Change {
  return { kind: 'input.enqueue', inputId, prompt: text(inputId) };
}

function readTo(reader: string, sequence: number): Change {
  return { kind: 'conversation.update', readThrough: { reader, sequence } };
}

function binding(history: string, capture: 'live' | 'replay'): Change {
  return { kind: 'binding.save', turnId: 't1', history, cursor: history, capture };
}

function pending(task: string, index: number): Change {
  const at = { checkpointId: 'k1', revision: 1, task, index };
  return { kind: 'checkpoint.write', ...at, channel: 'some', value: { json: task } };
}

function ended(key: string): Change {
  return { kind: 'step.finish', turnId: 't1', key, outcome: { status: 'succeeded', result: key } };
}

/** Commits that leave rows in every table; `file` is the digest of an attachment that is there. */
export function everyTable(file: string): readonly Phrase[] {
  return [
    commit(submit('t1'), advance('t1', 'running'), { kind: 'run.start', runId: 'r1', agent: 'an agent' }),
    commit({ kind: 'attempt.start', attempt: 'a1', turnId: 't1', runId: 'r1' }),
    commit(
      call('m1', ['x1', 'x2'], 't1'),
      { kind: 'step.start', turnId: 't1', callId: 'x1' },
      { kind: 'step.start', turnId: 't1', callId: 'x2' },
      ask('i1', 't1'),
      used('u1', 't1'),
    ).under('a1', 1),
    commit(SPAWN).to('sub'),
    commit(submit('s1'), advance('s1', 'running'), used('u2', 's1', 'small')).to('sub'),
    commit({ kind: 'checkpoint.create', checkpointId: 'k1', type: 'some', payload: PAYLOAD }),
    commit({ kind: 'checkpoint.advance', checkpointId: 'k1', from: 0, payload: {} }),
    commit(pending('w1', 0), pending('w2', -1)),
    commit(pending('w1', 0)),
    commit(binding('h1', 'live'), binding('h2', 'replay')),
    commit(binding('h2', 'replay')),
    commit(aim('to the end'), task('task1'), move('task1', 'running'), promise('p1')),
    commit(say('m2', 't1', { taskId: 'task1' }), answer('m3', ['x1'], 't1'), ended('x1')).under('a1', 1),
    commit({ kind: 'memory.upsert', memoryId: 'v1', text: 'a fact', sources: ['m2'] }),
    commit({ kind: 'memory.upsert', memoryId: 'v2', text: 'another', sources: ['m3'] }),
    commit({ kind: 'memory.upsert', memoryId: 'v1', from: 0, text: 'a better fact' }),
    commit({ kind: 'memory.upsert', memoryId: 'v3', text: 'a rumour' }),
    commit({ kind: 'memory.upsert', memoryId: 'v3', from: 0, text: null }),
    commit(enqueue('q1'), enqueue('q2'), enqueue('q3')),
    commit({ kind: 'input.withdraw', inputId: 'q2' }),
    commit({ kind: 'attempt.takeover', attempt: 'a2', turnId: 't1', fromToken: 1 }),
    commit(used('u3', 't1', 'small', '1.125'), advance('t1', 'completed'))
      .under('a2', 2)
      .at(START + DAY_MS),
    commit({ kind: 'run.end', runId: 'r1', status: 'completed' }, { kind: 'run.start', runId: 'r2', agent: 'another' }),
    commit(answer('m4', ['x2'])),
    commit({ kind: 'summary.commit', summaryId: 'z1', upTo: 'm3', text: 'so far' }).expecting({
      transcript: { turn: 't1', lastSequence: 5 },
    }),
    commit({ kind: 'conversation.update', title: 'All', owner: 'me', pinned: true, labels: ['one'] }),
    commit(readTo('me', 1), readTo('you', 3)),
    commit(readTo('me', 4)),
    commit(fork('c', 'm3')).to('fork'),
    commit(submit('f1'), advance('f1', 'running')).to('fork'),
    commit(submit('t2', { samePromptAs: 't1', parent: null })).expecting({ graphRevision: 2 }),
    commit(advance('t2', 'running'), ask('i2', 't2'), ask('i3', 't2'), ask('i4', 't2')),
    commit({ kind: 'interrupt.answer', interruptId: 'i3', by: 'me', response: 'yes' }),
    commit({ kind: 'interrupt.answer', interruptId: 'i4', by: 'you', response: 'no' }),
    commit(say('m5', 't2'), {
      kind: 'message.append',
      turnId: 't2',
      message: {
        messageId: 'm6',
        role: 'user',
        parts: [{ type: 'file', mediaType: 'text/plain', source: { attachment: file } }],
      },
    }),
    commit(redact('m5', 'less')),
  ];
}

/** What `verify` says of a store: of each conversation and shelf, those named first, and of the rows of attachments. */
export function* faultsIn(rows: RowReader, ...first: readonly string[]): Generator<string> {
  for (const owner of new Set([...first, ...OWNERS])) yield* faultsOfOne(rows, owner);
  for (const { reason } of verifyShelf(rows, '').problems) yield reason;
  yield* shelfProblems(rows);
}

export function faultsOf(rows: RowReader): readonly string[] {
  return [...faultsIn(rows)];
}

function* faultsOfOne(rows: RowReader, conversationId: string): Generator<string> {
  const verified = { namespace: 'n', conversationId };
  for (let step = verifyConversation(rows, sha256, verified); ;) {
    for (const { place, reason } of step.faults) yield `${place}: ${reason}`;
    if (!step.next) return;
    step = verifyConversation(rows, sha256, verified, step.next);
  }
}
