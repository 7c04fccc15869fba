import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerOver, NAMESPACE, TestSchema } from './postgres.testkit.ts';

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

const CORRUPT = { code: 'corrupt' };

async function say(ledger: Ledger, id: string, count: number, text = 'word'): Promise<void> {
  const conversation = ledger.namespace(NAMESPACE).conversation(id);
  for (let at = 0; at < count; at++)
    await conversation.append({
      messageId: `${id}${at}`,
      role: 'user',
      parts: [{ type: 'text', text: `${text} ${at}` }],
    });
}

/** Two conversations of a few messages, changed behind the store's back; opened anew, so that nothing of them is kept. */
async function damaged(sql: string): Promise<Ledger> {
  const before = ledgerOver(await schema.open());
  await say(before, 'a', 6);
  await say(before, 'b', 6);
  const turn = await before
    .namespace(NAMESPACE)
    .conversation('a')
    .submit({ prompt: [{ type: 'text', text: 'go' }] });
  await before
    .namespace(NAMESPACE)
    .conversation('a')
    .commit([{ kind: 'turn.advance', turnId: turn.turnId, to: 'running' }]);
  await before.close();
  await schema.rowsOf(sql);
  return ledgerOver(await schema.open());
}

const OF_A = `(SELECT c FROM $s.heads WHERE id = 'a')`;

describe('a text that is no JSON any more', () => {
  test.each([
    ['heads.head', `UPDATE $s.heads SET head = '{' || head WHERE id = 'a'`, 'table heads, conversation a'],
    ['heads.places', `UPDATE $s.heads SET places = '[' || places WHERE id = 'a'`, 'table heads, conversation a'],
    ['rows.v', `UPDATE $s.rows SET v = left(v, -1) WHERE c = ${OF_A}`, 'conversation a'],
    ['rows.v, empty', `UPDATE $s.rows SET v = '' WHERE c = ${OF_A}`, 'conversation a'],
  ])(
    'in %s is corrupt with its place, for readers and for who commits, and harms no neighbour',
    async (_, sql, place) => {
      const ledger = await damaged(sql);
      const namespace = ledger.namespace(NAMESPACE);
      const told = { ...CORRUPT, details: { place: expect.stringContaining(place) as unknown } };
      await expect(namespace.conversation('a').window(1)).rejects.toMatchObject(told);
      expect(await namespace.conversation('a').message('a1')).toMatchObject({ status: 'source_corrupt' });
      const [sent] = await Promise.allSettled([say(ledger, 'a', 1, 'another'), say(ledger, 'c', 1)]);
      expect(sent).toMatchObject({ status: 'rejected', reason: told });
      expect((await namespace.conversation('c').page()).messages.length).toBe(1);
      expect((await namespace.conversation('b').page()).messages.length).toBe(6);
      const { faults } = await ledger.verify();
      expect(faults).toContainEqual(
        expect.objectContaining({ kind: 'store', place: expect.stringContaining(place) as unknown }),
      );
    },
  );

  test.each([
    ['seals', `UPDATE $s.log SET seals = '[' || seals WHERE version = 2 AND c = ${OF_A}`],
    ['redactions', `UPDATE $s.log SET redactions = '{' WHERE version = 2 AND c = ${OF_A}`],
    ['words', `UPDATE $s.log SET words = '{' WHERE version = 2 AND c = ${OF_A}`],
    ['header', `UPDATE $s.log SET header = '{' WHERE version = 2 AND c = ${OF_A}`],
  ])('in log.%s is damage of that commit only', async (column, sql) => {
    const ledger = await damaged(sql);
    const { faults } = await ledger.verify();
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.filter(({ kind, place }) => kind !== 'chain' && !place.includes('version 2'))).toEqual([]);
    const lookUp = await ledger.namespace(NAMESPACE).conversation('a').message('a1');
    expect(lookUp.status).toBe(column === 'header' ? 'found_verified' : 'source_corrupt');
    await say(ledger, 'd', 1, 'it goes on');
  });

  test('in a sum of usage, or in what was added to one, is corrupt', async () => {
    const ledger = await damaged('SELECT 1');
    const namespace = ledger.namespace(NAMESPACE);
    await namespace.conversation('b').commit([{ kind: 'usage.record', provider: 'some', model: 'm', inputTokens: 1 }]);
    await schema.rowsOf(`UPDATE $s.additions SET v = '{'`);
    await expect(namespace.usage.total()).rejects.toMatchObject(CORRUPT);
    await expect(ledger.backend.catchUp()).rejects.toMatchObject(CORRUPT);
  });

  test('in a head is told by verify beside what does not fit its columns, and holds up neither cooling nor a rebuild', async () => {
    const ledger = await damaged(`UPDATE $s.heads SET head = '{' || head WHERE id = 'a'`);
    await schema.rowsOf(`UPDATE $s.heads SET owner = 'somebody' WHERE id = 'b'`);
    expect((await ledger.backend.verify()).map(({ kind, place }) => `${kind} ${place}`)).toEqual([
      `head_damaged namespace ${NAMESPACE}, conversation a`,
      `head_mismatch namespace ${NAMESPACE}, conversation b`,
      `recency_mismatch namespace ${NAMESPACE}, conversation b`,
    ]);
    expect(await ledger.backend.cool(NAMESPACE, { hotMessages: 1 })).toBe(5);
    await ledger.backend.rebuild();
    expect((await ledger.backend.verify()).map(({ kind }) => kind)).toEqual(['head_damaged', 'head_mismatch']);
  });
});

describe('a collection', () => {
  const block = (change: string) =>
    `UPDATE $s.blocks SET bytes = ${change} WHERE c = (SELECT c FROM $s.heads WHERE id = 'b')`;
  const flipped = block('set_byte(bytes, 20, get_byte(bytes, 20) # 1)');

  test('goes past what is damaged, tells what stays, and takes it once it can be read', async () => {
    const ledger = ledgerOver(await schema.open());
    const namespace = ledger.namespace(NAMESPACE);
    for (const id of ['a', 'b', 'c']) await say(ledger, id, 6, 'zanzibar');
    await ledger.backend.cool(NAMESPACE, { hotMessages: 2 });
    for (const id of ['a', 'b', 'c']) await namespace.conversation(id).erase();
    await schema.rowsOf(flipped);
    expect((await ledger.maintain()).rowsRemoved).toBeGreaterThan(0);
    expect(await schema.rowsOf(`SELECT id FROM $s.heads WHERE uncollected`)).toEqual([{ id: 'b' }]);
    expect(await schema.rowsOf(`SELECT 1 FROM $s.log WHERE words LIKE '%zanzibar%'`)).toEqual([]);
    expect(await schema.rowsOf(`SELECT 1 FROM $s.blocks WHERE dirty`)).toEqual([]);
    expect(await ledger.backend.examine()).toContainEqual({
      check: 'uncollected',
      status: 'problem',
      says: expect.stringMatching(
        /^namespace team: .*4 commits of conversation b, the first at archive block/,
      ) as string,
      advice: expect.stringContaining('turnkeep maintain') as string,
    });
    expect((await ledger.maintain()).rowsRemoved).toBe(0);
    await schema.rowsOf(flipped);
    await ledger.maintain();
    expect(await schema.rowsOf(`SELECT id FROM $s.heads WHERE uncollected`)).toEqual([]);
    expect((await ledger.backend.examine()).map(({ check }) => check)).not.toContain('uncollected');
    expect((await ledger.verify()).faults).toEqual([]);
  });

  test('goes past a block that holds words which went and cannot be read, and tells of it', async () => {
    const ledger = ledgerOver(await schema.open());
    const namespace = ledger.namespace(NAMESPACE);
    for (const id of ['a', 'b', 'c']) await say(ledger, id, 6);
    await ledger.backend.cool(NAMESPACE, { hotMessages: 2 });
    for (const id of ['a', 'b', 'c']) await namespace.conversation(id).redact(`${id}1`, { reason: 'private' });
    await schema.rowsOf(flipped);
    await ledger.maintain();
    const dirty = `SELECT h.id FROM $s.blocks b JOIN $s.heads h USING (ns, c) WHERE b.dirty`;
    expect(await schema.rowsOf(dirty)).toEqual([{ id: 'b' }]);
    const says = (await ledger.backend.examine()).map((finding) => finding.says);
    expect(says).toContainEqual(expect.stringContaining('cannot be read: archive block of conversation number'));
    await schema.rowsOf(flipped);
    await ledger.maintain();
    expect(await schema.rowsOf(dirty)).toEqual([]);
  });

  test('goes past a conversation whose head is damaged', async () => {
    const ledger = ledgerOver(await schema.open());
    const namespace = ledger.namespace(NAMESPACE);
    for (const id of ['a', 'b', 'c']) {
      await say(ledger, id, 3, 'zanzibar');
      await namespace.conversation(id).erase();
    }
    await schema.rowsOf(`UPDATE $s.heads SET head = '{' || head WHERE id = 'a'`);
    await schema.rowsOf(`UPDATE $s.rows SET v = '' WHERE c = (SELECT c FROM $s.heads WHERE id = 'b')`);
    await ledger.backend.collect(NAMESPACE);
    expect(await schema.rowsOf(`SELECT id FROM $s.heads WHERE uncollected ORDER BY id`)).toEqual([
      { id: 'a' },
      { id: 'b' },
    ]);
    const [told] = (await ledger.backend.examine()).filter(({ check }) => check === 'uncollected');
    expect(told?.says).toMatch(/conversation a, at table heads, conversation a; conversation b, at table rows, /);
  });
});
