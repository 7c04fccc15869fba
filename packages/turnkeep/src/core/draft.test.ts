import { describe, expect, test } from 'vitest';
import { sha256 } from '../platform/hash.ts';
import { aim, promise, redact, say, submit, task, text, turn } from './changes.testkit.ts';
import { chainAfter, chainStart } from './digest.ts';
import { LIMITS } from './limits.ts';
import { commit, given } from './story.testkit.ts';
import type { Story } from './story.testkit.ts';
import { verifyConversation } from './verify/conversation.ts';

function faults(story: Story): readonly string[] {
  const found: string[] = [];
  let step = verifyConversation(story.rows, sha256, { namespace: 'n', conversationId: 'c' });
  for (;;) {
    found.push(...step.faults.map(({ kind }) => kind));
    if (!step.next) return found;
    step = verifyConversation(story.rows, sha256, { namespace: 'n', conversationId: 'c' }, step.next);
  }
}

describe('the log', () => {
  test('chains every commit over its header and its records', () => {
    const story = given(commit(say('a1')), commit(say('a2'), say('a3')), commit(...turn('t1')));
    let chain = chainStart(sha256, 'c');
    for (let version = 1; version <= 3; version++) {
      const log = story.rows.log('c', version);
      if (!log) throw new Error('a version has its log record');
      expect(sha256(log.header ?? '')).toBe(log.headerDigest);
      chain = chainAfter(sha256, chain, log);
    }
    expect(story.seen().head.chain).toBe(chain);
    expect(faults(story)).toEqual([]);
  });

  test('gives each record a nonce of its own, and the commit another', () => {
    const log = given(commit(say('a1'), say('a2'))).rows.log('c', 1);
    const nonces = [log?.nonce, ...(log?.records.map(({ nonce }) => nonce) ?? [])];
    expect(nonces).toEqual(['nonce 1 0', 'nonce 1 1', 'nonce 1 2']);
  });

  test('gives a nonce of its own to what a rule adds, too', () => {
    const log = given(commit(say('a1'), aim('one'), task('k1'), promise('p1'))).rows.log('c', 1);
    const nonces = [log?.nonce, ...(log?.records.map(({ nonce }) => nonce) ?? [])];
    expect(nonces).toHaveLength(5);
    expect(new Set(nonces).size).toBe(5);
  });

  test('a redaction keeps the chain, of this commit or of an earlier one', () => {
    const story = given(commit(say('a1'), redact('a1', 'gone')), commit(say('a2')), commit(redact('a2')));
    expect(faults(story)).toEqual([]);
    expect(story.rows.log('c', 1)?.records.map(({ body }) => body === null)).toEqual([true, false]);
    expect(story.rows.log('c', 2)?.records.map(({ body }) => body === null)).toEqual([true]);
  });

  test('words that were changed are found, and read as damage', () => {
    const story = given(commit(say('a1')), commit(say('a2')));
    const log = story.rows.log('c', 1);
    if (!log) throw new Error('a version has its log record');
    const [record] = log.records;
    if (!record) throw new Error('a message has its record');
    story.rows.putLog('c', { ...log, records: [{ ...record, body: record.body?.replace('a1', 'b1') ?? null }] });
    expect(faults(story)).toEqual(['record_digest']);
    expect(() => story.seen().messages()).toThrow(
      expect.objectContaining({
        code: 'corrupt',
        details: { place: 'conversation c, version 1, record 0', reason: 'the record does not match its digest' },
      }),
    );
    // A rule that needs those words does not go on without them.
    story.when(commit(say('a1'))).thenRefuses('corrupt', {
      place: 'conversation c, version 1, record 0',
      reason: 'the record does not match its digest',
    });
    story.rows.putLog('c', { ...log, records: [] });
    story.when(commit(say('a1'))).thenRefuses('corrupt', {
      place: 'conversation c, version 1, record 0',
      reason: 'the record is missing',
    });
  });
});

describe('what is too large is refused with the part at fault', () => {
  const words = (bytes: number) => text('x'.repeat(bytes));

  test('a record', () => {
    const fits = LIMITS.recordBytes - '{"role":"assistant","parts":[{"type":"text","text":""}]}'.length;
    given()
      .when(commit(say('a1', undefined, { parts: words(fits) })))
      .thenWrites();
    given()
      .when(commit(say('a1', undefined, { parts: words(fits + 1) })))
      .thenRefuses('limit_exceeded', {
        limit: 'recordBytes',
        max: LIMITS.recordBytes,
        actual: LIMITS.recordBytes + 1,
        path: 'commit.changes[0].message',
      });
    given()
      .when(commit(submit('t1', { prompt: words(fits + 100) })))
      .thenRefuses('limit_exceeded', {
        limit: 'recordBytes',
        max: LIMITS.recordBytes,
        actual: LIMITS.recordBytes + 95,
        path: 'commit.changes[0].prompt',
      });
  });

  test('a commit, all its records together', () => {
    const half = LIMITS.commitBytes / 2 - '{"role":"assistant","parts":[{"type":"text","text":""}]}'.length;
    const two = [say('a1', undefined, { parts: words(half) }), say('a2', undefined, { parts: words(half) })];
    given()
      .when(commit(...two))
      .thenWrites();
    given()
      .when(commit(...two, say('a3', undefined, { parts: [] })))
      .thenRefuses('limit_exceeded', {
        limit: 'commitBytes',
        max: LIMITS.commitBytes,
        actual: LIMITS.commitBytes + '{"role":"assistant","parts":[]}'.length,
        path: 'commit.changes[2].message',
      });
  });
});
