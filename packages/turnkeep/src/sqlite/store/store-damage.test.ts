import { expect, test } from 'vitest';
import { openLedger } from '../../ledger/open.ts';
import { openDatabase } from '../driver/open-database.ts';
import { withStoreFile } from '../sqlite-backend.testkit.ts';

/** Makes a small store, changes it behind our back, and looks at it again. */
function afterDamage(sql: string, look: (ledger: Awaited<ReturnType<typeof openLedger>>) => Promise<void>) {
  return withStoreFile(async (path) => {
    const before = await openLedger(`sqlite:${path}`);
    for (const id of ['a', 'b']) {
      const conversation = before.namespace('n').conversation(id);
      for (let at = 0; at < 40; at++)
        await conversation.append({ role: 'user', parts: [{ type: 'text', text: `${at}` }] });
    }
    await before.backend.rebuild();
    await before.close();
    const database = openDatabase(path);
    database.exec(sql);
    database.close();
    const ledger = await openLedger(`sqlite:${path}`);
    await look(ledger);
    await ledger.close();
  });
}

test.each([
  ['heads', `UPDATE heads SET head = '{' || head WHERE id = 'a'`],
  ['heads', `UPDATE heads SET unfolded = '[' || unfolded WHERE id = 'a'`],
  ['tail', `UPDATE tail SET rows = 'x' || char(31) || '['`],
  ['rows', `UPDATE rows SET v = '{' || v`],
])('a text in %s that is no JSON any more is corrupt, and verify says so', (table, sql) =>
  afterDamage(sql, async (ledger) => {
    const conversation = ledger.namespace('n').conversation('a');
    await expect(conversation.window(1)).rejects.toMatchObject({
      code: 'corrupt',
      details: { place: expect.stringContaining(`table ${table}`) as unknown },
    });
    const { faults } = await ledger.verify();
    expect(faults).toContainEqual(
      expect.objectContaining({ kind: 'store', place: expect.stringContaining(`table ${table}`) as unknown }),
    );
  }),
);

/** Fields of each kind. */
const FIELDS = [
  'conversationId',
  'version',
  'graphRevision',
  'leaf',
  'busy',
  'chain',
  'messages',
  'archived',
  'erasedAt',
];

test.each<readonly [string, string]>([
  ...FIELDS.map(
    (field) => [`whose ${field} has another name`, `replace(head, '"${field}":', '"${field}~":')`] as const,
  ),
  ['that counts another version', `replace(head, '"version":40', '"version":41')`],
  ['that counts in words', `replace(head, '"messages":40', '"messages":"40"')`],
  ['that is null', `'null'`],
])('a head %s is corrupt, takes no commit, and verify says so', (_, changed) =>
  afterDamage(`UPDATE heads SET head = ${changed} WHERE id = 'a'`, async (ledger) => {
    const conversation = ledger.namespace('n').conversation('a');
    const corrupt = {
      code: 'corrupt',
      details: { place: expect.stringMatching(/^table heads|^conversation a/) as unknown },
    };
    await expect(conversation.append({ role: 'user', parts: [] })).rejects.toMatchObject(corrupt);
    await expect(conversation.info()).rejects.toMatchObject(corrupt);
    expect((await ledger.verify()).faults).not.toEqual([]);
    expect((await ledger.namespace('n').conversation('b').window(1)).messages).toHaveLength(1);
  }),
);

test('the header of a commit that is no JSON any more is corrupt, and verify goes on behind it', () =>
  afterDamage(`UPDATE log SET header = char(31) || '{' WHERE pos IN (3, 50)`, async (ledger) => {
    const watch = ledger.namespace('n').conversation('a').watch({ after: 2 });
    await expect(watch.next()).rejects.toMatchObject({
      code: 'corrupt',
      details: { reason: 'its header does not match its digest' },
    });
    const { faults, conversations } = await ledger.verify();
    expect(conversations).toBe(2);
    for (const id of ['a', 'b']) {
      expect(faults).toContainEqual(
        expect.objectContaining({ place: expect.stringContaining(`conversation ${id}`) as unknown }),
      );
    }
  }));

test('what stands at the place of a version is never taken for it', () =>
  afterDamage(
    `UPDATE places SET pos = pos + 40 WHERE c = (SELECT c FROM heads WHERE id = 'a') AND version = 5`,
    async (ledger) => {
      await expect(ledger.namespace('n').conversation('a').page()).rejects.toMatchObject({
        code: 'corrupt',
        details: { place: 'conversation a, version 5', reason: 'another commit stands at its place' },
      });
    },
  ));

/** The index was there before the damage, or was made anew of what is damaged. */
test.each(['before', 'anew'])('a search names words that are not what was written, with an index of %s', (index) =>
  afterDamage(`UPDATE log SET words = '{' WHERE version = 5`, async (ledger) => {
    if (index === 'anew') await ledger.backend.rebuild();
    const page = await ledger.namespace('n').search('4');
    expect(page.hits.length).toBeGreaterThan(0);
    const reason = 'record 0 does not match its digest';
    expect(page.damage).toContainEqual({ conversationId: 'a', version: 5, reason });
    expect((await ledger.namespace('n').search('in no message')).damage.length).toBe(index === 'anew' ? 2 : 0);
  }),
);

test('a header that was changed is not taken for what was written', () =>
  afterDamage(`UPDATE log SET header = replace(header, 'a', 'b') WHERE version = 5`, async (ledger) => {
    await expect(ledger.namespace('n').conversation('a').watch({ after: 4 }).next()).rejects.toMatchObject({
      code: 'corrupt',
      details: { reason: 'its header does not match its digest' },
    });
  }));

test.each([
  ['a namespace that is gone', 'DELETE FROM namespaces'],
  ['a conversation in another namespace', `UPDATE heads SET n = n + 1 WHERE id = 'a'`],
  ['a commit in another namespace', 'UPDATE log SET n = n + 1 WHERE pos = 1'],
])('verify sees %s', (_what, sql) =>
  afterDamage(sql, async (ledger) => {
    const { faults } = await ledger.verify();
    expect(faults.map(({ reason }) => reason)).toContainEqual(expect.stringContaining('wrong_namespace'));
  }),
);

test('verify sees an erased conversation that no collection would find, and one that none should', () =>
  withStoreFile(async (path) => {
    const before = await openLedger(`sqlite:${path}`);
    for (const id of ['a', 'b']) {
      await before
        .namespace('n')
        .conversation(id)
        .append({ role: 'user', parts: [{ type: 'text', text: id }] });
    }
    await before.namespace('n').conversation('a').erase();
    expect((await before.verify()).faults).toEqual([]);
    await before.close();
    const database = openDatabase(path);
    database.exec('UPDATE heads SET uncollected = 1 - uncollected');
    database.close();
    const ledger = await openLedger(`sqlite:${path}`);
    const { faults } = await ledger.verify();
    expect(faults.map(({ place }) => place)).toEqual(['conversation a', 'conversation b']);
    await ledger.close();
  }));

test('a collection goes past what is damaged, tells what stays, and takes it once it can be read', () =>
  withStoreFile(async (path) => {
    const ledger = await openLedger(`sqlite:${path}`);
    const namespace = ledger.namespace('n');
    for (const id of ['a', 'b', 'c']) {
      for (let at = 0; at < 6; at++)
        await namespace.conversation(id).append({ role: 'user', parts: [{ type: 'text', text: `zanzibar ${at}` }] });
    }
    await ledger.backend.cool('n', { hotMessages: 2 });
    for (const id of ['a', 'b', 'c']) await namespace.conversation(id).erase();
    await ledger.close();
    const before = changed(path, (bytes) => Buffer.from(bytes).fill(0, 20, 21));
    const damaged = await openLedger(`sqlite:${path}`);
    expect((await damaged.maintain()).rowsRemoved).toBeGreaterThan(0);
    expect(await damaged.backend.examine()).toContainEqual({
      check: 'uncollected',
      status: 'problem',
      says: expect.stringMatching(
        /^namespace n: .*cannot be read: 4 commits of conversation b, the first at archive block/,
      ) as string,
      advice: expect.stringContaining('turnkeep maintain') as string,
    });
    expect((await damaged.maintain()).rowsRemoved).toBe(0);
    await damaged.close();
    expect(uncollected(path)).toEqual(['b']);
    changed(path, () => before);
    const again = await openLedger(`sqlite:${path}`);
    await again.maintain();
    expect((await again.backend.examine()).map(({ check }) => check)).not.toContain('uncollected');
    expect((await again.verify()).faults).toEqual([]);
    await again.close();
    expect(uncollected(path)).toEqual([]);
  }));

/** Changes the archive block of conversation b, and answers it as it was. */
function changed(path: string, change: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  const database = openDatabase(path);
  const [b, bytes] = database
    .prepare(`SELECT b, bytes FROM blocks JOIN heads USING (c) WHERE heads.id = 'b'`)
    .get() as [number, Uint8Array];
  database.prepare('UPDATE blocks SET bytes = ? WHERE b = ?').run(change(bytes), b);
  database.close();
  return bytes;
}

function uncollected(path: string): readonly unknown[] {
  const database = openDatabase(path);
  const ids = database.prepare('SELECT id FROM heads WHERE uncollected = 1').all();
  database.close();
  return ids.flat();
}
