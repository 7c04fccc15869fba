import type { Message } from '../../core/read/message.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { answers, append, play, says } from '../scenes.ts';
import type { Store } from '../store.ts';

const call = (...callIds: readonly string[]) =>
  callIds.map((callId) => ({ type: 'tool_call' as const, callId, name: 'f' }));

/** Two turns: parallel calls answered the other way round, a call that nobody answers, and a call id that comes again. */
async function playCalls(store: Store): Promise<void> {
  await store.commit('c', [
    { kind: 'turn.record', turnId: 'r1', origin: 'import' },
    append(says('user', 'q', '1')),
    append({ role: 'assistant', parts: call('A', 'B'), messageId: '2' }),
    append(answers('B', '3')),
    append(answers('A', '4')),
    append({ role: 'assistant', parts: [{ type: 'text', text: 'mid' }, ...call('C')], messageId: '5' }),
    append(says('user', 'before C came back', '6')),
  ]);
  await store.commit('c', [
    { kind: 'turn.record', turnId: 'r2', origin: 'import' },
    append({ role: 'assistant', parts: call('A'), messageId: '7' }),
    append(answers('A', '8')),
    append(says('assistant', 'end', '9')),
  ]);
}

const PATH = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

const ids = (messages: readonly Message[]): readonly string[] => messages.map((message) => message.messageId);

/** Calls and results lie on the same side of both ends of a window. */
function assertWhole(window: readonly Message[], path: readonly Message[]): void {
  const inside = new Set(ids(window));
  for (const result of path) {
    for (const part of result.parts) {
      if (part.type !== 'tool_result') continue;
      const caller = path.find(
        (one) =>
          one.turnId === result.turnId &&
          one.parts.some((other) => other.type === 'tool_call' && other.callId === part.callId),
      );
      if (!caller) continue;
      same(
        inside.has(result.messageId),
        inside.has(caller.messageId),
        `result ${result.messageId} and its call ${caller.messageId} are both in the window or both outside`,
      );
    }
  }
}

async function backwards(store: Store, size: number): Promise<readonly (readonly Message[])[]> {
  const conversation = await store.look('c');
  const windows: (readonly Message[])[] = [];
  for (let before: string | undefined; ;) {
    const window = await conversation.window(size, before === undefined ? {} : { before });
    windows.push(window.messages);
    if (window.before === null) return windows;
    before = window.before;
  }
}

export const windows: readonly ConformanceCase[] = [
  given(
    'R1',
    'windows of every size hold the path without a gap, and never split a call from its results',
    async (store) => {
      await playCalls(store);
      const path = (await (await store.look('c')).page()).messages;
      same(ids(path), PATH, 'the path');
      for (let size = 3; size <= 10; size++) {
        const found = await backwards(store, size);
        for (const window of found) {
          holds(window.length >= 1 && window.length <= size, `a window of ${size} has ${window.length} messages`);
          assertWhole(window, path);
        }
        same(ids(found.toReversed().flat()), PATH, `the windows of ${size}, put together`);
      }
    },
  ),
  given('R1', 'a group that is larger than the window is reported, not cut', async (store) => {
    await playCalls(store);
    const conversation = await store.look('c');
    await refused(conversation.window(2, { before: (await conversation.window(5)).before ?? '' }), 'group_too_large');
    const last = await conversation.window(1);
    same(ids(last.messages), ['9'], 'the last message');
    await refused(conversation.window(1, { before: last.before ?? '' }), 'group_too_large');
  }),
  given('R1', 'a window’s cursor pins its path: later commits do not disturb it', async (store) => {
    await playCalls(store);
    const first = await (await store.look('c')).window(3);
    await store.commit('c', [
      { kind: 'turn.record', turnId: 'r3', origin: 'import' },
      append(says('user', 'later', '10')),
    ]);
    await store.commit('c', [append(answers('C', 'late'))]);
    const rest = await (await store.look('c')).window(20, { before: first.before ?? '' });
    same([...ids(rest.messages), ...ids(first.messages)], PATH, 'the path as it was');
    same(
      ids((await (await store.look('c')).window(20)).messages),
      [...PATH.slice(0, 6), 'late', ...PATH.slice(6), '10'],
      'the path as it is',
    );
  }),
  given('R1', 'a late result stands in the turn of its call, with the next sequence', async (store) => {
    await playCalls(store);
    const receipt = await store.commit('c', [append(answers('C', 'late'))]);
    same(
      receipt.events[0],
      { kind: 'message.append', messageId: 'late', turnId: 'r1', sequence: 10, record: 0, late: true },
      'the event',
    );
    const window = await (await store.look('c')).window(20);
    assertWhole(window.messages, window.messages);
    same(ids(window.messages).indexOf('late'), 6, 'its place');
  }),
  given('R1', 'a window of another leaf, and an empty one', async (store) => {
    await playCalls(store);
    const conversation = await store.look('c');
    same(ids((await conversation.window(3, { leaf: 'r1' })).messages), ['5', '6'], 'the window of r1');
    same(await conversation.window(3, { leaf: null }), { messages: [], before: null }, 'the window of the root');
    await refused(conversation.window(3, { leaf: 'nobody' }), 'no_turn', { turnId: 'nobody' });
  }),
  given('R1', 'a cursor that is not one of ours is told so', async (store) => {
    await play(store, 'idle', 'c');
    const conversation = await store.look('c');
    const page = (await conversation.page({ limit: 1 })).next ?? '';
    for (const before of [
      '',
      'x',
      '{}',
      page,
      Buffer.from('{"leaf":null,"lastSequence":1,"messageId":"m1"}').toString('base64url'),
    ]) {
      await refused(conversation.window(2, { before }), 'bad_cursor');
    }
  }),
];
