import { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPostgres, openPostgresUrl } from '../open.ts';
import type { PostgresBackend } from '../postgres-backend.ts';
import { envelope, ledgerOver, NAMESPACE, TestSchema, turn, versionOf } from '../postgres.testkit.ts';
import { pgDriver, pgDriverOver } from './driver-pg.ts';
import { TransactionPooler } from './pooler.testkit.ts';

let schema: TestSchema;
let pooler: TransactionPooler;

beforeEach(async () => {
  schema = await TestSchema.create();
  pooler = await TransactionPooler.before(schema.url);
});

afterEach(async () => {
  pooler.close();
  await schema.end();
});

/** Commits, reads, follows, searches, cools, erases. */
async function doesItsWork(store: PostgresBackend): Promise<void> {
  const namespace = ledgerOver(store).namespace(NAMESPACE);
  const all = Array.from({ length: 40 }, async (_, at) => store.commit(turn(`c${at % 10}`, `needle ${at}`)));
  await Promise.all(all);
  for (let at = 0; at < 10; at++) expect(await versionOf(store, `c${at}`)).toBe(4);
  const { messages } = await namespace.conversation('c0').page();
  await store.commit(envelope('fork', [{ kind: 'conversation.fork', source: 'c0', at: messages.at(-1)?.messageId }]));
  expect((await store.feed(NAMESPACE, 0, 100)).length).toBe(41);
  expect((await namespace.search('needle 39')).hits.length).toBe(2);
  const events = namespace.watch();
  for (let heard = 0; heard < 41; heard++) await events.next();
  await events.return(undefined);
  await store.cool(NAMESPACE, { hotMessages: 2 });
  await store.commit(envelope('c1', [{ kind: 'conversation.erase' }]));
  await store.collect(NAMESPACE);
  await store.catchUp();
  expect(await store.verify()).toEqual([]);
}

describe('behind a pooler that gives each transaction another connection', () => {
  it('a store that prepares no statement does its work', async () => {
    const store = await openPostgres(
      { connectionString: pooler.url(schema.url), prepare: false },
      { schema: schema.name, watch: 'poll' },
    );
    await doesItsWork(store);
    await store.close();
    expect(pooler.resets).toBeGreaterThan(50);
  });

  it('so does one that a URL names', async () => {
    const store = await openPostgresUrl(`${pooler.url(schema.url)}?schema=${schema.name}&prepare=false&watch=poll`);
    await doesItsWork(store);
    await store.close();
    expect(pooler.resets).toBeGreaterThan(50);
  });

  it('so does one over a pool of the caller, and a commit within the caller’s transaction', async () => {
    const pool = new Pool({ connectionString: pooler.url(schema.url), max: 3 });
    const store = await schema.open({ watch: 'poll' }, pgDriverOver(pool, { prepare: false }));
    for (let version = 1; version <= 3; version++) {
      const client = await pool.connect();
      await client.query('BEGIN');
      expect((await store.commitWithin(client, turn('within', `${version}`))).version).toBe(version);
      await client.query('COMMIT');
      client.release();
    }
    await store.close();
    await pool.end();
  });

  it('one that prepares them is told what to do, and has lost nothing', async () => {
    const direct = await schema.open({ watch: 'poll' });
    const refused = {
      code: 'store_unavailable',
      details: { reason: expect.stringContaining('prepare: false') as string },
    };
    const driver = await pgDriver({ connectionString: pooler.url(schema.url), maxConnections: 1 });
    const store = await openPostgres(driver, { schema: schema.name, watch: 'poll' });
    await store.commit(turn('c', 'what is sent for the first time is prepared'));
    await expect(store.commit(turn('c', 'and gone'))).rejects.toMatchObject(refused);
    await expect(store.feed(NAMESPACE, 0, 1).then(() => store.feed(NAMESPACE, 0, 1))).rejects.toMatchObject(refused);
    expect(await versionOf(direct, 'c')).toBe(1);
    await store.close();
    await driver.close();
    expect(await direct.verify()).toEqual([]);
  });
});

it('what a URL says of a pooler is one of what there is', async () => {
  for (const option of ['prepare=no', 'watch=never'])
    await expect(openPostgresUrl(`${schema.url}?schema=${schema.name}&${option}`)).rejects.toMatchObject({
      code: 'invalid_value',
    });
});

it('a statement has one name for one text, whoever else is given the connection', async () => {
  const driver = await schema.driver();
  const client = await schema.client();
  const connection = driver.adopt(client);
  await connection.run([{ name: 'tk_same', text: 'SELECT 1', values: [] }]);
  const other = await schema.driver();
  const session = await other.connect();
  await session.run([{ name: 'tk_same', text: 'SELECT 2', values: [] }]);
  const named = `SELECT name FROM pg_prepared_statements WHERE name LIKE 'tk_same%'`;
  const [[ours] = []] = await session.run([{ name: 'names', text: named, values: [] }]);
  const [theirs] = (await client.query<{ name: string }>(named)).rows;
  expect(String(ours?.[0])).toMatch(/^tk_same_/);
  expect(theirs?.name).toMatch(/^tk_same_/);
  expect(theirs?.name).not.toBe(ours?.[0]);
  session.release();
});
