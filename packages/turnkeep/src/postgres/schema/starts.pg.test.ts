import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testPostgresUrl } from '../../testing/postgres-server.ts';
import { MIGRATIONS } from './migrations.ts';

// Processes that start at once in a database that nobody has used: nothing is there, neither schema nor extension.

let admin: Client;
let client: Client;
let url: string;

beforeEach(async () => {
  const server = new URL(await testPostgresUrl());
  admin = new Client({ connectionString: server.href });
  await admin.connect();
  const name = `start_${randomBytes(6).toString('hex')}`;
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  server.pathname = name;
  url = server.href;
  client = new Client({ connectionString: url });
  await client.connect();
});

afterEach(async () => {
  await client.end();
  await admin.query(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
  await admin.end();
});

/** Has a process open each of some schemas, all at once; answers at which version each came into the conversation of all. */
async function start(schemas: readonly string[]): Promise<readonly number[]> {
  const script = fileURLToPath(new URL('./start-child.testkit.js', import.meta.url));
  const children = schemas.map((schema, at) => {
    const child = spawn(process.execPath, [script, url, schema, String(at)], { stdio: ['pipe', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (words: string) => (errors += words));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const says = async (): Promise<string> => {
      const line = await lines.next();
      if (line.done === true) throw new Error(`process ${at} of ${schema} ended: ${errors}`);
      return line.value;
    };
    return { child, says };
  });
  for (const { says } of children) expect(await says()).toBe('ready');
  for (const { child } of children) child.stdin.write('go\n');
  return Promise.all(
    children.map(async ({ child, says }) => {
      const [, version] = /^(\d+) of some$/.exec(await says()) ?? [];
      if (child.exitCode === null) await once(child, 'close');
      return Number(version);
    }),
  );
}

async function versionOf(schema: string): Promise<unknown> {
  return (await client.query<{ turnkeep_version: number }>(`SELECT * FROM ${schema}.store`)).rows[0]?.turnkeep_version;
}

/** A schema as a build left it that knew so many steps, and nothing in it. */
async function older(schema: string, steps: number): Promise<void> {
  await client.query(`CREATE SCHEMA ${schema}`);
  await client.query(`CREATE TABLE ${schema}.store (
    "only" boolean PRIMARY KEY DEFAULT true CHECK ("only"), turnkeep_version integer NOT NULL)`);
  await client.query(`INSERT INTO ${schema}.store (turnkeep_version) VALUES (${steps})`);
  for (const step of MIGRATIONS.slice(0, steps)) await client.query(step.replaceAll('$schema', schema));
}

const TEN = Array.from({ length: 10 }, (_, at) => at + 1);

it('ten processes make the schema once, and all of them commit', async () => {
  const versions = await start(TEN.map(() => 'turnkeep'));
  expect(versions.toSorted((left, right) => left - right)).toEqual(TEN);
  expect(await versionOf('turnkeep')).toBe(MIGRATIONS.length);
}, 120_000);

it('ten processes bring an older schema forward once', async () => {
  await older('turnkeep', 1);
  const versions = await start(TEN.map(() => 'turnkeep'));
  expect(versions.toSorted((left, right) => left - right)).toEqual(TEN);
  expect(await versionOf('turnkeep')).toBe(MIGRATIONS.length);
}, 120_000);

it('ten processes of four schemas, new and old, do not meet', async () => {
  await older('one', MIGRATIONS.length - 1);
  await older('two', 2);
  const schemas = ['one', 'two', 'three', 'four', 'one', 'two', 'three', 'four', 'one', 'two'];
  const versions = await start(schemas);
  const ofEach = (schema: string) =>
    versions.filter((_, at) => schemas[at] === schema).toSorted((left, right) => left - right);
  expect(['one', 'two', 'three', 'four'].map(ofEach)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
    [1, 2],
    [1, 2],
  ]);
  for (const schema of schemas) expect(await versionOf(schema)).toBe(MIGRATIONS.length);
}, 120_000);
