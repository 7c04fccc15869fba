import { expect, test } from 'vitest';
import type { Part } from '../../core/message.ts';
import { MemoryBackend } from '../../memory/index.ts';
import { sha256 } from '../../platform/hash.ts';
import { mintCommitId } from '../../platform/random.ts';
import { systemSurroundings } from '../../platform/surroundings.ts';
import { Access } from '../access.ts';
import { ConversationAccess } from '../conversation-access.ts';
import { text } from './agent.testkit.ts';
import { DraftWriter, inheritDraft, joinParts, partsOf, readDraft } from './draft.ts';

/** What a reader sees before any timer runs: it waits for nothing but what is at hand. */
async function seen(access: ConversationAccess): Promise<unknown> {
  for (let turns = 0; turns < 10; turns++) await Promise.resolve();
  return partsOf(await readDraft(access, 't', 1));
}

function inMemory(): ConversationAccess {
  return new ConversationAccess(new Access(new MemoryBackend(sha256), systemSurroundings, mintCommitId), 'n', 'c');
}

test('the first words of a draft are written at once, and those that come soon after together', async () => {
  const access = inMemory();
  const draft = new DraftWriter(access, 't', 1);
  draft.add([text('one')]);
  expect(await seen(access)).toEqual([text('one')]);
  draft.add([text(' two')]);
  draft.add([text(' three')]);
  expect(await seen(access)).toEqual([text('one')]);
  await draft.flush();
  expect(await seen(access)).toEqual([text('one two three')]);
  expect((await readDraft(access, 't', 1))?.seq).toBe(2);
  await draft.silence();
});

test('an attempt that lost its turn and does not know it yet drafts over nobody’s words', async () => {
  const access = inMemory();
  const [lost, next] = [new DraftWriter(access, 't', 1), new DraftWriter(access, 't', 2)];
  lost.add([text('the first half')]);
  await lost.flush();
  await inheritDraft(access, 't', 1, 2);
  expect(partsOf(await readDraft(access, 't', 2))).toEqual([text('the first half')]);
  next.add([text('anew')]);
  await next.flush();
  lost.add([text(' and the other')]);
  await lost.flush();
  expect(partsOf(await readDraft(access, 't', 2))).toEqual([text('anew')]);
  await lost.remove();
  expect(partsOf(await readDraft(access, 't', 2))).toEqual([text('anew')]);
  await next.remove();
  expect(await access.access.backend.scratch.list('n')).toEqual([]);
});

test.each(['silence', 'remove'] as const)(
  'after its %s a draft is written no more, whatever a model still says',
  async (end) => {
    const access = inMemory();
    const draft = new DraftWriter(access, 't', 1);
    draft.add([text('one')]);
    await draft[end]();
    const before = await seen(access);
    draft.add([text(' two')]);
    await draft.flush();
    draft.drop();
    await draft.flush();
    expect(await seen(access)).toEqual(before);
    expect(await access.access.backend.scratch.list('n')).toHaveLength(end === 'silence' ? 1 : 0);
  },
);

test('pieces of text are one text, and pieces of reasoning one reasoning, but for what a signature closes', () => {
  const thought = (words: string, more: object = {}): Part => ({ type: 'reasoning', text: words, ...more });
  const signed = thought('c', { signature: 's' });
  const pieces = [thought('a'), thought('b'), signed, thought('d'), thought('e'), text('f'), text('g'), thought('h')];
  expect(joinParts(pieces)).toEqual([thought('ab'), signed, thought('de'), text('fg'), thought('h')]);
});
