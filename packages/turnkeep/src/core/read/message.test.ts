import { describe, expect, test } from 'vitest';
import { fork, redact, say, text, turn } from '../changes.testkit.ts';
import { commit, given } from '../story.testkit.ts';
import type { Story } from '../story.testkit.ts';
import { messageById } from '../tree/messages.ts';
import { lookUpMessage, readMessageOr } from './message.ts';

const lookUp = (story: Story, messageId: string, id: string = 'c') => {
  const seen = story.seen(id);
  return lookUpMessage(seen.tree, seen.bodies, messageId);
};

describe('a message by its id', () => {
  test('is found and verified, on any path', () => {
    const story = given(
      commit(...turn('t1', [say('a1')])),
      commit(...turn('t2', [], { parent: null })).expecting({ graphRevision: 2 }),
    );
    expect(lookUp(story, 'a1')).toMatchObject({
      status: 'found_verified',
      message: { messageId: 'a1', turnId: 't1', conversationId: 'c', sequence: 2, parts: text('a1'), tier: 'hot' },
    });
  });

  test('is confirmed not to be there, though a relative has it', () => {
    const story = given(commit(...turn('t1', [say('a1'), say('a2')])), commit(fork('c', 'a1')).to('fork'));
    expect(lookUp(story, 'a1', 'fork')).toMatchObject({ status: 'found_verified', message: { conversationId: 'c' } });
    expect(lookUp(story, 'a2', 'fork')).toEqual({ status: 'not_found_confirmed' });
  });

  test('is said to be damaged where its words are not those of its digest', () => {
    const story = given(commit(say('a1')));
    const log = story.rows.log('c', 1);
    if (!log) throw new Error('a version has its log record');
    story.rows.putLog('c', { ...log, records: log.records.map((record) => ({ ...record, body: '{}' })) });
    expect(lookUp(story, 'a1')).toEqual({
      status: 'source_corrupt',
      place: 'conversation c, version 1, record 0',
      reason: 'the record does not match its digest',
    });
  });

  test('that was redacted is there without its words', () => {
    const story = given(commit(say('a1', undefined, { role: 'system' })), commit(redact('a1')).at(0));
    const redaction = { reason: 'asked', at: new Date(0).toISOString() };
    expect(lookUp(story, 'a1')).toMatchObject({
      status: 'found_verified',
      message: { role: 'system', parts: [], redaction },
    });
  });
});

test('a message that is damaged fails its reading, unless the reader asked to see it marked', () => {
  const story = given(commit(say('a1')));
  const log = story.rows.log('c', 1);
  if (!log) throw new Error('a version has its log record');
  story.rows.putLog('c', { ...log, records: log.records.map((record) => ({ ...record, body: '{}' })) });
  const { tree, bodies } = story.seen();
  const placed = messageById(tree, 'c', 'a1');
  if (!placed) throw new Error('the message has its row');
  expect(() => readMessageOr('refuse', tree, bodies, placed)).toThrow(expect.objectContaining({ code: 'corrupt' }));
  expect(readMessageOr('mark', tree, bodies, placed)).toMatchObject({
    messageId: 'a1',
    parts: [],
    damage: { reason: 'the record does not match its digest' },
  });
});
