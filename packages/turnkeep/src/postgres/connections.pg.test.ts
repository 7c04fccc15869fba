import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { Client, Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { driverFault } from './driver/driver-errors.ts';
import { pgDriver, pgDriverOver } from './driver/driver-pg.ts';
import { envelope, NAMESPACE, TestSchema, turn, versionOf } from './postgres.testkit.ts';

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

describe('connections', () => {
  it('of one pool serve two stores', async () => {
    const other = await TestSchema.create();
    const pool = new Pool({ connectionString: schema.url, max: 1, ...PIPELINED });
    const stores = [await schema.open({}, pgDriverOver(pool)), await other.open({}, pgDriverOver(pool))];
    for (let at = 1; at <= 3; at++)
      for (const store of stores) expect((await store.commit(turn('c', `${at}`))).version).toBe(at);
    for (const store of stores) await store.close();
    await other.end();
    await pool.end();
  });

  it('are as many as were asked for, one if need be, and another one for who watches', async () => {
    const store = await schema.open({ commitTimeoutMs: 10_000 }, await oneConnection(schema.url));
    let heard = 0;
    const stop = store.onCommit(NAMESPACE, () => (heard += 1));
    const listens = `SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN "turnkeep_${schema.name}"'`;
    while ((await schema.rowsOf(listens)).length === 0) await new Promise((resolve) => setImmediate(resolve));
    await store.commit(turn('c', 'one'));
    expect(await versionOf(store, 'c')).toBe(1);
    expect(heard).toBeGreaterThan(0);
    stop();
  });

  it('that the server ends before they are put to work end nothing else', async () => {
    // The greeting and the end come as one, so that nobody can have begun to listen in between.
    const greeting = [message('R', [0, 0, 0, 0]), message('Z', [0x49]), message('E', [...fields('57P05')])];
    const server = await listening((socket) => socket.once('data', () => socket.end(Buffer.concat(greeting))));
    const driver = await pgDriver({ connectionString: `postgres://nobody@127.0.0.1:${portOf(server)}/none` });
    const session = await driver.connect();
    const failure = await session.run([{ name: 'ask', text: 'SELECT 1', values: [] }]).catch((error: unknown) => error);
    expect(driverFault(failure).kind).toBe('lost');
    session.destroy();
    await driver.close();
    server.close();
  });

  it('that are cut after a commit was sent, before its answer, leave it done once', async () => {
    await (await schema.open()).close();
    const cutter = await AnswerCutter.before(Number(new URL(schema.url).port));
    const store = await schema.open({ watch: 'poll' }, await schema.driver(cutter.url(schema.url)));
    for (let version = 1; version <= 12; version++) {
      cutter.cutsNext = version % 2 === 0;
      expect((await store.commit(turn('c', `${version}`))).version).toBe(version);
    }
    expect(await versionOf(store, 'c')).toBe(12);
    expect(cutter.cuts).toBe(6);
    await store.close();
    cutter.close();
  });

  it('that the server ends for a transaction that took too long are lost ones', () => {
    expect(driverFault({ code: '25P04' }).kind).toBe('lost');
  });
});

describe('a commit within', () => {
  it('no transaction is refused, and leaves nothing', async () => {
    const store = await schema.open();
    for (const options of [{}, PIPELINED]) {
      const client = new Client({ connectionString: schema.url, ...options });
      await client.connect();
      for (const id of ['known', 'new']) {
        if (id === 'known') await store.commit(turn(id, 'before'));
        const version = await versionOf(store, id);
        const refused = store.commitWithin(client, turn(id, 'a'));
        await expect(refused).rejects.toMatchObject({ code: 'invalid_value', details: { path: 'client' } });
        expect(await versionOf(store, id)).toBe(version);
      }
      await client.end();
    }
    expect(await schema.rowsOf(`SELECT id FROM $s.heads WHERE head = ''`)).toEqual([]);
    expect(await store.verify()).toEqual([]);
  });

  it('a transaction leaves its settings as they were, written or refused', async () => {
    const store = await schema.open();
    const client = await schema.client();
    const names = ['enable_seqscan', 'enable_hashjoin', 'array_nulls', 'plan_cache_mode', 'search_path'];
    const settings = `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`;
    await client.query('BEGIN');
    await client.query('SET LOCAL search_path TO public, pg_temp');
    const before = (await client.query(settings)).rows;
    await store.commitWithin(client, turn('c', 'one'));
    await expect(store.commitWithin(client, turn('c', 'two', { expect: { version: 7 } }))).rejects.toThrow('version');
    expect((await client.query(settings)).rows).toEqual(before);
    await client.query('COMMIT');
    expect(await versionOf(store, 'c')).toBe(1);
  });

  it('a transaction that is rolled back after its receipt leaves the next one in its place, kept or not', async () => {
    const store = await schema.open();
    await store.commit(turn('kept', 'one'));
    const client = await schema.client();
    for (const id of ['kept', 'new']) {
      await client.query('BEGIN');
      const { version } = await store.commitWithin(client, turn(id, 'gone'));
      await client.query('ROLLBACK');
      expect((await store.commit(turn(id, 'stays'))).version).toBe(version);
    }
    expect(await store.verify()).toEqual([]);
  });
});

describe('a commit within a transaction whose connection is lost', () => {
  /** A client in a transaction, and what ends its connection. */
  async function begun() {
    const client = new Client({ connectionString: schema.url });
    const lost = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    const [{ pid } = { pid: 0 }] = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
    await client.query('BEGIN');
    const end = async () => {
      await schema.rowsOf(`SELECT pg_terminate_backend(${pid})`);
      await lost;
    };
    return { client, end };
  }

  it('before it is sent, is told, and after its receipt is gone with it: the same commit is done once, later', async () => {
    const store = await schema.open();
    await store.commit(turn('c', 'one'));
    const [before, after] = [await begun(), await begun()];
    const commit = turn('c', 'two');
    await before.end();
    await expect(store.commitWithin(before.client, commit)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await store.commitWithin(after.client, commit)).toMatchObject({ version: 2, replayed: false });
    await after.end();
    await expect(after.client.query('COMMIT')).rejects.toThrow('not queryable');
    expect(await versionOf(store, 'c')).toBe(1);
    expect(await store.commit(commit)).toMatchObject({ version: 2, replayed: false });
    expect(await store.commit(commit)).toMatchObject({ version: 2, replayed: true });
    expect(await store.verify()).toEqual([]);
  });
});

it('a role that lacks a right is told at once, not when its time is up', async () => {
  const store = await schema.open();
  await store.commit(turn('c', 'one'));
  const role = `${schema.name}_reader`;
  const client = await schema.client();
  await client.query(`CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA "${schema.name}" TO ${role};
    GRANT SELECT ON ALL TABLES IN SCHEMA "${schema.name}" TO ${role}`);
  const url = new URL(schema.url);
  url.username = role;
  const options = { migrate: false, search: 'scan', commitTimeoutMs: 3_600_000 } as const;
  const reader = await schema.open(options, await schema.driver(url.href));
  expect(await versionOf(reader, 'c')).toBe(1);
  const refused = { code: 'store_unavailable', details: { reason: expect.stringContaining('42501') as string } };
  await expect(reader.commit(turn('c', 'two'))).rejects.toMatchObject(refused);
  await reader.close();
  await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
});

it('a database that cannot hold every text is refused untouched', async () => {
  const client = await schema.client();
  await client.query(`CREATE DATABASE ${schema.name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
  const url = new URL(schema.url);
  url.pathname = `/${schema.name}`;
  const driver = await pgDriver({ connectionString: url.href });
  await expect(schema.open({}, driver)).rejects.toMatchObject({ code: 'unsupported' });
  await driver.close();
  const inside = await schema.client(url.href);
  expect((await inside.query(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema.name}'`)).rows).toEqual([]);
  await inside.end();
  await client.query(`DROP DATABASE ${schema.name}`);
});

it('no function or operator that somebody else made is called, though it fits better than the one of Postgres', async () => {
  const client = await schema.client();
  const evil = `${schema.name}_evil`;
  const raises = `AS $$ BEGIN RAISE 'called'; END $$ LANGUAGE plpgsql`;
  await client.query(`CREATE SCHEMA ${evil};
    CREATE FUNCTION ${evil}.unnest(text[]) RETURNS SETOF text ${raises};
    CREATE FUNCTION ${evil}.cardinality(text[]) RETURNS integer ${raises};
    CREATE FUNCTION ${evil}.hashtextextended(text, integer) RETURNS bigint ${raises};
    CREATE FUNCTION ${evil}.quote_ident(name) RETURNS text ${raises};
    CREATE FUNCTION ${evil}.product(numeric, integer) RETURNS numeric ${raises};
    CREATE OPERATOR ${evil}.* (FUNCTION = ${evil}.product, LEFTARG = numeric, RIGHTARG = integer);
    CREATE ROLE ${evil} LOGIN SUPERUSER; ALTER ROLE ${evil} SET search_path = ${evil}`);
  const url = new URL(schema.url);
  url.username = evil;
  const store = await schema.open({ hotMessages: 1 }, await schema.driver(url.href));
  const made = `FROM pg_indexes WHERE schemaname = '${schema.name}' AND indexname = 'folded_words'`;
  const available = `(SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm')`;
  expect(await schema.rowsOf(`SELECT ${available} - count(*) AS lacks ${made}`)).toEqual([{ lacks: '0' }]);
  expect(await store.examine()).toBeInstanceOf(Array);
  for (const text of ['one', 'two', 'three']) await store.commit(turn('c', text));
  await store.cool(NAMESPACE);
  await store.commit(envelope('c', [{ kind: 'conversation.erase' }]));
  await store.collect(NAMESPACE);
  expect(await store.verify()).toEqual([]);
  expect((await store.search(NAMESPACE, { text: 'one', limit: 1 })).places).toEqual([]);
  await store.close();
  await client.query(`DROP SCHEMA ${evil} CASCADE`);
  await client.query(`DROP OWNED BY ${evil}; DROP ROLE ${evil}`);
});

it('settings of a role change nothing of what is kept and found', async () => {
  await (await schema.open()).close();
  const role = `${schema.name}_role`;
  const client = await schema.client();
  await client.query(`CREATE ROLE ${role} LOGIN SUPERUSER`);
  const settings = ['array_nulls = off', 'standard_conforming_strings = off', `search_path = 'pg_temp'`];
  const others = [
    'default_transaction_read_only = on',
    `default_transaction_isolation = 'serializable'`,
    `timezone = 'Asia/Kathmandu'`,
  ];
  for (const setting of [...settings, ...others, `datestyle = 'SQL, DMY'`, 'extra_float_digits = -15'])
    await client.query(`ALTER ROLE ${role} SET ${setting}`);
  const url = new URL(schema.url);
  url.username = role;
  const store = await schema.open({ watch: 'poll' }, await schema.driver(url.href));
  const words = 'a \\ "b" \\[1,2\\] łódź \u{1f600}';
  const message = { role: 'user', messageId: 'm1', parts: [{ type: 'text', text: words }] };
  await store.commit(envelope('c', [{ kind: 'message.append', message }]));
  await store.commit(turn('c', words));
  await store.cool(NAMESPACE, { hotMessages: 1 });
  const sought = { conversationId: 'c', messageId: 'm1' };
  const log = await store.read(NAMESPACE, (rows) => (rows.get('c', 'Mm1') ? rows.log('c', 1) : undefined), sought);
  expect(JSON.parse(log?.records[0]?.body ?? '{}')).toMatchObject({ parts: message.parts });
  expect(await schema.rowsOf('SELECT owner FROM $s.heads UNION SELECT owner FROM $s.recency')).toEqual([
    { owner: null },
  ]);
  expect(await store.verify()).toEqual([]);
  await store.close();
  await client.query(`DROP ROLE ${role}`);
});

const PIPELINED = { pipeline: true }; // its types do not know it

async function oneConnection(url: string) {
  const driver = await pgDriver({ connectionString: url, maxConnections: 1, connectTimeoutMs: 5_000 });
  return driver;
}

function message(type: string, body: readonly number[]): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}

/** The fields of an error that ends a connection. */
function fields(state: string): Buffer {
  return Buffer.from(`SFATAL\0C${state}\0Mended\0\0`);
}

async function listening(serve: (socket: Socket) => void): Promise<Server> {
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port; // it listens on a port
}

/** Stands before a server, and cuts a connection once the server has answered a commit: the answer is not passed on. */
class AnswerCutter {
  cutsNext = false;
  cuts = 0;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  static async before(port: number): Promise<AnswerCutter> {
    const cutter = new AnswerCutter();
    cutter.#server = await listening((client) => cutter.#serve(client, connect(port, '127.0.0.1')));
    return cutter;
  }

  url(server: string): string {
    const url = new URL(server);
    url.port = String(portOf(this.#server as Server));
    return url.href;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server?.close();
  }

  #serve(client: Socket, server: Socket): void {
    let answers: Buffer[] | undefined;
    client.on('data', (sent: Buffer) => {
      if (this.cutsNext && sent.includes('tk_commit')) {
        this.cutsNext = false;
        answers = [];
      }
      server.write(sent);
    });
    server.on('data', (answer: Buffer) => {
      if (!answers) return void client.write(answer);
      answers.push(answer);
      if (!Buffer.concat(answers).includes('COMMIT\0')) return undefined;
      this.cuts += 1;
      client.destroy();
      return void server.destroy();
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
    }
  }
}
