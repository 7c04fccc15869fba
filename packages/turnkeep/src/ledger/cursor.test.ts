import { describe, expect, test } from 'vitest';
import { text } from '../core/changes.testkit.ts';
import type { NewMessage } from '../core/message.ts';
import type { Conversation } from './conversation.ts';
import { encodeCursor } from './cursor.ts';
import { openLedger } from './open.ts';

const says = (words: string, messageId: string = words): NewMessage => ({
  messageId,
  role: 'user',
  parts: text(words),
});

async function opened() {
  const space = (await openLedger('memory:')).namespace('n');
  return { space, conversation: space.conversation('c') };
}

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'accepted',
    (error: { readonly code?: string }) => error.code,
  );
}

function shown(messages: Awaited<ReturnType<Conversation['page']>>['messages']): readonly string[] {
  return messages.map(({ messageId }) => messageId);
}

describe('a cursor made by hand', () => {
  test('is refused, whatever stands in its fields', async () => {
    const { space, conversation } = await opened();
    await conversation.append(says('a'));
    const page = { leaf: null, lastSequence: 1, atVersion: null, owner: 'c', branch: 0, position: 0, sequence: 0 };
    for (const wrong of [
      { sequence: null },
      { position: 'x' },
      { position: -1 },
      { branch: 0.5 },
      { owner: 5 },
      { a: 1 },
    ]) {
      expect(await refusal(conversation.page({ after: encodeCursor({ ...page, ...wrong }) }))).toBe('bad_cursor');
    }
    const window = { leaf: null, lastSequence: 1, messageId: 'a' };
    for (const wrong of [{ leaf: 5 }, { lastSequence: 'x' }, { messageId: {} }]) {
      expect(await refusal(conversation.window(1, { before: encodeCursor({ ...window, ...wrong }) }))).toBe(
        'bad_cursor',
      );
    }
    for (const wrong of [{ at: 'x' }, { conversationId: 5 }, { order: 'size' }, { order: 'created' }]) {
      const after = encodeCursor({ order: 'activity', at: 1, conversationId: 'c', ...wrong });
      expect(await refusal(space.page({ after }))).toBe('bad_cursor');
    }
    for (const after of ['', 'x', encodeCursor([])]) expect(await refusal(space.page({ after }))).toBe('bad_cursor');
  });
});

test('a cursor of another conversation is refused as one, whatever its turns are called', async () => {
  const { space, conversation } = await opened();
  const [other, same] = [space.conversation('other'), space.conversation('same')];
  for (const at of [1, 2, 3]) {
    await conversation.record({ turnId: `t${at}`, origin: 'told', messages: [says(`a${at}`)] });
    await other.record({ turnId: `u${at}`, origin: 'told', messages: [says(`b${at}`)] });
    await same.record({ turnId: `t${at}`, origin: 'told', messages: [says(`c${at}`)] });
  }
  for (const foreign of [other, same]) {
    const before = (await foreign.window(1)).before ?? '';
    const after = (await foreign.page({ limit: 1 })).next ?? '';
    expect(await refusal(conversation.window(1, { before }))).toBe('bad_cursor');
    expect(await refusal(conversation.page({ after }))).toBe('bad_cursor');
  }
});

describe('a page goes on as it began', () => {
  test('at its version', async () => {
    const { conversation } = await opened();
    for (const words of ['a', 'b', 'c']) await conversation.append(says(words));
    const { next } = await conversation.page({ limit: 1, atVersion: 2 });
    expect(shown((await conversation.page({ after: next ?? '' })).messages)).toEqual(['b']);
  });

  test('on its path, without what was submitted since', async () => {
    const { conversation } = await opened();
    await conversation.record({ origin: 'import', messages: [says('a'), says('b')] });
    const { next } = await conversation.page({ limit: 1 });
    await conversation.submit({ prompt: text('later') });
    const same = await conversation.page({ after: next ?? '' });
    expect([shown(same.messages), shown(same.pending)]).toEqual([['b'], []]);
    await conversation.advance((await conversation.graph()).at(-1)?.turnId ?? '', 'completed');
    await conversation.submit({ messageId: 'waits', prompt: text('later still') });
    expect((await conversation.page({ after: next ?? '' })).pending).toEqual([]);
    expect(shown((await conversation.page()).pending)).toEqual(['waits']);
  });
});

test('a prompt that goes on from within the active leaf does not stand behind it', async () => {
  const { conversation } = await opened();
  await conversation.record({ origin: 'import', messages: [says('a'), says('b')] });
  const expected = { expect: { graphRevision: (await conversation.info()).graphRevision } };
  await conversation.submit({ prompt: text('rewound'), parent: { messageId: 'a' } }, expected);
  expect((await conversation.page()).pending).toEqual([]);
});

test('a version that is not there is refused by its name', async () => {
  const { conversation } = await opened();
  await conversation.append(says('a'));
  for (const atVersion of [0, 2, 1.5, Number.NaN]) {
    for (const reading of [
      conversation.state({ atVersion }),
      conversation.page({ atVersion }),
      conversation.tasks.list({ atVersion }),
      conversation.graph({ atVersion }),
    ]) {
      await expect(reading).rejects.toMatchObject({ code: 'invalid_value', details: { path: 'atVersion' } });
    }
    await expect(conversation.at(atVersion)).rejects.toMatchObject({ details: { path: 'version' } });
  }
});

test('a place that no number of a store can name is refused, and not handed to a backend', async () => {
  const { space, conversation } = await opened();
  await conversation.append(says('a'));
  const list = encodeCursor({ order: 'activity', at: 1e308, conversationId: 'c' });
  expect(await refusal(space.page({ after: list }))).toBe('bad_cursor');
  expect(await refusal(space.search('a', { after: '9007199254740993' }))).toBe('bad_cursor');
  for (const after of [2 ** 53, 1e300]) {
    expect(await refusal(space.watch({ after, untilNow: true }).next())).toBe('bad_cursor');
    expect(await refusal(conversation.watch({ after, untilNow: true }).next())).toBe('bad_cursor');
  }
});
