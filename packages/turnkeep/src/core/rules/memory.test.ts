import { describe, expect, test } from 'vitest';
import { sha256 } from '../../platform/hash.ts';
import type { Change, MemoryUpsert } from '../change.ts';
import { fork, redact, say, turn } from '../changes.testkit.ts';
import { LIMITS } from '../limits.ts';
import { Bodies } from '../read/bodies.ts';
import { readMemories, readMemory } from '../read/memories.ts';
import type { Memory } from '../read/memories.ts';
import { SHELVES } from '../shelf.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';

function learn(memoryId: string, more: Partial<MemoryUpsert> = {}): Change {
  return { kind: 'memory.upsert', memoryId, text: `knows ${memoryId}`, ...more };
}

function memory(story: Story, memoryId: string, revision?: number): Memory | undefined {
  return readMemory(new Bodies(story.rows, sha256), memoryId, revision);
}

/** The ids of the memories that are held. */
function held(story: Story): readonly string[] {
  return readMemories(new Bodies(story.rows, sha256)).map(({ memoryId }) => memoryId);
}

function wordsAt(story: Story, conversationId: string, version: number): readonly (string | null)[] {
  return (story.rows.log(conversationId, version)?.records ?? []).map(({ body }) => body);
}

const said = commit(...turn('t1', [say('m1', 't1')]));

describe('memory.upsert', () => {
  test('keeps a fact with where it comes from, for the whole namespace', () => {
    const story = given(said);
    const more = {
      type: 'preference',
      subject: 'ann',
      author: { id: 'bot', kind: 'agent' as const },
      metadata: { a: 1 },
    };
    story.when(commit(learn('n1', { ...more, sources: ['m1'] }))).thenWrites({ memoryId: 'n1', revision: 0 });
    expect(memory(story, 'n1')).toEqual({
      memoryId: 'n1',
      revision: 0,
      text: 'knows n1',
      ...more,
      sources: [{ conversationId: 'c', messageId: 'm1' }],
      conversationId: 'c',
      createdAt: '2026-01-01T00:00:02.000Z',
      updatedAt: '2026-01-01T00:00:02.000Z',
    });
  });

  test('is replaced whole, from exactly the revision that was read, from any conversation', () => {
    const story = given(commit(learn('n1', { type: 'fact' })));
    story.when(commit(learn('n1', { from: 0, text: 'knows better' })).to('d')).thenWrites({ revision: 1 });
    const stale = { memoryId: 'n1', expectedRevision: 0, actualRevision: 1 };
    story.when(commit(learn('n1', { from: 0 }))).thenRefuses('memory_conflict', stale);
    expect(memory(story, 'n1')).toMatchObject({
      text: 'knows better',
      revision: 1,
      conversationId: 'd',
      createdAt: '2026-01-01T00:00:01.000Z',
      updatedAt: '2026-01-01T00:00:02.000Z',
    });
    expect(memory(story, 'n1')).not.toHaveProperty('type');
    expect(memory(story, 'n1', 0)).toMatchObject({ text: 'knows n1', revision: 0, conversationId: 'c' });
    expect(memory(story, 'n1', 2)).toBeUndefined();
  });

  test('an id stands for one memory, also once it is forgotten', () => {
    const story = given(commit(learn('n1')));
    story.when(commit(learn('n1')).to('d')).thenRefuses('memory_exists', { memoryId: 'n1' });
    story.when(commit(learn('n1', { from: 0, text: null }))).thenWrites({ memoryId: 'n1', forgotten: true });
    story.when(commit(learn('n1'))).thenRefuses('memory_exists', { memoryId: 'n1' });
    story.when(commit(learn('n1', { from: 0 }))).thenRefuses('no_memory', { memoryId: 'n1' });
    story.when(commit(learn('n2', { from: 0 }))).thenRefuses('no_memory', { memoryId: 'n2' });
  });

  test('what is forgotten leaves no words of any revision, wherever it was made', () => {
    const story = given(
      commit(learn('n1')),
      commit(learn('n1', { from: 0 })).to('d'),
      commit(learn('n1', { from: 1, text: null })),
    );
    expect(memory(story, 'n1')).toBeUndefined();
    expect(memory(story, 'n1', 0)).toBeUndefined();
    expect([wordsAt(story, 'c', 1), wordsAt(story, 'd', 1)]).toEqual([[null], [null]]);
    const left = story.rows.scan(SHELVES.memories, { from: '', to: '\u{10ffff}' }).map(({ key }) => key);
    expect(left, 'nothing but that there was one, and the count').toEqual(['N', 'vn1']);
  });

  test('a source is a message that the conversation sees, and whose words are there', () => {
    const story = given(said, commit(...turn('t2', [say('m2', 't2')])).to('d'), commit(redact('m2')).to('d'));
    story.when(commit(learn('n1', { sources: ['m1', 'm9'] }))).thenRefuses('no_message', { messageId: 'm9' });
    story.when(commit(learn('n1', { sources: ['m1'] })).to('d')).thenRefuses('no_message', { messageId: 'm1' });
    story.when(commit(learn('n1', { sources: ['m2'] })).to('d')).thenRefuses('redacted', { messageId: 'm2' });
    story.write(commit(fork('c', 'm1')).to('f'));
    story.when(commit(learn('n1', { sources: ['m1'] })).to('f')).thenWrites({ memoryId: 'n1' });
    expect(memory(story, 'n1')?.sources).toEqual([{ conversationId: 'c', messageId: 'm1' }]);
  });

  test('stands after all that were made before it, whatever the clock and the ids say', () => {
    const story = given(
      commit(learn('n2'), learn('n1')).at(9_000),
      commit(learn('n0')).at(1_000).to('d'),
      commit(learn('n2', { from: 0, text: null })),
      commit(learn('n3')).at(0),
      commit(learn('n1', { from: 0 })),
    );
    expect(held(story)).toEqual(['n1', 'n0', 'n3']);
  });

  test('goes with the words that it was made of, by whatever revision and in whatever fork', () => {
    const story = given(
      said,
      commit(learn('n1', { sources: ['m1'] }), learn('n2')),
      commit(learn('n1', { from: 0 })),
      commit(fork('c', 'm1')).to('f'),
      commit(learn('n3', { sources: ['m1'] })).to('f'),
      commit(redact('m1')),
    );
    expect(held(story)).toEqual(['n2']);
    expect(wordsAt(story, 'f', 2)).toEqual([null]);
  });

  test('goes with a conversation that it was made in, and stays where only a relative of it goes', () => {
    const story = given(
      said,
      commit(learn('n1', { sources: ['m1'] })),
      commit(learn('n2')).to('d'),
      commit(learn('n2', { from: 0 })),
      commit(learn('n3')).to('d'),
      commit(fork('c', 'm1')).to('f'),
      commit(learn('n4', { sources: ['m1'] })).to('f'),
      commit({ kind: 'conversation.erase' }),
    );
    expect(held(story)).toEqual(['n3', 'n4']);
    expect(memory(story, 'n2', 0)).toBeUndefined();
  });

  test('blank text says nothing, a change names its memory, and what is forgotten was read', () => {
    for (const bad of [
      learn('n1', { text: ' \n' }),
      learn('n1', { text: null }),
      { ...learn('n1'), from: 0, memoryId: undefined },
    ])
      expect(() => given(commit(bad))).toThrow('invalid_value');
  });

  test('a namespace holds so many; one that is forgotten makes room', () => {
    const story = given();
    for (let at = 0; at < LIMITS.memories; at += 1_000)
      story.write(commit(...Array.from({ length: 1_000 }, (_, one) => learn(`n${at + one}`))).to(`c${at}`));
    const [max, actual] = [LIMITS.memories, LIMITS.memories + 1];
    story
      .when(commit(learn('more')))
      .thenRefuses('limit_exceeded', { limit: 'memories', max, actual, path: 'commit.changes[0]' });
    story.when(commit(learn('n7', { from: 0, text: null }), learn('more'))).thenWrites({ memoryId: 'more' });
  });
});
