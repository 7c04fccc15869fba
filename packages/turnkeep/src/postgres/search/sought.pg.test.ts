import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { numberKey } from '../../core/keys.ts';
import { Bodies } from '../../core/read/bodies.ts';
import { lookUpMessage, lookUpOfDamage } from '../../core/read/message.ts';
import type { MessageLookup } from '../../core/read/message.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { sha256 } from '../../platform/hash.ts';
import type { PostgresBackend } from '../postgres-backend.ts';
import { ledgerOver, NAMESPACE, Recorder, TestSchema } from '../postgres.testkit.ts';
import { numberKeyOf } from '../sql/number-key.ts';

let schema: TestSchema;
let recorder: Recorder;
let backend: PostgresBackend;
let ledger: Ledger;

beforeEach(async () => {
  schema = await TestSchema.create();
  recorder = new Recorder(await schema.driver());
  backend = await schema.open({ watch: 'poll' }, recorder);
  ledger = ledgerOver(backend);
});

afterEach(async () => schema.end());

const text = (words: string) => [{ type: 'text' as const, text: words }];
const talk = (id = 'c') => ledger.namespace(NAMESPACE).conversation(id);
const ODD = String.raw`a "quoted" \ id, [7,7] — ü`;

async function say(count: number, id = 'c'): Promise<void> {
  for (let at = 0; at < count; at++) {
    const message = { messageId: `m${at}`, role: 'user', parts: text(`word ${at}`) } as const;
    await talk(id).record({ origin: 'test', messages: [message] });
  }
}

/** What the reading answers that is not told what it will look up. */
async function longWay(conversationId: string, messageId: string): Promise<MessageLookup> {
  const reading = backend.read(NAMESPACE, (rows) => {
    const head = rows.head(conversationId);
    if (!head) throw new Error('there is no such conversation');
    return lookUpMessage({ rows, head }, new Bodies(rows, sha256), messageId);
  });
  return reading.catch(lookUpOfDamage);
}

test('a number is written as keys have it', async () => {
  const numbers = [0, 1, 9, 10, 35, 36, 1_295, 1_296, 46_655, 46_656, 36 ** 10 - 1, 36 ** 10, Number.MAX_SAFE_INTEGER];
  const rows = await schema.rowsOf(
    `SELECT ${numberKeyOf('n')} AS key FROM unnest('{${numbers.join(',')}}'::bigint[]) WITH ORDINALITY AS u (n, at) ORDER BY at`,
  );
  expect(rows.map(({ key }) => key)).toEqual(numbers.map(numberKey));
});

describe('a message by its id', () => {
  it('takes one round trip, hot and cooled, and where it is not there', async () => {
    await say(50);
    await backend.cool(NAMESPACE, { hotMessages: 5 });
    for (const [id, tier] of [
      ['m3', 'cool'],
      ['m49', 'hot'],
    ] as const) {
      expect(
        await recorder.trips(async () => expect(await talk().message(id)).toMatchObject({ message: { tier } })),
      ).toBe(1);
      expect(await talk().message(id)).toEqual(await longWay('c', id));
    }
    expect(await recorder.trips(() => talk().message('nobody'))).toBe(1);
    expect(await talk().message('nobody')).toEqual({ status: 'not_found_confirmed' });
    await expect(talk('nowhere').message('m1')).rejects.toMatchObject({ code: 'conversation_not_found' });
  });

  it('is the one that the long way finds: shared words, redacted ones, an odd id, a turn of many, one at the root', async () => {
    const end = async (turnId: string) => talk().commit([{ kind: 'turn.advance', turnId, to: 'completed' }]);
    await talk().append({ messageId: 'root', role: 'system', parts: text('be kind') });
    await talk().submit({ turnId: 'asked', prompt: text('ask'), messageId: ODD });
    await end('asked');
    const { graphRevision } = await talk().info();
    const regenerated = { turnId: 'again', parent: null, samePromptAs: 'asked', messageId: 'shared' };
    await talk().submit(regenerated, { expect: { graphRevision } });
    const append = (turnId: string, messageId: string) =>
      ({ kind: 'message.append', turnId, message: { messageId, role: 'assistant', parts: text(messageId) } }) as const;
    await talk().commit([append('again', 'first'), append('again', 'second')]);
    await end('again');
    await say(4);
    await talk().redact('m1', { reason: 'private', replacement: text('gone') });
    const ids = [ODD, 'shared', 'first', 'second', 'root', 'm0', 'm1', 'm3'];
    for (const hotMessages of [100, 1]) {
      await backend.cool(NAMESPACE, { hotMessages });
      for (const id of ids) {
        const found = await talk().message(id);
        expect(found.status).toBe('found_verified');
        expect(found).toEqual(await longWay('c', id));
      }
    }
  });

  it('is found where a fork inherits it, and not beyond its cut', async () => {
    await say(6);
    await talk().fork('m3', { conversationId: 'f' });
    await backend.cool(NAMESPACE, { hotMessages: 1 });
    expect(await talk('f').message('m2')).toEqual(await longWay('f', 'm2'));
    expect(await talk('f').message('m2')).toMatchObject({ status: 'found_verified', message: { conversationId: 'c' } });
    expect(await talk('f').message('m5')).toEqual({ status: 'not_found_confirmed' });
  });

  it.each([
    ['its row', `UPDATE $s.rows SET v = left(v, -1) WHERE k LIKE 'm%'`],
    ['the row of its id', `UPDATE $s.rows SET v = '' WHERE k LIKE 'M%'`],
    ['its turn', `UPDATE $s.rows SET v = '{' WHERE k LIKE 't%'`],
    ['its head', `UPDATE $s.heads SET head = '{' || head`],
    ['its record', `UPDATE $s.log SET seals = '{' WHERE block IS NULL`],
    ['its block', `UPDATE $s.blocks SET bytes = set_byte(bytes, 20, get_byte(bytes, 20) # 1)`],
    ['its block, which is gone', `DELETE FROM $s.blocks`],
  ])('is told to be damaged where %s is', async (_, sql) => {
    await say(6);
    await backend.cool(NAMESPACE, { hotMessages: 2 });
    await schema.rowsOf(sql);
    const found = [await talk().message('m1'), await talk().message('m5')];
    expect(found.some(({ status }) => status === 'source_corrupt')).toBe(true);
    expect(found).toEqual([await longWay('c', 'm1'), await longWay('c', 'm5')]);
  });
});

it('a window takes no round trip for each of its turns', async () => {
  await say(40);
  const flushes = await recorder.trips(async () => {
    const { messages } = await talk().window(30);
    expect(new Set(messages.map(({ turnId }) => turnId)).size).toBe(30);
  });
  expect(flushes).toBeLessThanOrEqual(7);
});
