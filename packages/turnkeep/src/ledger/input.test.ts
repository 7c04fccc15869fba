import { describe, expect, test } from 'vitest';
import { call, text } from '../core/changes.testkit.ts';
import type { NewMessage, Part } from '../core/message.ts';
import { MemoryBackend } from '../memory/index.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import type { AgentTurn } from './agent/agent-turn.ts';
import type { Conversation } from './conversation.ts';
import { openLedger } from './open.ts';

async function opened() {
  const space = (await openLedger('memory:')).namespace('n');
  return { space, conversation: space.conversation('c') };
}

test('what is no message is refused with its path, and not by a crash', async () => {
  const { conversation } = await opened();
  for (const message of [null, undefined, 5, {}, { role: 'user' }, { role: 'user', parts: [null] }]) {
    // A caller without types may send anything.
    await expect(conversation.append(message as unknown as NewMessage)).rejects.toMatchObject({
      code: 'invalid_value',
    });
  }
  await expect(conversation.record({ origin: 'x' } as never)).rejects.toMatchObject({ details: { path: 'messages' } });
  await expect(conversation.checkpoints.write('k', 0, {} as never)).rejects.toMatchObject({
    details: { path: 'writes' },
  });
});

test('a store that nobody named is refused, and the error says what a store is', async () => {
  const stores = 'memory:, sqlite:FILE, journal:DIRECTORY or postgres://…';
  for (const store of [undefined, null, 5, true]) {
    // A variable of the environment that is not set, say.
    await expect(openLedger(store as unknown as string)).rejects.toMatchObject({
      details: { path: 'store', reason: `expected a URL (${stores}) or an open backend` },
    });
  }
  await expect(openLedger('agent.db')).rejects.toMatchObject({
    details: { path: 'url', reason: `a store is ${stores}` },
  });
});

test('an option that is undefined is one that is absent', async () => {
  const { space, conversation } = await opened();
  await conversation.append({ role: 'user', parts: text('x') }, { turnId: undefined });
  await conversation.commitments.add({ content: 'c' });
  expect(await conversation.commitments.list({ status: undefined, type: undefined })).toHaveLength(1);
  expect(await conversation.commitments.resolve({ matching: 'c' }, { turnId: undefined })).toHaveLength(1);
  expect(await conversation.info({ reader: undefined })).toMatchObject({ unread: 0 });
  expect(await conversation.graph({ atVersion: undefined })).toEqual([]);
  expect((await space.interrupts({ signal: undefined }).next()).done).toBe(true);
});

test('options that are none are refused with their path, whoever asks', async () => {
  const { space, conversation } = await opened();
  await conversation.append({ role: 'user', parts: text('x') });
  const none = null as never; // a caller without types may give anything
  for (const ask of [
    () => openLedger('memory:', none),
    () => space.page(none),
    () => space.search('x', none),
    () => space.collect(none),
    () => space.eraseSubject('someone', none),
    () => space.answer('i', none),
    () => conversation.append({ role: 'user', parts: text('x') }, none),
    () => conversation.advance('t', 'running', none),
    () => conversation.window(1, none),
    () => conversation.page(none),
    () => conversation.graph(none),
    () => conversation.info(none),
    () => conversation.state(none),
    () => conversation.search('x', none),
    () => conversation.tasks.active(none),
  ]) {
    await expect(ask()).rejects.toMatchObject({ code: 'invalid_value', details: { path: 'options' } });
  }
  await expect(conversation.fork('m', none)).rejects.toMatchObject({ details: { path: 'to' } });
  await expect(conversation.record(none)).rejects.toMatchObject({ details: { path: 'turn' } });
});

test('a ledger stands on a backend that is open, too', async () => {
  const backend = new MemoryBackend(systemSurroundings.sha256);
  const ledger = await openLedger(backend);
  await ledger
    .namespace('n')
    .conversation('c')
    .append({ role: 'user', parts: text('x') });
  expect(ledger.backend).toBe(backend);
  await expect(openLedger(undefined as never)).rejects.toMatchObject({ details: { path: 'store' } });
});

test('a message that answers a call and makes another is judged where its call stands', async () => {
  const { conversation } = await opened();
  const parts: readonly Part[] = [
    { type: 'tool_result', callId: 'first', status: 'ok' },
    { type: 'tool_call', callId: 'second', name: 'look' },
  ];
  const recorded = { kind: 'turn.record' as const, turnId: 't', origin: 'import' };
  await conversation.commit([recorded, call('a', ['first'])]);
  await expect(conversation.append({ role: 'tool', parts })).rejects.toMatchObject({ code: 'turn_terminal' });
  const [result] = parts;
  const { events } = await conversation.append({ role: 'tool', parts: result ? [result] : [] });
  expect(events).toMatchObject([{ kind: 'message.append', turnId: 't', late: true }]);
});

test('a commit of another namespace is not taken for one of this', async () => {
  const { space } = await opened();
  const commit = {
    commitId: 'k',
    conversationId: 'c',
    changes: [{ kind: 'message.append', message: { role: 'user', parts: text('x') } }],
  };
  await expect(space.commit({ ...commit, namespace: 'other' })).rejects.toMatchObject({
    details: { path: 'commit.namespace' },
  });
  expect(await space.commit({ ...commit, namespace: 'n' })).toMatchObject({ version: 1 });
  expect(await space.commit(commit)).toMatchObject({ version: 1, replayed: true });
});

test('a list by a metadata field of null shows those that hold null, not those without it', async () => {
  const { space } = await opened();
  await space.conversation('holds').create({ metadata: { a: null } });
  await space.conversation('lacks').create({ metadata: { b: 1 } });
  const { items } = await space.page({ metadata: { a: null } });
  expect(items.map(({ conversationId }) => conversationId)).toEqual(['holds']);
});

test('a handle does what its name says, whatever else the fields bring', async () => {
  const { conversation } = await opened();
  await conversation.tasks.create({ taskId: 'mine', title: 'x' });
  const smuggled = { kind: 'conversation.erase', title: 'still here' };
  expect((await conversation.update(smuggled)).events).toMatchObject([{ kind: 'conversation.update' }]);
  await conversation.tasks.amend('mine', { taskId: 'other', title: 'y' } as { readonly title: string });
  expect(await conversation.tasks.get('mine')).toMatchObject({ title: 'y' });
});

test('a message that is changed after it was sent is stored as it was', async () => {
  const { conversation } = await opened();
  const message = { messageId: 'm', role: 'user' as const, parts: text('before') };
  const sent = conversation.append(message);
  message.parts = text('after');
  await sent;
  expect(await conversation.message('m')).toMatchObject({ message: { parts: text('before') } });
});

describe('what is changed after it was handed in is stored as it was', () => {
  const before = 'before';
  const words = () => [{ type: 'text' as const, text: before }];
  /** Changes the words within, however deep they are, and waits. */
  async function changed<Answer>(given: object, answer: Promise<Answer>): Promise<Answer> {
    const change = (value: object): void => {
      for (const [key, part] of Object.entries(value)) {
        if (part === before) Object.assign(value, { [key]: 'after' });
        else if (typeof part === 'object' && part !== null) change(part as object);
      }
    };
    change(given);
    return answer;
  }
  const said = async (conversation: Conversation, messageId: string) => {
    const found = await conversation.message(messageId);
    return found.status === 'found_verified' ? found.message.parts : undefined;
  };

  test('an edit', async () => {
    const { conversation } = await opened();
    const { turnId } = await conversation.submit({ prompt: text('x'), turnId: 'first' });
    await conversation.advance(turnId, 'completed');
    const { graphRevision } = await conversation.info();
    const edit = { prompt: words(), metadata: { note: before } };
    const { messageId } = await changed(edit, conversation.edit(turnId, edit, { expect: { graphRevision } }));
    expect(await said(conversation, messageId)).toEqual(words());
  });

  test('what an operator answers', async () => {
    const { conversation } = await opened();
    const operator = conversation.operator();
    const first = await operator.send('x');
    const partial = words();
    await changed(partial, operator.fail(first.turnId, { code: 'x', message: 'y' }, { partial }));
    const second = await operator.send('x');
    const answer = [{ role: 'assistant' as const, parts: words() }];
    await changed(answer, operator.complete(second.turnId, answer));
    const { messages } = await conversation.window(8);
    const answers = messages.filter(({ role }) => role === 'assistant');
    expect(answers.map(({ parts }) => parts)).toEqual([words(), words()]);
  });

  test('what an agent says and asks, and what it is answered', async () => {
    const { space, conversation } = await opened();
    const agent = async (turn: AgentTurn) => {
      const note = { role: 'assistant' as const, parts: words() };
      const first = turn.append('one', { role: 'assistant', parts: text('x') });
      await changed(note, turn.append('two', note));
      await first;
      const asked = { interruptId: 'q', type: 'input', payload: { note: before } };
      const answer = await changed(asked, turn.interrupt(asked));
      const last = [{ role: 'assistant' as const, parts: [{ type: 'text' as const, text: before }] }];
      await changed(last, turn.complete({ messages: last }));
      return [{ role: 'assistant' as const, parts: text(JSON.stringify(answer)) }];
    };
    const { turnId } = await conversation.run({ prompt: text('x') }, agent, { idempotencyKey: 'k' });
    expect(await conversation.interrupt('q')).toMatchObject({ payload: { note: before } });
    const response = { note: before };
    await changed(response, space.answer('q', { by: 'ann', response }));
    expect(await conversation.interrupt('q')).toMatchObject({ answer: { response: { note: before } } });
    await conversation.resume(turnId, agent);
    const { messages } = await conversation.window(8);
    expect(messages.slice(2).map(({ parts }) => parts)).toEqual([words(), words()]);
  });
});
