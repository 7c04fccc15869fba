import { fieldOf } from '../../core/event.ts';
import type { Message } from '../../core/read/message.ts';
import { given } from '../case.ts';
import type { ConformanceCase } from '../case.ts';
import { holds, refused, same } from '../check.ts';
import { append, play, says, text } from '../scenes.ts';
import type { Store } from '../store.ts';
import { assertChains } from '../verify.ts';

async function messageIn(store: Store, id: string, messageId: string): Promise<Message> {
  const found = await (await store.look(id)).message(messageId);
  holds(found.status === 'found_verified', `message ${messageId} of ${id} is found`);
  return found.message;
}

async function words(store: Store, id: string, messageId: string): Promise<readonly unknown[]> {
  const message = await messageIn(store, id, messageId);
  return [message.parts, message.redaction?.reason];
}

export const redaction: readonly ConformanceCase[] = [
  given('R7', 'a redacted message keeps its place and its reason, and loses its words', async (store) => {
    await play(store, 'idle', 'c');
    store.clock.move(5_000);
    const at = new Date(store.clock.at).toISOString();
    const before = await messageIn(store, 'c', 'm2');
    await store.commit('c', [{ kind: 'message.redact', messageId: 'm2', reason: 'asked for' }]);
    same(
      await messageIn(store, 'c', 'm2'),
      { ...before, parts: [], redaction: { reason: 'asked for', at } },
      'the message',
    );
    holds(!(await store.export()).includes('the first answer'), 'the words are left');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R7', 'a replacement is read in its place', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('c', [{ kind: 'message.redact', messageId: 'm2', reason: 'r', replacement: [text('instead')] }]);
    same(await words(store, 'c', 'm2'), [[text('instead')], 'r'], 'the message');
  }),
  given('R7', 'words go wherever they are shared: in forks and in regenerations', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit(
      'c',
      [
        { kind: 'turn.submit', turnId: 'r', messageId: 'shared', parent: null, samePromptAs: 't1' },
        { kind: 'turn.advance', turnId: 'r', to: 'completed' },
      ],
      { expect: { graphRevision: 4 } },
    );
    await store.commit('f', [{ kind: 'conversation.fork', source: 'c', at: 'm2' }]);
    await store.commit('g', [{ kind: 'conversation.fork', source: 'f', at: 'm1' }]);
    await store.commit('f', [{ kind: 'message.redact', messageId: 'm1', reason: 'by the fork' }]);
    for (const [id, messageId] of [
      ['c', 'm1'],
      ['c', 'shared'],
      ['f', 'm1'],
      ['g', 'm1'],
    ] as const) {
      same(await words(store, id, messageId), [[], 'by the fork'], `${messageId} in ${id}`);
    }
    holds(!(await store.export()).includes('the first question'), 'the words are left');
    same((await (await store.readSpace()).search('first question')).hits, [], 'hits');
    const graph = await (await store.look('c')).graph();
    same(
      graph.map((turn) => turn.label),
      ['', 'the second question', ''],
      'the labels',
    );
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R7', 'its id cannot be appended again, nor its prompt be asked again', async (store) => {
    await play(store, 'submitted', 'c');
    await store.commit('c', [
      { kind: 'message.redact', messageId: 'm2', reason: 'r' },
      { kind: 'message.redact', messageId: 'm1', reason: 'r' },
    ]);
    await store.untouchedBy(async () => {
      for (const again of ['the first answer', 'other words'])
        await refused(store.commit('c', [append(says('assistant', again, 'm2'), 't3')]), 'redacted', {
          messageId: 'm2',
        });
    });
    await store.commit('c', [{ kind: 'turn.advance', turnId: 't3', to: 'cancelled' }]);
    await refused(store.commit('c', [{ kind: 'turn.submit', samePromptAs: 't1' }]), 'redacted', { messageId: 'm1' });
  }),
  given('R7', 'to redact again changes nothing that is read', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('c', [{ kind: 'message.redact', messageId: 'm2', reason: 'first' }]);
    const receipt = await store.commit('c', [{ kind: 'message.redact', messageId: 'm2', reason: 'second' }]);
    same(receipt.events, [{ kind: 'message.redact', messageId: 'm2', noop: true }], 'the event');
    same(await words(store, 'c', 'm2'), [[], 'first'], 'the message');
  }),
  given('R7', 'what stands in the place of words is redacted as words are', async (store) => {
    await play(store, 'idle', 'c');
    await store.commit('c', [
      { kind: 'message.redact', messageId: 'm2', reason: 'first', replacement: [text('a slip again')] },
    ]);
    same(await words(store, 'c', 'm2'), [[text('a slip again')], 'first'], 'the replacement');
    await store.commit('c', [{ kind: 'message.redact', messageId: 'm2', reason: 'second' }]);
    same(await words(store, 'c', 'm2'), [[], 'second'], 'the message');
    holds(!(await store.export()).includes('a slip again'), 'the words of the replacement are left');
  }),
  given('R7', 'a list’s last words go with the message', async (store) => {
    await store.commit('c', [append(says('user', 'a secret', 'x'))]);
    await store.commit('c', [{ kind: 'message.redact', messageId: 'x', reason: 'r' }]);
    same((await (await store.look('c')).info()).lastMessage, { role: 'user', preview: '' }, 'the last message');
  }),
  given('R7', 'a message can be redacted in the commit that brought it', async (store) => {
    await store.commit('c', [
      append(says('user', 'a slip', 'x')),
      { kind: 'message.redact', messageId: 'x', reason: 'r' },
    ]);
    same(await words(store, 'c', 'x'), [[], 'r'], 'the message');
    holds(!(await store.export()).includes('a slip'), 'the words are left');
    await assertChains((await store.reader()).backend, store.namespace);
  }),
  given('R7', 'a redacted call still takes its result', async (store) => {
    await play(store, 'submitted', 'c');
    await store.commit('c', [
      append({ role: 'assistant', parts: [{ type: 'tool_call', callId: 'l9', name: 'f' }], messageId: 'x' }, 't3'),
    ]);
    await store.commit('c', [{ kind: 'message.redact', messageId: 'x', reason: 'r' }]);
    const receipt = await store.commit('c', [
      append({ role: 'tool', parts: [{ type: 'tool_result', callId: 'l9', status: 'ok', output: 1 }] }),
    ]);
    same([fieldOf(receipt.events[0], 'turnId'), fieldOf(receipt.events[0], 'sequence')], ['t3', 8], 'the event');
  }),
];
