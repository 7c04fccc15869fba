import { describe, expect, test } from 'vitest';
import type { Message } from '../core/read/message.ts';
import { Ledger } from '../ledger/ledger.ts';
import { openLedger } from '../ledger/open.ts';
import { openDatabase } from './driver/open-database.ts';
import { openSqlite } from './open.ts';
import { withStoreFile } from './sqlite-backend.testkit.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { mintCommitId } from '../platform/random.ts';

const MESSAGES = 40;
const HOT = 4;

async function say(ledger: Ledger, id: string, count = MESSAGES, length = 10): Promise<void> {
  const conversation = ledger.namespace('n').conversation(id);
  for (let at = 0; at < count; at++) {
    const text = `message ${at} of ${id} ${'and more words '.repeat(length)}`;
    await conversation.append({ messageId: `${id}${at}`, role: 'user', parts: [{ type: 'text', text }] });
  }
}

/** Two conversations of 40 messages, all but 4 of them cool. */
function withCooled(look: (path: string) => Promise<void>): Promise<void> {
  return withStoreFile(async (path) => {
    const ledger = await openLedger(`sqlite:${path}`);
    for (const id of ['a', 'b']) await say(ledger, id);
    expect(await ledger.backend.cool('n', { hotMessages: HOT })).toBe(2 * (MESSAGES - HOT));
    await ledger.close();
    await look(path);
  });
}

function behindItsBack(path: string, sql: string): readonly (readonly unknown[])[] {
  const database = openDatabase(path);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

async function readAll(ledger: Ledger, id: string): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const message of ledger.namespace('n').conversation(id).read({ damaged: 'mark' })) messages.push(message);
  return messages;
}

describe('cooled commits', () => {
  test('leave neither words nor seals in the log', () =>
    withCooled(async (path) => {
      const [cooled] = behindItsBack(
        path,
        `SELECT count(*) FROM log WHERE typeof(seals) = 'integer' AND header IS NULL AND words = ''`,
      );
      expect(cooled).toEqual([2 * (MESSAGES - HOT)]);
      expect(
        behindItsBack(
          path,
          'SELECT count(*) FROM bodies WHERE id / 262144 IN (SELECT pos FROM log WHERE header IS NULL)',
        ),
      ).toEqual([[0]]);
      expect(behindItsBack(path, 'SELECT c, first, last FROM blocks ORDER BY c')).toEqual([
        [1, 1, MESSAGES - HOT],
        [2, 1, MESSAGES - HOT],
      ]);
    }));

  test('verify like hot ones', () =>
    withCooled(async (path) => {
      const ledger = await openLedger(`sqlite:${path}`);
      expect((await ledger.verify()).faults).toEqual([]);
      await ledger.close();
    }));

  test('are damaged alone where their block is, and verify names each message', () =>
    withCooled(async (path) => {
      behindItsBack(path, `UPDATE blocks SET bytes = zeroblob(length(bytes)) WHERE c = 1 RETURNING b`);
      const ledger = await openLedger(`sqlite:${path}`);
      const [a, b] = [await readAll(ledger, 'a'), await readAll(ledger, 'b')];
      expect(a.map(({ damage }) => damage !== undefined)).toEqual(
        Array.from({ length: MESSAGES }, (_, at) => at < MESSAGES - HOT),
      );
      expect(a[0]?.damage).toEqual({
        place: `archive block 1, versions 1 to ${MESSAGES - HOT}`,
        reason: 'the archive block does not match its digest',
      });
      expect(b.every(({ damage }) => damage === undefined)).toBe(true);
      expect(await ledger.namespace('n').conversation('a').message('a3')).toMatchObject({ status: 'source_corrupt' });
      await say(ledger, 'c', 1);
      await ledger
        .namespace('n')
        .conversation('a')
        .append({ role: 'user', parts: [{ type: 'text', text: 'it goes on' }] });
      const { faults } = await ledger.verify();
      const named = faults.flatMap(({ affects }) => /^message (.*)$/.exec(affects)?.[1] ?? []);
      expect(named.sort()).toEqual(Array.from({ length: MESSAGES - HOT }, (_, at) => `a${at}`).sort());
      expect(faults.filter(({ place }) => place.includes('conversation b'))).toEqual([]);
      await ledger.close();
    }));

  test.each([
    ['a block that is missing', 'DELETE FROM blocks WHERE c = 1 RETURNING b', 'the archive block is missing'],
    [
      'a block at the place of another',
      'UPDATE blocks SET bytes = (SELECT bytes FROM blocks WHERE c = 2) WHERE c = 1 RETURNING b',
      'the archive block is that of conversation number 2',
    ],
  ])('%s is told', (_, sql, reason) =>
    withCooled(async (path) => {
      behindItsBack(path, sql);
      const ledger = await openLedger(`sqlite:${path}`);
      expect(await ledger.namespace('n').conversation('a').message('a3')).toMatchObject({
        status: 'source_corrupt',
        reason,
      });
      expect((await ledger.verify()).faults).toContainEqual(expect.objectContaining({ reason, affects: 'message a3' }));
      await ledger.close();
    }),
  );
});

describe('upkeep', () => {
  test('cools what is old by itself, a full block at a time', () =>
    withStoreFile(async (path) => {
      const backend = await openSqlite(path, { hotMessages: 8 });
      const ledger = new Ledger(backend, systemSurroundings, mintCommitId);
      await say(ledger, 'a', 60, 700);
      let cool = 0;
      while (cool < 24) cool = (await readAll(ledger, 'a')).filter(({ tier }) => tier === 'cool').length;
      expect(cool).toBeLessThanOrEqual(52);
      expect(behindItsBack(path, 'SELECT count(*) FROM blocks')[0]?.[0]).toBeGreaterThan(1);
      await ledger.close();
    }));
});
