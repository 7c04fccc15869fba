import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pgDriver } from './driver/driver-pg.ts';
import { MIGRATIONS, TENANT_TABLES } from './schema/migrations.ts';
import { openPostgres } from './open.ts';
import type { PostgresBackend } from './postgres-backend.ts';
import { envelope, ledgerOver, NAMESPACE, Recorder, TestSchema, turn, versionOf } from './postgres.testkit.ts';

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

/** Everything that a store does, once, through a recorder. */
async function doEverything(): Promise<Recorder> {
  const recorder = new Recorder(await schema.driver());
  const backend = await schema.open({ watch: 'poll' }, recorder);
  recorder.flushes.length = 0;
  const namespace = ledgerOver(backend).namespace(NAMESPACE);
  const conversation = namespace.conversation('c');
  await backend.commit(turn('c', 'words to find', {}));
  await backend.commit(turn('c', 'more', { expect: { version: 1 } }));
  await backend.commit(envelope('c', [{ kind: 'state.update', stage: 'one' }]));
  await backend.commit(envelope('c', [{ kind: 'state.update', stage: 'two' }]));
  await namespace.conversation('c').usage.record({ provider: 'some', model: 'large', inputTokens: 3 });
  await namespace.usage.total();
  await backend.catchUp();
  const refused = backend.commit(turn('none', 'refused', { expect: { version: 7 } })).catch(() => undefined);
  await Promise.all([refused, backend.commit(turn('new', 'beside it'))]);
  const { messages } = await conversation.window(2);
  const at = messages.at(-1)?.messageId;
  await backend.commit(envelope('fork', [{ kind: 'conversation.fork', source: 'c', at }]));
  await backend.commit(envelope('fork', [{ kind: 'state.update', stage: 'three' }]));
  await backend.commit(envelope('c', [{ kind: 'message.redact', messageId: at, reason: 'gone' }]));
  for (const text of ['old', 'older']) await backend.commit(turn('c', text));
  await backend.cool(NAMESPACE, { hotMessages: 1 });
  await conversation.message('nobody');
  await conversation.page();
  for (let more = 0; more < 12; more++) await backend.commit(turn('c', `more ${more}`));
  for (const order of ['activity', 'created'] as const) {
    await namespace.page({ order });
    await namespace.page({ order, owner: 'me' });
  }
  await backend.feed(NAMESPACE, 0, 10);
  await namespace.search('find');
  await conversation.search('find');
  await worksWithSubAgents(backend);
  await keepsBytes(backend);
  const client = await schema.client();
  await client.query('BEGIN');
  await backend.commitWithin(client, turn('within', 'beside rows of somebody else'));
  await backend.commitWithin(client, envelope('fork', [{ kind: 'message.redact', messageId: at, reason: 'gone' }]));
  await client.query('COMMIT');
  await conversation.erase();
  await backend.examine();
  await backend.collect(NAMESPACE);
  await backend.verify();
  await backend.rebuild();
  await (await schema.open({ watch: 'poll', search: 'scan' }, recorder)).search(NAMESPACE, { text: 'find', limit: 5 });
  return recorder;
}

/** Looks at what is above a sub-agent, kept and not. */
async function worksWithSubAgents(backend: PostgresBackend): Promise<void> {
  const says = envelope('p', [{ kind: 'turn.submit', turnId: 't', prompt: [{ type: 'text', text: 'ask' }] }]);
  await backend.commit(says);
  await backend.commit(envelope('s', [{ kind: 'conversation.spawn', parent: { conversationId: 'p', turnId: 't' } }]));
  for (const text of ['one', 'two', 'three']) await backend.commit(turn('s', text));
}

/** Attachments that are kept, given up and cleared, and what lies beside the log. */
async function keepsBytes(backend: PostgresBackend): Promise<void> {
  const { attachments } = ledgerOver(backend).namespace(NAMESPACE);
  const { digest } = await attachments.put(new TextEncoder().encode('bytes'));
  await backend.attachments.part(NAMESPACE, digest, 0);
  const parts = [{ type: 'file', mediaType: 'text/plain', source: { attachment: digest } }];
  await backend.commit(
    envelope('file', [
      { kind: 'turn.record', origin: 'x' },
      { kind: 'message.append', message: { role: 'user', parts } },
    ]),
  );
  await attachments.put(new TextEncoder().encode('nobody refers to it'));
  await backend.attachments.add(NAMESPACE, { upload: 'u1', index: 0, bytes: new Uint8Array(3), now: 1 });
  await backend.attachments.add(NAMESPACE, { upload: 'u2', index: 0, bytes: new Uint8Array(3), now: 1 });
  await backend.attachments.discard(NAMESPACE, 'u1');
  await backend.attachments.collect(NAMESPACE, { now: Date.now() + 1_000, graceMs: 0 });
  const place = { namespace: NAMESPACE, conversationId: 'c', key: 'beat' };
  await backend.scratch.put(place, 'now');
  await backend.scratch.get(place);
  await backend.scratch.list(NAMESPACE);
  await backend.scratch.remove(place);
}

/** The names of all statements that there are. */
function statementNames(): readonly string[] {
  const folder = new URL('sql/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const names = files.flatMap((file) => readFileSync(new URL(file, folder), 'utf8').match(/tk_[a-z_]+/g) ?? []);
  return [...new Set(names)];
}

describe('every statement names the namespace', () => {
  it('that is really sent, but for the one that lists namespaces and those that only look at the catalog', async () => {
    const recorder = await doEverything();
    const statements = new Map(recorder.flushes.flat().map((statement) => [statement.name, statement]));
    const without: string[] = [];
    for (const { name, text, values } of statements.values()) {
      if (!text.includes(`"${schema.name}".`)) continue;
      const tables = text.match(/"\w+"\.(\w+)/g) ?? [];
      if (tables.every((table) => table.endsWith('.store'))) continue;
      // Each table that is read or changed is narrowed by the first parameter, which is the namespace.
      const narrowed = (text.match(/\bns = \$1|SELECT \$1, |VALUES \(\$1/g) ?? []).length;
      if (values[0] !== NAMESPACE || narrowed < tables.length) without.push(name);
    }
    expect(without).toEqual(['tk_list_namespaces']);
    const sent = [...statements.keys()];
    const unsent = statementNames().filter((name) => !sent.some((one) => one.startsWith(name)));
    // What begins a migration, and touches no table.
    expect(unsent).toEqual(['tk_trust']);
  });

  it('and every key begins with it', async () => {
    await schema.open();
    const client = await schema.client();
    const { rows } = await client.query<{ name: string; first: string }>(
      `SELECT i.indexrelid::regclass::text AS name, a.attname AS first FROM pg_index i
       JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
       JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
       WHERE n.nspname = $1 AND t.relname <> 'store'`,
      [schema.name],
    );
    const others = rows.filter(({ first }) => first !== 'ns').map(({ name }) => name);
    expect(others).toEqual([`${schema.name}.folded_words`]);
    expect(rows.length).toBeGreaterThan(TENANT_TABLES.length);
  });
});

describe('row-level security', () => {
  it('a role that owns nothing works in a namespace, and a statement without its where sees no other', async () => {
    const owner = await schema.open();
    await owner.commit(turn('theirs', 'secret'));
    const client = await schema.client();
    const role = `role_${schema.name}`;
    await client.query(`CREATE ROLE ${role} LOGIN`);
    try {
      await client.query(`GRANT USAGE ON SCHEMA "${schema.name}" TO ${role}`);
      await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema.name}" TO ${role}`);
      const url = new URL(schema.url);
      url.username = role;
      const backend = await schema.open({ migrate: false }, await schema.driver(url.href));
      const mine = { ...turn('mine', 'hello') };
      await backend.commit({ ...mine, commit: { ...mine.commit, namespace: 'mine' } });
      expect(await versionOf(backend, 'mine', 'mine')).toBe(1);
      expect(await backend.namespaces()).toEqual(['mine', NAMESPACE]);
      const app = await schema.client(url.href);
      for (const table of TENANT_TABLES) {
        expect((await app.query(`SELECT * FROM "${schema.name}".${table}`)).rows).toEqual([]);
      }
      await app.query(`SELECT set_config('turnkeep.namespace', 'mine', false)`);
      const seen = await app.query<{ ns: string }>(`SELECT ns FROM "${schema.name}".rows`);
      expect(new Set(seen.rows.map(({ ns }) => ns))).toEqual(new Set(['mine']));
      await expect(
        app.query(`INSERT INTO "${schema.name}".feed_ends VALUES ('${NAMESPACE}', 1, 1)`),
      ).rejects.toMatchObject({ code: '42501' });
    } finally {
      await client.query(`DROP OWNED BY ${role}`);
      await client.query(`DROP ROLE ${role}`);
    }
  });
});

describe('schemas', () => {
  it('ten that open a store at once make it once', async () => {
    const stores = await Promise.all(Array.from({ length: 10 }, async () => schema.open()));
    await Promise.all(stores.map(async (store, at) => store.commit(turn(`c${at}`, 'first'))));
    const client = await schema.client();
    const { rows } = await client.query(`SELECT turnkeep_version FROM "${schema.name}".store`);
    expect(rows).toEqual([{ turnkeep_version: MIGRATIONS.length }]);
  });

  it('one of a newer version is refused and left as it is', async () => {
    await schema.open();
    const client = await schema.client();
    await client.query(`UPDATE "${schema.name}".store SET turnkeep_version = 999`);
    const details = { found: 999, supported: MIGRATIONS.length };
    await expect(schema.open()).rejects.toMatchObject({ code: 'store_newer', details });
    const { rows } = await client.query(`SELECT turnkeep_version FROM "${schema.name}".store`);
    expect(rows).toEqual([{ turnkeep_version: 999 }]);
  });

  it('one of something else is refused', async () => {
    const client = await schema.client();
    await client.query(`CREATE SCHEMA "${schema.name}"`);
    await client.query(`CREATE TABLE "${schema.name}".users (id int)`);
    await expect(schema.open()).rejects.toMatchObject({ code: 'store_foreign' });
  });

  it('one that is not there is refused where it may not be made', async () => {
    await expect(schema.open({ migrate: false })).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('a name that is no plain identifier is refused', async () => {
    for (const name of ['', 'x"; DROP', 'Upper', 'pg_catalog', '1x', 'x'.repeat(49), 'information_schema']) {
      await expect(openPostgres(schema.url, { schema: name })).rejects.toMatchObject({ code: 'invalid_value' });
    }
  });

  it('a server that is not there is unavailable', async () => {
    const place = { connectionString: 'postgres://127.0.0.1:1/none', connectTimeoutMs: 500 };
    await expect(openPostgres(await pgDriver(place))).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

it('says whether row-level security holds for the role, and how far apart the clocks are', async () => {
  const backend = await schema.open({ watch: 'poll' });
  expect(await backend.examine()).toMatchObject([
    { check: 'format', status: 'ok', says: `schema ${MIGRATIONS.length}` },
    { check: 'server_clock', status: 'ok' },
    // The tests' own server lets them in as its superuser.
    { check: 'role', status: 'warning', says: expect.stringContaining('row-level security') as string },
  ]);
});
