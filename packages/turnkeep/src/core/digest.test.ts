import { expect, test } from 'vitest';
import { sha256 } from '../platform/hash.ts';
import { chainAfter, chainStart, contentAddress, recordDigest, recordHolds, sealRecord } from './digest.ts';
import type { LogRecord } from './log.ts';

const log = (headerDigest: string, ...digests: readonly string[]): LogRecord => ({
  version: 1,
  at: 0,
  header: null,
  headerDigest,
  nonce: null,
  records: digests.map((digest) => ({ digest, nonce: null, body: null })),
});

test('a record holds exactly while words and nonce are those of its digest', () => {
  const sealed = sealRecord(sha256, 'nonce', { text: 'words' });
  expect(recordHolds(sha256, sealed)).toBe(true);
  expect(recordHolds(sha256, { ...sealed, body: '{"text":"other"}' })).toBe(false);
  expect(recordHolds(sha256, { ...sealed, nonce: 'other' })).toBe(false);
  expect(recordHolds(sha256, { ...sealed, digest: sha256('') })).toBe(false);
  expect(recordHolds(sha256, { ...sealed, body: null })).toBe(false);
  expect(recordHolds(sha256, { ...sealed, nonce: null })).toBe(false);
});

test('the same words under two nonces have two digests, so that a digest tells nobody what it says', () => {
  expect(recordDigest(sha256, 'one', 'words')).not.toBe(recordDigest(sha256, 'two', 'words'));
  expect(recordDigest(sha256, 'one', 'words')).not.toBe(recordDigest(sha256, 'on', 'e\nwords'));
});

test('the chain depends on all that came before, on the header, on each record and on their order', () => {
  const start = chainStart(sha256, 'c');
  const chain = chainAfter(sha256, start, log('h', 'a', 'b'));
  for (const other of [log('g', 'a', 'b'), log('h', 'b', 'a'), log('h', 'a'), log('h', 'a', 'b', 'c')]) {
    expect(chainAfter(sha256, start, other)).not.toBe(chain);
  }
  expect(chainAfter(sha256, chainStart(sha256, 'd'), log('h', 'a', 'b'))).not.toBe(chain);
  expect(chainAfter(sha256, start, log('h', 'a', 'b'))).toBe(chain);
});

test('a chain begins with its conversation, and content has an address of its own kind', () => {
  expect(chainStart(sha256, 'c')).not.toBe(chainStart(sha256, 'd'));
  expect(contentAddress(sha256, 'c')).not.toBe(sha256('c'));
});
