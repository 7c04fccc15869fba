import { fieldOf } from '../../core/event.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { refused, same } from '../check.ts';
import { FAILING } from '../kinds.ts';
import { HELD, play, text } from '../scenes.ts';

const BAD_FENCE = { attempt: 'nobody', token: 1 };
const BAD_EXPECT = { version: 999 };
const KNOWN_OPERATION = { kind: 'turn.submit' as const, operationId: 'o1', prompt: [text('again')] };

/** Erased, commit replay, operation replay, fence, expect, rules: each is told before what comes after it. */
export const orderOfChecks: readonly ConformanceCase[] = [
  given('S5', 'the rules come last', async (store) => {
    await play(store, 'working', 'c');
    await refused(store.commit('c', [FAILING], { fence: HELD }), 'no_checkpoint');
  }),
  given('S5', 'what was expected comes before the rules', async (store) => {
    await play(store, 'working', 'c');
    await refused(store.commit('c', [FAILING], { fence: HELD, expect: BAD_EXPECT }), 'conflict');
  }),
  given('S5', 'the fence comes before what was expected', async (store) => {
    await play(store, 'working', 'c');
    await refused(store.commit('c', [FAILING], { fence: BAD_FENCE, expect: BAD_EXPECT }), 'no_attempt', {
      attempt: 'nobody',
    });
    const stale = { attempt: 'a1', token: 0 };
    await refused(store.commit('c', [FAILING], { fence: stale, expect: BAD_EXPECT }), 'fenced', {
      turnId: 't3',
      ...stale,
      currentToken: 1,
    });
  }),
  given('S5', 'the replay of an operation comes before the fence', async (store) => {
    await play(store, 'working', 'c');
    const receipt = await store.commit('c', [KNOWN_OPERATION, FAILING], { fence: BAD_FENCE, expect: BAD_EXPECT });
    same(
      [receipt.replayed, receipt.version, receipt.commitId],
      [true, 2, 'scene-2'],
      'the receipt of the first submit',
    );
  }),
  given('S5', 'the replay of a commit comes before that of an operation', async (store) => {
    await play(store, 'working', 'c');
    const sent = { commitId: 'scene-3', fence: BAD_FENCE, expect: BAD_EXPECT };
    await refused(store.commit('c', [KNOWN_OPERATION, FAILING], sent), 'commit_id_reused', { commitId: 'scene-3' });
  }),
  given('S5', 'an erasure comes before everything', async (store) => {
    await play(store, 'working', 'c');
    const note = [{ kind: 'state.update' as const, stage: 'x' }];
    await store.commit('c', note, { commitId: 'known' });
    const erasedAt = new Date(store.clock.at).toISOString();
    await store.commit('c', [{ kind: 'conversation.erase' }]);
    const sent = { commitId: 'known', fence: BAD_FENCE, expect: BAD_EXPECT };
    for (const changes of [note, [KNOWN_OPERATION], [FAILING]]) {
      await refused(store.commit('c', changes, sent), 'erased', { conversationId: 'c', erasedAt });
    }
  }),
  given('S5', 'every expectation that is given is checked', async (store) => {
    await play(store, 'idle', 'c');
    const good = { version: 4, graphRevision: 4, leaf: 't2', transcript: { turn: 't2', lastSequence: 5 } };
    const bad = { version: 5, graphRevision: 5, leaf: 't1', transcript: { turn: 't2', lastSequence: 6 } };
    for (const field of ['version', 'graphRevision', 'leaf', 'transcript'] as const) {
      await store.untouchedBy(async () => {
        await refused(
          store.commit('c', [{ kind: 'state.update', stage: 'x' }], { expect: { ...good, [field]: bad[field] } }),
          'conflict',
        );
      });
    }
    const receipt = await store.commit('c', [{ kind: 'state.update', stage: 'x' }], { expect: good });
    same(receipt.version, 5, 'the version after all expectations held');
  }),
  given('S5', 'a stop, an input, a note and a late result need no fence', async (store) => {
    await play(store, 'working', 'c');
    await store.commit('c', [{ kind: 'conversation.update', title: 'x' }]);
    await store.commit('c', [
      { kind: 'message.append', message: { role: 'user', parts: [text('wait')] }, turnId: 't3' },
    ]);
    await store.commit(
      'c',
      [
        {
          kind: 'message.append',
          message: { role: 'assistant', parts: [{ type: 'tool_call', callId: 'l9', name: 'f' }] },
          turnId: 't3',
        },
      ],
      { fence: HELD },
    );
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'cancelled' }]);
    const late = await store.commit('c', [
      {
        kind: 'message.append',
        message: { role: 'tool', parts: [{ type: 'tool_result', callId: 'l9', status: 'interrupted' }] },
      },
    ]);
    same(fieldOf(late.events[0], 'late'), true, 'the result is a late one');
  }),
];
