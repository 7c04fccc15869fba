import { describe, expect, test } from 'vitest';
import type { Change, ConversationFields } from '../change.ts';
import { fork, say, turn } from '../changes.testkit.ts';
import { LIMITS } from '../limits.ts';
import { conversationInfo } from '../read/listing.ts';
import { commit, given } from '../story.testkit.ts';
import type { Seen } from '../story.testkit.ts';

const create = (fields: ConversationFields = {}): Change => ({ kind: 'conversation.create', ...fields });
const update = (fields: ConversationFields): Change => ({ kind: 'conversation.update', ...fields });
const read = (reader: string, sequence: number): Change => ({
  kind: 'conversation.update',
  readThrough: { reader, sequence },
});

function info(seen: Seen, reader?: string) {
  return conversationInfo(seen.bodies, seen.head, reader);
}

describe('conversation.create', () => {
  test('makes a conversation with its fields and where it came from', () => {
    const origin = { kind: 'import' as const, tool: 'other', source: 'file' };
    given()
      .when(commit({ kind: 'conversation.create', title: 't', owner: 'o', labels: ['l'], metadata: { m: 1 }, origin }))
      .thenSees((seen) => {
        expect(info(seen)).toMatchObject({
          title: 't',
          titleSource: 'user',
          owner: 'o',
          labels: ['l'],
          metadata: { m: 1 },
          origin,
        });
        expect(seen.head).toMatchObject({ owner: 'o', version: 1, archived: false, pinned: false });
      });
  });

  test('is the first change of the first commit', () => {
    const details = { conversationId: 'c' };
    given(commit(create())).when(commit(create())).thenRefuses('conversation_exists', details);
    given(commit(say('a1')))
      .when(commit(create()))
      .thenRefuses('conversation_exists', details);
    given()
      .when(commit(say('a1'), create()))
      .thenRefuses('conversation_exists', details);
    given()
      .whenOvertaken(commit(create()), commit(say('a1')))
      .thenRefuses('conversation_exists', details);
  });

  test('any other first commit makes one too, unless it expects a version', () => {
    given()
      .when(commit(say('a1')).expecting({ version: 0 }))
      .thenWrites();
    given()
      .when(commit(say('a1')).expecting({ version: 1 }))
      .thenRefuses('conflict', { field: 'version', expected: 1, actual: 0 });
  });
});

describe('conversation.update', () => {
  test('absent keeps, null clears, a value replaces', () => {
    const story = given(commit(create({ title: 't', owner: 'o', labels: ['l'], participants: ['p'], metadata: 1 })));
    story.write(commit(update({ labels: ['m', 'n'] })));
    expect(info(story.seen())).toMatchObject({
      title: 't',
      owner: 'o',
      labels: ['m', 'n'],
      participants: ['p'],
      metadata: 1,
    });
    story.write(commit(update({ title: null, owner: null, participants: [], metadata: null })));
    expect(info(story.seen())).toMatchObject({
      title: null,
      owner: null,
      participants: [],
      labels: ['m', 'n'],
      metadata: null,
    });
    expect(story.seen().head.owner).toBeNull();
  });

  test('pins and archives, and takes both back', () => {
    const story = given(commit(update({ pinned: true, archived: true })));
    expect(story.seen().head).toMatchObject({ pinned: true, archived: true });
    story.write(commit(update({ pinned: false })));
    expect(story.seen().head).toMatchObject({ pinned: false, archived: true });
  });

  test('an automatic title never replaces that of a person, and a person may always', () => {
    const auto = (title: string) => commit(update({ title, titleSource: 'auto' }));
    const story = given(auto('first'));
    story.write(auto('second'));
    expect(info(story.seen())).toMatchObject({ title: 'second', titleSource: 'auto' });
    story.write(commit(update({ title: 'mine' })));
    story.write(auto('third'));
    expect(info(story.seen())).toMatchObject({ title: 'mine', titleSource: 'user' });
    story.write(commit(update({ title: null })));
    story.write(auto('fourth'));
    expect(info(story.seen())).toMatchObject({ title: 'fourth', titleSource: 'auto' });
  });

  test('an automatic title that comes to nothing takes the other fields along', () => {
    given(commit(update({ title: 'mine' })))
      .when(commit(update({ title: 'auto', titleSource: 'auto', labels: ['l'] })))
      .thenSees((seen) => expect(info(seen)).toMatchObject({ title: 'mine', titleSource: 'user', labels: ['l'] }));
  });

  test('updates of different fields keep each other', () => {
    given(commit(create()))
      .whenOvertaken(commit(update({ title: 't' })), commit(update({ labels: ['l'] })))
      .thenSees((seen) => expect(info(seen)).toMatchObject({ title: 't', labels: ['l'] }));
  });

  test('touches neither the tree nor the time of the last activity', () => {
    given(commit(...turn('t1')).at(1_000))
      .when(commit(update({ title: 't' })).at(9_000))
      .thenSees((seen) => expect(seen.head).toMatchObject({ graphRevision: 2, lastActivityAt: 1_000 }));
  });

  test('lists are bounded', () => {
    const labels = Array.from({ length: LIMITS.conversationLabels + 1 }, (_, at) => `l${at}`);
    given()
      .when(commit(update({ labels: labels.slice(1) })))
      .thenWrites();
    expect(() => given().when(commit(update({ labels })))).toThrow(
      expect.objectContaining({
        code: 'limit_exceeded',
        details: { limit: 'conversationLabels', max: 64, actual: 65, path: 'commit.changes[0].labels' },
      }),
    );
  });
});

describe('how far a reader has read', () => {
  test('never goes back, and is each reader’s own', () => {
    const story = given(commit(say('a1'), say('a2'), say('a3')));
    expect(info(story.seen(), 'ann').unread).toBe(3);
    story.write(commit(read('ann', 2)));
    expect([info(story.seen(), 'ann').unread, info(story.seen(), 'bob').unread]).toEqual([1, 3]);
    story.write(commit(read('ann', 1)));
    expect(info(story.seen(), 'ann').unread).toBe(1);
    story.write(commit(read('ann', 3)));
    expect(info(story.seen(), 'ann').unread).toBe(0);
    story.write(commit(say('a4')));
    expect(info(story.seen(), 'ann').unread).toBe(1);
  });

  test('ends where the conversation does', () => {
    given(commit(say('a1'), say('a2')))
      .when(commit(read('ann', 3)))
      .thenRefuses('invalid_value', {
        path: 'commit.changes[0].readThrough.sequence',
        reason: 'the last sequence is 2',
      });
  });

  test('of two at once the further one stands', () => {
    given(commit(say('a1'), say('a2'), say('a3')))
      .whenOvertaken(commit(read('ann', 1)), commit(read('ann', 3)))
      .thenSees((seen) => expect(info(seen, 'ann').unread).toBe(0));
  });

  test('a reader’s name may hold what an id may not', () => {
    given(commit(say('a1')))
      .when(commit(read('ann\n\u0001', 1)))
      .thenSees((seen) => expect([info(seen, 'ann\n\u0001').unread, info(seen, 'ann').unread]).toEqual([0, 1]));
  });
});

test('a fork has fields of its own', () => {
  const story = given(commit(create({ title: 't', labels: ['l'] })), commit(...turn('t1')));
  story.when(commit({ ...fork('c', 't1.q'), title: 'mine' } as Change).to('fork')).thenSees((seen) => {
    expect(info(seen)).toMatchObject({ title: 'mine', labels: [], source: 'c' });
  });
});

test('a person has an id that every store can look up', () => {
  for (const person of ['\ud800', 'a\u0000b']) {
    for (const [fields, path] of [
      [{ owner: person }, 'owner'],
      [{ participants: ['a', person] }, 'participants[1]'],
      [{ readThrough: { reader: person, sequence: 0 } }, 'readThrough.reader'],
    ] as const) {
      const send = () => given().when(commit({ kind: 'conversation.update', ...fields }));
      expect(send).toThrow(`invalid_value: path commit.changes[0].${path},`);
    }
  }
});
