import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordDigest } from '../core/digest.ts';
import { isTurnkeepError } from '../core/errors.ts';
import type { LogRecord, StoredRecord } from '../core/log.ts';
import { sha256 } from '../platform/hash.ts';
import { Block, packBlock, packBlockAside } from './block.ts';

const NONCE = Buffer.alloc(16, 7).toString('base64url');
const DIGEST = sha256('something else');

function record(body: string, nonce = NONCE): StoredRecord {
  return { digest: recordDigest(sha256, nonce, body), nonce, body };
}

function commit(version: number, records: readonly StoredRecord[], header = `{"version":${version}}`): LogRecord {
  return { version, at: 1_700_000_000_000 + 7 * version, header, headerDigest: sha256(header), nonce: NONCE, records };
}

function cool(log: LogRecord): LogRecord {
  return { ...log, tier: 'cool' };
}

function corruption(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return isTurnkeepError(error, 'corrupt') ? error.details : error;
  }
  return undefined;
}

const words = fc.string({ unit: 'grapheme', maxLength: 40 });
const records = fc.array(
  fc.oneof(
    words.map((text) => record(JSON.stringify(text))),
    // Damaged: it must not come out whole.
    words.map((text): StoredRecord => ({ digest: DIGEST, nonce: NONCE, body: JSON.stringify(text) })),
    fc.constant<StoredRecord>({ digest: DIGEST, nonce: null, body: null }),
    words.map((reason): StoredRecord => ({
      digest: DIGEST,
      nonce: null,
      body: null,
      redaction: { reason, at: 5, role: 'user' },
    })),
    words.map((text) => record(JSON.stringify(text), 'a nonce of another shape')),
  ),
  { maxLength: 4 },
);
const gone = fc.record({ header: fc.boolean(), nonce: fc.boolean() });
const history = fc.array(fc.tuple(records, gone), { minLength: 1, maxLength: 12 }).map((commits) =>
  commits.map(([held, { header, nonce }], at): LogRecord => {
    const log = commit(at + 5, held);
    return {
      ...log,
      header: header ? null : log.header,
      headerDigest: header ? DIGEST : log.headerDigest,
      nonce: nonce ? null : log.nonce,
    };
  }),
);

describe('an archive block', () => {
  test('gives back every commit as it was put in, damage and gaps included', () => {
    fc.assert(
      fc.property(history, (logs) => {
        const block = Block.read(packBlock('c', logs), 'c', 'here');
        expect(block.logs()).toEqual(logs.map(cool));
        expect([block.first, block.last]).toEqual([5, 4 + logs.length]);
        expect([block.log(4), block.log(5 + logs.length)]).toEqual([undefined, undefined]);
      }),
    );
  });

  test('is the same whether it is compressed here or aside', async () => {
    const logs = [commit(1, [record('"a"')]), commit(2, [])];
    expect(await packBlockAside('c', logs)).toEqual(packBlock('c', logs));
  });

  test('says with its place that a byte of it is another', () => {
    const bytes = packBlock('c', [commit(1, [record('"some words"')])]);
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8((damaged[at] as number) ^ 0x20, at);
      expect(corruption(() => Block.read(damaged, 'c', 'here'))).toEqual({
        place: 'here',
        reason: 'the archive block does not match its digest',
      });
    }
    for (const length of [0, 1, 31, 40, bytes.length - 1])
      expect(corruption(() => Block.read(bytes.subarray(0, length), 'c', 'here'))).toMatchObject({ place: 'here' });
  });

  test('is refused at the place of another', () => {
    const bytes = packBlock('c', [commit(1, [])]);
    expect(corruption(() => Block.read(bytes, 'd', 'here'))).toEqual({
      place: 'here',
      reason: 'the archive block is that of c',
    });
  });

  test('keeps no digest that follows from its words', () => {
    const plain = [commit(1, [record('"some words"')])];
    const damaged = [commit(1, [{ ...record('"some words"'), digest: DIGEST }])];
    expect(packBlock('c', damaged).length).toBeGreaterThanOrEqual(packBlock('c', plain).length + 24);
  });
});
