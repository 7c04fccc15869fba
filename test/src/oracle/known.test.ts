import type { Change, Expect } from 'turnkeep/core';
import { expect, test } from 'vitest';
import { BACKENDS } from './backends.ts';
import { replay } from './drive.ts';
import type { Item } from './trace.ts';
import { NAMESPACE } from './world.ts';
import type { Difference } from './world.ts';

/** Histories at whose end the library once saw something else than the oracle does, each at its shortest. */

type Step = readonly [conversationId: string, changes: readonly Change[], expect?: Expect];

function history(...steps: readonly Step[]): readonly Item[] {
  return steps.map(([conversationId, changes, expect], at) => ({
    commit: { commitId: `k${at + 1}`, namespace: NAMESPACE, conversationId, changes, ...(expect ? { expect } : {}) },
    now: 1_700_000_000_000 + at,
    sawIt: true,
  }));
}

async function differenceAfter(...steps: readonly Step[]): Promise<Difference | undefined> {
  return differenceOf(history(...steps));
}

async function differenceOf(trace: readonly Item[]): Promise<Difference | undefined> {
  const open = BACKENDS['memory'];
  return open && replay(trace, { open });
}

function say(messageId: string, text: string, turnId?: string): Change {
  const message = { messageId, role: 'user' as const, parts: [{ type: 'text' as const, text }] };
  return { kind: 'message.append', message, ...(turnId === undefined ? {} : { turnId }) };
}

function ask(turnId: string, rest: Partial<Extract<Change, { kind: 'turn.submit' }>>): Change {
  return { kind: 'turn.submit', turnId, messageId: `m-${turnId}`, operationId: `o-${turnId}`, ...rest };
}

const prompt = [{ type: 'text' as const, text: 'word 7' }];
const SAW = { graphRevision: 0 };

test('a search finds a prompt that a fork repeats after its source was erased', async () => {
  const difference = await differenceAfter(
    ['c1', [ask('t1', { prompt })]],
    ['c1', [{ kind: 'turn.advance', turnId: 't1', to: 'completed' }]],
    ['c2', [{ kind: 'conversation.fork', source: 'c1', at: 'm-t1' }]],
    ['c1', [{ kind: 'conversation.erase' }]],
    ['c2', [ask('t2', { samePromptAs: 't1' })]],
  );
  expect(difference).toBeUndefined();
});

test('a prompt stays while a fork of a fork shows it, though neither of the two above does any more', async () => {
  const difference = await differenceAfter(
    ['c1', [ask('t1', { prompt })]],
    ['c1', [{ kind: 'turn.advance', turnId: 't1', to: 'completed' }]],
    ['c2', [{ kind: 'conversation.fork', source: 'c1', at: 'm-t1' }]],
    ['c2', [ask('t2', { samePromptAs: 't1', parent: null })], SAW],
    ['c2', [{ kind: 'turn.advance', turnId: 't2', to: 'completed' }]],
    ['c3', [{ kind: 'conversation.fork', source: 'c2', at: 'm-t2' }]],
    ['c1', [{ kind: 'conversation.erase' }]],
    ['c2', [{ kind: 'conversation.erase' }]],
  );
  expect(difference).toBeUndefined();
});

test('a fork puts no words in the place of those that it takes from its source', async () => {
  const replacement = [{ type: 'text' as const, text: 'kept' }];
  const difference = await differenceAfter(
    ['c1', [say('m1', 'word 7')]],
    ['c2', [{ kind: 'conversation.fork', source: 'c1', at: 'm1' }]],
    ['c2', [{ kind: 'message.redact', messageId: 'm1', reason: 'private', replacement }]],
    ['c1', [{ kind: 'message.redact', messageId: 'm1', reason: 'private', replacement }]],
    ['c1', [{ kind: 'conversation.erase' }]],
  );
  expect(difference).toBeUndefined();
});

test('a selected turn that has not started notes nothing, so that no path has two active tasks', async () => {
  const difference = await differenceAfter(
    ['c1', [{ kind: 'turn.record', turnId: 't1', origin: 'test' }]],
    ['c1', [ask('t2', { prompt })]],
    ['c1', [{ kind: 'leaf.select', turnId: 't2' }], { graphRevision: 3 }],
    ['c1', [{ kind: 'task.create', taskId: 'T1', title: 'first' }]],
    ['c1', [{ kind: 'leaf.select', turnId: 't1' }], { graphRevision: 4 }],
    ['c1', [{ kind: 'task.create', taskId: 'T2', title: 'second' }]],
    ['c1', [{ kind: 'turn.advance', turnId: 't2', to: 'running' }]],
  );
  expect(difference).toBeUndefined();
});

test('nobody learns from a replay whether redacted words are those of a prompt that was repeated', async () => {
  const trace = history(
    ['c1', [ask('t1', { prompt, promptId: 'P1' })]],
    ['c1', [{ kind: 'turn.advance', turnId: 't1', to: 'completed' }]],
    ['c1', [ask('t2', { prompt, promptId: 'P1' })]],
    ['c1', [{ kind: 'message.redact', messageId: 'm-t1', reason: 'private' }]],
    ['c1', [ask('t2', { prompt: [{ type: 'text', text: 'guessed' }], promptId: 'P1' })]],
  );
  const guess = trace.map((item, at) => (at === 4 ? { ...item, commit: { ...item.commit, commitId: 'k3' } } : item));
  expect(await differenceOf(guess)).toBeUndefined();
});

test('nobody learns from a replay what stood in the place of redacted words, once that is gone too', async () => {
  const replacement = [{ type: 'text' as const, text: 'kept' }];
  const trace = history(
    ['c1', [say('m1', 'word 7')]],
    ['c1', [{ kind: 'message.redact', messageId: 'm1', reason: 'private', replacement }]],
    ['c1', [{ kind: 'message.redact', messageId: 'm1', reason: 'private' }]],
    ['c1', [{ kind: 'message.redact', messageId: 'm1', reason: 'private', replacement: prompt }]],
  );
  const guess = trace.map((item, at) => (at === 3 ? { ...item, commit: { ...item.commit, commitId: 'k2' } } : item));
  expect(await differenceOf(guess)).toBeUndefined();
});

test('pending writes of negative indexes stand in the order of their indexes', async () => {
  const write = (index: number): Change => {
    return {
      kind: 'checkpoint.write',
      checkpointId: 'C1',
      revision: 0,
      task: 'T1',
      index,
      channel: 'out',
      value: { json: index },
    };
  };
  const difference = await differenceAfter(
    ['c1', [{ kind: 'checkpoint.create', checkpointId: 'C1', type: 'agent', payload: {} }]],
    ['c1', [write(-1), write(-3), write(-2), write(0)]],
  );
  expect(difference).toBeUndefined();
});

test('of two tasks that are open on one path, the one created nearer to the leaf is the active one', async () => {
  const difference = await differenceAfter(
    ['c1', [{ kind: 'turn.record', turnId: 't1', origin: 'import' }, say('m1', 'word 7', 't1')]],
    ['c1', [ask('t2', { prompt })]],
    ['c1', [{ kind: 'leaf.select', turnId: 't2' }], SAW],
    ['c1', [{ kind: 'task.create', taskId: 'T1', title: 'one' }]],
    ['c1', [{ kind: 'leaf.select', turnId: 't1' }], SAW],
    ['c1', [{ kind: 'task.create', taskId: 'T2', title: 'two' }]],
  );
  expect(difference).toBeUndefined();
});
