import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { Row, RowRange, RowReader } from '../../core/backend.ts';
import { prefixEnd, TABLES } from '../../core/keys.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { Loader } from '../commit/loader.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import { packRows } from './pack.ts';
import type { PostgresBackend } from '../postgres-backend.ts';
import { envelope, Flaky, ledgerOver, NAMESPACE, Recorder, TestSchema, turn } from '../postgres.testkit.ts';
import { schemaNamed } from '../schema/schema-name.ts';
import { sha256 } from '../../platform/hash.ts';
import { Snapshot } from '../commit/snapshot.ts';
import { begin, commit, enterNamespace } from '../sql/transaction.ts';

let schema: TestSchema;
/** Two processes of one store. */
let ours: PostgresBackend;
let theirs: PostgresBackend;
let ledger: Ledger;

beforeEach(async () => {
  schema = await TestSchema.create();
  ours = await schema.open({ watch: 'poll' });
  theirs = await schema.open({ watch: 'poll' });
  ledger = ledgerOver(ours);
});

afterEach(async () => schema.end());

const ALL: RowRange = { from: '', to: prefixEnd('') };
const talk = (id = 'c') => ledger.namespace(NAMESPACE).conversation(id);

async function say(count: number, id = 'c', from = 0): Promise<void> {
  for (let at = from; at < from + count; at++) {
    const message = { messageId: `m${at}`, role: 'user', parts: [{ type: 'text', text: `word ${at}` }] } as const;
    await talk(id).record({ origin: 'test', messages: [message] });
  }
}

async function rowsOf(range: RowRange = ALL, id = 'c', backend = ours): Promise<readonly Row[]> {
  return backend.read(NAMESPACE, (rows) => rows.scan(id, range));
}

const packs = async () => schema.rowsOf(`SELECT first, last, body FROM $s.packed ORDER BY first`);
const unpacked = async () =>
  schema.rowsOf(`SELECT k FROM $s.rows r JOIN $s.heads h USING (ns, c) WHERE h.id = 'c' ORDER BY k`);

describe('rows of commits that have cooled', () => {
  it('are packed, those of the others are not, and a reading finds the same', async () => {
    await say(40);
    const before = await rowsOf();
    await ours.cool(NAMESPACE, { hotMessages: 10 });
    const left = (await unpacked()).map(({ k }) => k as string);
    expect(left.filter((key) => key.startsWith('M'))).toEqual(Array.from({ length: 10 }, (_, at) => `Mm${at + 30}`));
    expect(left.filter((key) => key.startsWith('c')).length).toBe(10);
    expect(left.filter((key) => key.startsWith(TABLES.branches)).length).toBe(1);
    expect((await packs()).map(({ first }) => (first as string)[0])).toEqual(['M', 'T', 'c', 'm', 'n', 't']);
    expect(await schema.rowsOf(`SELECT packs FROM $s.heads WHERE id = 'c'`)).toEqual([{ packs: 'MTcmnt' }]);
    for (const backend of [ours, theirs]) expect(await rowsOf(ALL, 'c', backend)).toEqual(before);
    expect((await ledger.verify()).faults).toEqual([]);
    expect(await ours.cool(NAMESPACE, { hotMessages: 10 })).toBe(0);
    expect((await unpacked()).length).toBe(left.length);
  });

  it('are found by key and by range, up and down, across the border, whatever the limit', async () => {
    await say(300);
    await ours.cool(NAMESPACE, { hotMessages: 20 });
    const all = await rowsOf();
    expect((await packs()).length).toBeGreaterThan(8);
    for (const table of ['', 'M', 'm', 't', 'n']) {
      const inTable = all.filter(({ key }) => key.startsWith(table));
      const bounds = [0, 1, 100, 270, 278, 280, 281, 299].map((at) => inTable[at]?.key ?? '');
      for (const from of bounds)
        for (const reverse of [false, true])
          for (const limit of [1, 12, 13, 50, undefined]) {
            const range = { from, to: prefixEnd(table), reverse, limit };
            const within = inTable.filter(({ key }) => key >= from);
            const expected = (reverse ? within.toReversed() : within).slice(0, limit);
            expect(await rowsOf(range)).toEqual(expected);
            // A range is loaded a little beyond its limit, and what was loaded answers the next one.
            const more = { ...range, limit: limit && limit + 8 };
            const both = (rows: RowReader) => rows.head('c') && [rows.scan('c', range), rows.scan('c', more)];
            const further = (reverse ? within.toReversed() : within).slice(0, more.limit);
            expect(await ours.read(NAMESPACE, both)).toEqual([expected, further]);
          }
    }
    for (const { key, value } of all.filter((_, at) => at % 37 === 0)) {
      expect(await ours.read(NAMESPACE, (rows) => rows.get('c', key))).toEqual(value);
      expect(await ours.read(NAMESPACE, (rows) => rows.get('c', `${key}0`))).toBeUndefined();
    }
  });

  it('give way to what a later commit writes, packed again or not', async () => {
    const finish = async () => {
      const { version } = await ours.commit(envelope('c', [{ kind: 'run.end', runId: 'run', status: 'completed' }]));
      const row = await ours.read(NAMESPACE, (rows) => rows.get('c', 'Rrun'));
      expect(row?.[0]).toBe('completed');
      return { version, row };
    };
    await ours.commit(envelope('c', [{ kind: 'run.start', runId: 'run', agent: 'a' }]));
    await say(20);
    await ours.cool(NAMESPACE, { hotMessages: 4 });
    expect((await unpacked()).map(({ k }) => k)).not.toContain('Rrun');
    const { row } = await finish();
    expect((await unpacked()).map(({ k }) => k)).toContain('Rrun');
    await say(20, 'c', 20);
    await ours.cool(NAMESPACE, { hotMessages: 4 });
    expect((await unpacked()).map(({ k }) => k)).not.toContain('Rrun');
    expect(await ours.read(NAMESPACE, (rows) => rows.get('c', 'Rrun'))).toEqual(row);
    expect((await ledger.verify()).faults).toEqual([]);
  });

  it('are there for who commits: nothing of them is taken for absent, by a process that kept the conversation before', async () => {
    const first = turn('c', 'first');
    const receipt = await ours.commit(first);
    await say(20);
    await theirs.commit(turn('c', 'theirs'));
    await ours.cool(NAMESPACE, { hotMessages: 2 });
    for (let at = 0; at < 12; at++) {
      await theirs.commit(turn('c', `theirs ${at}`));
      expect(await theirs.commit(first)).toEqual({ ...receipt, replayed: true });
      const again = {
        kind: 'message.append',
        message: { messageId: 'm3', role: 'user', parts: [{ type: 'text', text: 'x' }] },
      };
      await expect(
        theirs.commit(envelope('c', [{ kind: 'turn.record', origin: 'test' }, again])),
      ).rejects.toMatchObject({
        code: 'message_conflict',
      });
    }
    expect((await ledger.verify()).faults).toEqual([]);
  });

  it('take one round trip of a commit as others do, once what is kept knows of them', async () => {
    const recorder = new Recorder(await schema.driver());
    const backend = await schema.open({ watch: 'poll' }, recorder);
    await say(20);
    await ours.cool(NAMESPACE, { hotMessages: 2 });
    await backend.commit(turn('c', 'loads it'));
    for (let at = 0; at < 5; at++) {
      expect(await recorder.trips(() => backend.commit(turn('c', `more ${at}`)))).toBe(1);
    }
  });

  it('go when their conversation is erased, but for what a living fork sees', async () => {
    await say(30);
    await talk().fork('m9', { conversationId: 'f' });
    await ours.cool(NAMESPACE, { hotMessages: 2 });
    const seen = await talk('f').page();
    await talk().erase();
    await ledger.maintain();
    expect(await talk('f').page()).toEqual(seen);
    expect((await rowsOf()).filter(({ key }) => key.startsWith('m')).length).toBe(10);
    expect((await ledger.verify()).faults).toEqual([]);
    await talk('f').erase();
    await ledger.maintain();
    expect(await packs()).toEqual([]);
    expect((await ledger.verify()).faults).toEqual([]);
  });

  it('stay what they are where their words are redacted', async () => {
    await say(30);
    await ours.cool(NAMESPACE, { hotMessages: 2 });
    const before = await rowsOf({ from: 'm', to: prefixEnd('m') });
    await talk().redact('m3', { reason: 'private' });
    await ledger.maintain();
    expect(await rowsOf({ from: 'm', to: prefixEnd('m') })).toEqual(before);
    expect(await talk().message('m3')).toMatchObject({ message: { parts: [], tier: 'cool' } });
    expect((await ledger.verify()).faults).toEqual([]);
  });
});

describe('packing', () => {
  const store = async () => ({
    driver: await schema.driver(),
    ownsDriver: false,
    schema: schemaNamed(schema.name),
    sha256,
    place: 'test',
  });

  it('is done whole or not at all, wherever it is broken off', async () => {
    const flaky = new Flaky(await schema.driver());
    const backend = await schema.open({ watch: 'poll' }, flaky);
    await say(60);
    const before = await rowsOf();
    const [{ count: loose } = {}] = await schema.rowsOf(`SELECT count(*) FROM $s.rows`);
    for (let every = 1; every <= 24; every++) {
      flaky.every = every;
      await backend.cool(NAMESPACE, { hotMessages: 5 }).catch(() => 0);
      expect(await rowsOf()).toEqual(before);
      const [found] = await schema.rowsOf(
        `SELECT (SELECT count(*) FROM $s.rows) AS rows, (SELECT count(*) FROM $s.packed) AS packs`,
      );
      expect(found?.['packs'] === '0').toBe(found?.['rows'] === loose);
    }
    flaky.every = Number.MAX_SAFE_INTEGER;
    await backend.cool(NAMESPACE, { hotMessages: 5 });
    expect((await packs()).length).toBeGreaterThan(0);
    expect(await rowsOf()).toEqual(before);
    expect((await ledger.verify()).faults).toEqual([]);
  });

  it('by several at once, while others commit, leaves each row once', async () => {
    await say(40);
    const writing = Promise.all([
      ...Array.from({ length: 40 }, async (_, at) => ours.commit(turn('c', `ours ${at}`))),
      ...Array.from({ length: 40 }, async (_, at) => theirs.commit(turn('c', `theirs ${at}`))),
    ]);
    const cooling = Promise.all(
      [ours, theirs, ours, theirs].map(async (backend) => backend.cool(NAMESPACE, { hotMessages: 3 })),
    );
    await Promise.all([writing, cooling]);
    const twice = `SELECT k FROM $s.rows r JOIN $s.packed p USING (ns, c) WHERE strpos(p.body, E'\\x1e' || r.k || E'\\x1f') > 0`;
    expect(await schema.rowsOf(twice)).toEqual([]);
    await ours.cool(NAMESPACE, { hotMessages: 3 });
    const { messages } = await talk().page({ limit: 500 });
    expect(messages.length).toBe(40 + 80 * 2);
    expect((await ledger.verify()).faults).toEqual([]);
  });

  it('leaves a damaged row where it stands, and a damaged pack as it is', async () => {
    await say(20);
    await schema.rowsOf(`UPDATE $s.rows SET v = '' WHERE k = 'Mm3'`);
    await ours.cool(NAMESPACE, { hotMessages: 2 });
    expect((await unpacked()).map(({ k }) => k)).toContain('Mm3');
    expect(await talk().message('m3')).toMatchObject({ status: 'source_corrupt' });
    await schema.rowsOf(`UPDATE $s.packed SET body = replace(body, E'\\x1f', ' ') WHERE first LIKE 'T%'`);
    await say(20, 'c', 20);
    await ours.cool(NAMESPACE, { hotMessages: 2 });
    const told = (await ours.verify()).map(({ kind, place }) => `${kind} ${place}`);
    expect(told).toEqual([
      expect.stringMatching(/^packed_rows namespace team, conversation number \d+, packed from T/),
    ]);
    await expect(rowsOf({ from: 'T', to: 'U' })).rejects.toMatchObject({ code: 'corrupt' });
  });

  it.each([true, false])(
    'between two statements of a transaction hides nothing, its head seen before (%s)',
    async (isSeen) => {
      await say(30);
      const all = await rowsOf();
      const session = await (await schema.driver()).connect();
      await session.run([begin(), enterNamespace(NAMESPACE)]);
      const snapshot = new Snapshot();
      const loader = new Loader(schemaNamed(schema.name), NAMESPACE, snapshot, new Map());
      if (isSeen) await loader.load(session, [{ kind: 'head', conversation: 'c' }]);
      await ours.cool(NAMESPACE, { hotMessages: 2 });
      const range = { from: 'm', to: 'n', reverse: true, limit: 5 };
      await loader.load(session, [
        { kind: 'row', conversation: 'c', key: 'Mm3' },
        { kind: 'range', conversation: 'c', range },
      ]);
      await session.run([commit()]);
      session.release();
      expect(snapshot.get('c', 'Mm3')).toEqual(all.find(({ key }) => key === 'Mm3')?.value);
      const messages = all.filter(({ key }) => key.startsWith('m'));
      expect(snapshot.scan('c', range)).toEqual(messages.toReversed().slice(0, 5));
    },
  );

  it('goes on where a slice ended', async () => {
    await say(700);
    await ours.cool(NAMESPACE, { hotMessages: 600 });
    const before = await rowsOf();
    // As an older version left them.
    await schema.rowsOf(`UPDATE $s.rows SET version = 0`);
    const own = await store();
    const ends: (string | undefined)[] = [];
    for (let after: string | undefined = ''; after !== undefined; ends.push(after))
      after = await packRows(own, NAMESPACE, 'c', after);
    expect(ends.length).toBe(2);
    expect((await unpacked()).map(({ k }) => (k as string)[0])).toEqual(['b']);
    expect(await rowsOf()).toEqual(before);
    expect((await ledger.verify()).faults).toEqual([]);
  });

  it.each([
    ['overlap', `UPDATE $s.packed SET last = 'z' WHERE first LIKE 'M%'`],
    ['are in disorder', `UPDATE $s.packed SET body = body || E'\\x1eMm0\\x1f[0]' WHERE first LIKE 'M%'`],
    ['are not known to the head', `UPDATE $s.heads SET packs = 'T'`],
    ['have no conversation', `UPDATE $s.packed SET c = 1 WHERE first LIKE 'M%'`],
  ])('verify tells of packs that %s', async (_, sql) => {
    await say(20);
    await ours.cool(NAMESPACE, { hotMessages: 2 });
    await schema.rowsOf(sql);
    expect((await ours.verify()).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining([sql.includes('c = 1') ? 'orphan_rows' : 'packed_rows']),
    );
  });
});

test('a schema of before is brought forward: who does not know of packs cannot write, and its rows are packed with the next cooling', async () => {
  await say(60);
  await ours.cool(NAMESPACE, { hotMessages: 10 });
  const before = await rowsOf();
  await Promise.all([ours.close(), theirs.close()]);
  const at = MIGRATIONS.findIndex((step) => step.includes('CREATE TABLE $schema.packed'));
  for (const sql of [
    `INSERT INTO $s.rows SELECT p.ns, p.c, split_part(l, E'\\x1f', 1), split_part(l, E'\\x1f', 2), 0
      FROM $s.packed p, unnest(string_to_array(substr(body, 2), E'\\x1e')) l`,
    `DROP TABLE $s.packed`,
    `ALTER TABLE $s.rows DROP COLUMN version`,
    `ALTER TABLE $s.heads DROP COLUMN packs`,
    `UPDATE $s.store SET turnkeep_version = ${at}`,
  ])
    await schema.rowsOf(sql);
  ours = await schema.open({ watch: 'poll' });
  ledger = ledgerOver(ours);
  const old = `INSERT INTO $s.rows (ns, c, k, v) SELECT ns, c, 'Mold', '[0,0,1]' FROM $s.heads LIMIT 1`;
  await expect(schema.rowsOf(old)).rejects.toMatchObject({ code: '23502' });
  expect(await rowsOf()).toEqual(before);
  await say(5, 'c', 60);
  await ours.cool(NAMESPACE, { hotMessages: 10 });
  expect((await unpacked()).length).toBeLessThan(70);
  expect((await rowsOf()).length).toBe(before.length + 5 * 6);
  expect((await ledger.verify()).faults).toEqual([]);
});
