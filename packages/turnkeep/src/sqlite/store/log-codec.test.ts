import { describe, expect, test } from 'vitest';
import type { LogRecord } from '../../core/log.ts';
import { nonce } from '../../platform/random.ts';
import { sha256 } from '../../platform/hash.ts';
import { lengthenHeader, shortenHeader } from './header-phrases.ts';
import { hasBodiesApart, packLog, unpackLog } from './log-codec.ts';

function roundTrip(log: LogRecord): LogRecord {
  const { columns, apart } = packLog(log);
  expect(hasBodiesApart(columns[2])).toBe(apart.length > 0);
  return unpackLog([log.version, log.at, ...columns], new Map(apart.map(({ index, body }) => [index, body])));
}

const HEADER = JSON.stringify({
  version: 3,
  commitId: 'cmt_01m8md2dk9f8cvgw2akprbdj7x',
  at: 1795981129321,
  leaf: 'turn_cmt_01m8md2dk9f8cvgw2akprbdj7x.0',
  graphRevision: 6,
  fingerprint: sha256('f'),
  nonce: nonce(),
  events: [
    { kind: 'turn.record', turnId: 'turn_cmt_01m8md2dk9f8cvgw2akprbdj7x.0', ordinal: 1, why: 'start', origin: 'bench' },
    {
      kind: 'message.append',
      messageId: 'msg_cmt_01m8md2dk9f8cvgw2akprbdj7x.1',
      turnId: 'turn_cmt_01m8md2dk9f8cvgw2akprbdj7x.0',
      sequence: 5,
      record: 0,
    },
    { kind: 'task.create', taskId: 'task', record: 1 },
  ],
});

const RECORD = { digest: sha256('a'), nonce: nonce(), body: '{"text":"word"}' };
const LOG: LogRecord = {
  version: 3,
  at: 1795981129321,
  header: HEADER,
  headerDigest: sha256(HEADER),
  nonce: nonce(),
  records: [RECORD],
};

describe('a header in short form', () => {
  test('takes less than half', () => {
    expect(shortenHeader(HEADER).length).toBeLessThan(HEADER.length / 2);
  });

  test.each([
    HEADER,
    '{"version":1,"commitId":"a","at":1,"leaf":"a","events":[{"kind":"a"}]}',
    '{"commitId":"$&"}',
    '{"commitId":"\\"quoted\\\\","turnId":"\\"quoted\\\\"}',
    '{"commitId":"{\\"version\\":","events":[]}',
    '{"commitId":"aa","x":"aaa"}',
    '{"x":"\\u0001\\u001f"}',
    '{}',
  ])('comes back to the byte: %s', (header) => {
    expect(lengthenHeader(shortenHeader(header))).toBe(header);
  });
});

describe('a log row gives back what was packed:', () => {
  test('short words and long ones', () => {
    const long = { ...RECORD, body: JSON.stringify('long '.repeat(400)) };
    const log = { ...LOG, records: [RECORD, long, RECORD, long] };
    expect(roundTrip(log)).toEqual(log);
  });

  test('no records', () => {
    const log = { ...LOG, records: [] };
    expect(roundTrip(log)).toEqual(log);
  });

  test('a record whose body is the mark of one that stands apart, and one of a plus alone', () => {
    const log = { ...LOG, records: [{ ...RECORD, body: '"+"' }] };
    expect(roundTrip(log)).toEqual(log);
  });

  test('words that are gone, redacted ones and an erased header', () => {
    const redaction = {
      reason: 'a person asked',
      at: 5,
      role: 'user' as const,
      replacement: { owner: 'c', version: 4, index: 0 },
    };
    const gone = { digest: RECORD.digest, nonce: null, body: null };
    const log: LogRecord = { ...LOG, header: null, records: [gone, { ...gone, redaction }, RECORD] };
    expect(roundTrip(log)).toEqual(log);
  });

  test('digests and nonces that are no bytes', () => {
    const log = {
      ...LOG,
      headerDigest: 'short',
      records: [
        { ...RECORD, nonce: 'nonce-1' },
        { digest: 'd', nonce: null, body: null },
      ],
    };
    expect(roundTrip(log)).toEqual(log);
  });

  test('digests that only look like bytes', () => {
    const log = { ...LOG, headerDigest: 'B'.repeat(43) };
    expect(roundTrip(log)).toEqual(log);
  });
});
