import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../ledger/ledger.ts';
import { readBlock } from './blocks.ts';
import { ledgerOver, NAMESPACE, TestSchema } from '../postgres.testkit.ts';

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

async function say(ledger: Ledger, count: number, length = 1): Promise<void> {
  const conversation = ledger.namespace(NAMESPACE).conversation('c');
  for (let at = 0; at < count; at++) {
    const text = `message ${at} zanzibar ${'and more words '.repeat(length)}`;
    await conversation.append({ messageId: `m${at}`, role: 'user', parts: [{ type: 'text', text }] });
  }
}

test('a cooled commit leaves its place in the log and nothing else', async () => {
  const ledger = ledgerOver(await schema.open());
  await say(ledger, 6);
  await ledger.backend.cool(NAMESPACE, { hotMessages: 2 });
  expect(await schema.rowsOf(`SELECT header, seals, words, block FROM $s.log WHERE version < 5`)).toEqual(
    Array.from({ length: 4 }, () => ({ header: null, seals: '[]', words: '', block: '1' })),
  );
  expect(await schema.rowsOf(`SELECT first, last, dirty FROM $s.blocks`)).toEqual([
    { first: '1', last: '4', dirty: false },
  ]);
  expect((await ledger.verify()).faults).toEqual([]);
});

test('I10: words that go are in no block after maintenance', async () => {
  const ledger = ledgerOver(await schema.open());
  const conversation = ledger.namespace(NAMESPACE).conversation('c');
  await say(ledger, 6);
  await ledger.backend.cool(NAMESPACE, { hotMessages: 1 });
  await conversation.redact('m1', { reason: 'private' });
  await conversation.redact('m3', { reason: 'private' });
  await ledger.backend.collect(NAMESPACE);
  const [row] = await schema.rowsOf(`SELECT c, first, last, encode(bytes, 'base64') AS bytes, dirty FROM $s.blocks`);
  expect(row).toMatchObject({ dirty: false });
  const place = { c: String(row?.['c']), first: Number(row?.['first']) };
  const block = readBlock(NAMESPACE, place, [row?.['c'], row?.['first'], row?.['last'], row?.['bytes']]);
  expect(block.logs().map(({ records }) => records[0]?.body?.includes('zanzibar') ?? false)).toEqual([
    true,
    false,
    true,
    false,
    true,
  ]);
  expect(await schema.rowsOf(`SELECT version FROM $s.log WHERE words <> '' AND version < 6`)).toEqual([]);
  expect(await conversation.message('m1')).toMatchObject({
    status: 'found_verified',
    message: { parts: [], tier: 'cool' },
  });
  expect((await ledger.verify()).faults).toEqual([]);
});

test('a damaged block takes its own messages with it, and verify names each', async () => {
  const ledger = ledgerOver(await schema.open());
  await say(ledger, 5);
  await ledger.backend.cool(NAMESPACE, { hotMessages: 2 });
  await schema.rowsOf(`UPDATE $s.blocks SET bytes = set_byte(bytes, 20, get_byte(bytes, 20) # 1)`);
  const conversation = ledger.namespace(NAMESPACE).conversation('c');
  const { messages } = await conversation.page({ damaged: 'mark' });
  expect(messages.map(({ damage }) => damage?.reason)).toEqual([
    ...Array.from({ length: 3 }, () => 'the archive block does not match its digest'),
    undefined,
    undefined,
  ]);
  await conversation.append({ role: 'user', parts: [{ type: 'text', text: 'it goes on' }] });
  const named = (await ledger.verify()).faults.flatMap(({ affects }) => /^message (.*)$/.exec(affects)?.[1] ?? []);
  expect(named).toEqual(['m0', 'm1', 'm2']);
});

test('old commits cool by themselves, a full block at a time, and their rows are packed', async () => {
  const backend = await schema.open({ hotMessages: 8 });
  const ledger = ledgerOver(backend);
  await say(ledger, 130, 300);
  let blocks = 0;
  while (blocks < 2) blocks = (await schema.rowsOf(`SELECT 1 FROM $s.blocks`)).length;
  const { messages } = await ledger.namespace(NAMESPACE).conversation('c').page({ limit: 200 });
  const cool = messages.findLastIndex(({ tier }) => tier === 'cool') + 1;
  expect(cool).toBeLessThanOrEqual(122);
  expect(messages.slice(0, cool).every(({ tier }) => tier === 'cool')).toBe(true);
  await backend.close();
  const last = `(SELECT max(last) FROM $s.blocks)`;
  expect((await schema.rowsOf(`SELECT 1 FROM $s.packed`)).length).toBeGreaterThan(2);
  expect(await schema.rowsOf(`SELECT k FROM $s.rows WHERE version <= ${last} AND left(k, 1) <> 'b'`)).toEqual([]);
});
