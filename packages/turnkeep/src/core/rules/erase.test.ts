import { describe, expect, test } from 'vitest';
import type { Change } from '../change.ts';
import { fork, say, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';

const erase: Change = { kind: 'conversation.erase' };
const AT = Date.UTC(2026, 5, 1);
const erased = { conversationId: 'c', erasedAt: new Date(AT).toISOString() };

describe('conversation.erase', () => {
  test('leaves a tombstone without words', () => {
    given(commit({ kind: 'conversation.create', owner: 'ann' }), commit(...turn('t1')))
      .when(commit(erase).at(AT))
      .thenSees((seen) => {
        const gone = { leaf: null, busy: [], openOperation: null, lastMessage: null, fields: null, owner: null };
        expect(seen.head).toMatchObject({ erasedAt: AT, collected: false, version: 3, ...gone });
      });
  });

  test('is the only change of its commit', () => {
    given(commit(say('a1')))
      .when(commit(say('a2'), erase))
      .thenRefuses('invalid_value', {
        path: 'commit.changes[1]',
        reason: 'an erasure is the only change of its commit',
      });
  });

  test('what is not there cannot be erased', () => {
    given().when(commit(erase)).thenRefuses('conversation_not_found', { conversationId: 'c' });
  });

  test('a late write is refused, even the same commit again, even one that lost a race', () => {
    const story = given(commit(say('a1')).as('first'), commit(erase).at(AT));
    story.when(commit(say('a2'))).thenRefuses('erased', erased);
    story.when(commit(say('a1')).as('first')).thenRefuses('erased', erased);
    story.when(commit(say('a2')).expecting({ version: 7 }).under('nobody', 1)).thenRefuses('erased', erased);
    story.when(commit({ kind: 'conversation.create' })).thenRefuses('erased', erased);
    given(commit(say('a1')))
      .whenOvertaken(commit(say('a2')), commit(erase).at(AT))
      .thenRefuses('erased', erased);
  });

  test('erased again it answers as before', () => {
    given(commit(say('a1')), commit(erase))
      .when(commit(erase))
      .thenReplays(2);
  });

  test('what was erased is no source of a fork', () => {
    given(commit(...turn('t1')), commit(erase).at(AT))
      .when(commit(fork('c', 't1.q')).to('fork'))
      .thenRefuses('erased', erased);
    given(commit(...turn('t1')))
      .whenOvertaken(commit(fork('c', 't1.q')).to('fork'), commit(erase).at(AT))
      .thenRefuses('erased', erased);
  });

  test('erasing a fork sends the collector to its erased ancestors again, past the living', () => {
    const story = given(
      commit(...turn('t1')),
      commit(fork('c', 't1.q')).to('child'),
      commit(...turn('t2')).to('child'),
      commit(fork('child', 't2.q')).to('grandchild'),
      commit(erase),
    );
    const tombstone = story.seen('c').head;
    story.rows.putHead({ ...tombstone, collected: true });
    story.write(commit(erase).to('grandchild'));
    expect(story.seen('c').head).toEqual({ ...tombstone, collected: false });
    expect(story.seen('child').head).toMatchObject({ erasedAt: null, collected: false });
  });
});
