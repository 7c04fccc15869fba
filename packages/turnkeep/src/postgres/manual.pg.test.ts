import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TENANT_TABLES } from './schema/migrations.ts';
import { NAMESPACE, TestSchema, turn, versionOf } from './postgres.testkit.ts';

const MANUAL = readFileSync(new URL('../../../../docs/backends/postgres.md', import.meta.url), 'utf8');
const BLOCKS = [...MANUAL.matchAll(/```sql\n([^`]+)```/g)].map(([, text = '']) => text);

let schema: TestSchema;

beforeEach(async () => {
  schema = await TestSchema.create();
});

afterEach(async () => schema.end());

/** A text of the manual for the schema and a role of this test. */
function here(text: string): string {
  const named = text
    .replaceAll(/\bturnkeep\.(?!namespace)/g, `${schema.name}.`)
    .replaceAll("'turnkeep'", `'${schema.name}'`);
  return named.replaceAll('SCHEMA turnkeep', `SCHEMA ${schema.name}`).replaceAll(/\bapp\b/g, `${schema.name}_app`);
}

/** The only code in the manual's lines that begins so. */
function code(start: string): string {
  const found = [...MANUAL.matchAll(/`([^`\n]+)`/g)]
    .map(([, text = '']) => text)
    .filter((text) => text.startsWith(start));
  expect([start, found.length]).toEqual([start, 1]);
  return found[0] as string;
}

/** Tables that have a column of text or of bytes which is no key. */
async function tablesWithContents(): Promise<readonly string[]> {
  const rows = await schema.rowsOf(`SELECT DISTINCT table_name AS name FROM information_schema.columns
    WHERE table_schema = '${schema.name}' AND data_type IN ('text', 'bytea') AND column_name IN
      ('v', 'words', 'header', 'seals', 'redactions', 'bytes', 'body', 'head', 'owner') ORDER BY 1`);
  return rows.map(({ name }) => name as string);
}

describe('docs/backends/postgres.md', () => {
  it('makes a role with which a store works', async () => {
    const [roles = ''] = BLOCKS.filter((text) => text.includes('CREATE ROLE'));
    await (await schema.open()).commit(turn('c', 'one'));
    const client = await schema.client();
    await client.query(here(roles));
    const url = new URL(schema.url);
    url.username = `${schema.name}_app`;
    const store = await schema.open({ migrate: false }, await schema.driver(url.href));
    await store.commit(turn('c', 'two'));
    expect(await versionOf(store, 'c')).toBe(2);
    await store.close();
    await client.query(`DROP OWNED BY ${schema.name}_app; DROP ROLE ${schema.name}_app`);
  });

  it('asks a server what it can answer', async () => {
    const store = await schema.open({ watch: 'poll' });
    for (const text of ['one', 'two']) await store.commit(turn('c', text));
    const questions = BLOCKS.filter((text) => text.includes('pg_stat_activity')).flatMap((text) => text.split(/;\n/));
    const client = await schema.client();
    await client.query(`SET turnkeep.namespace = '${NAMESPACE}'`);
    const answers: unknown[][] = [];
    for (const question of questions.filter((text) => text.trim() !== ''))
      answers.push((await client.query(here(question))).rows);
    expect(answers.length).toBe(4);
    expect(answers[2]?.length).toBe(TENANT_TABLES.length + 1);
    expect(answers[3]).toEqual([{ count: '2' }]);
  });

  it('names every table that holds words where it has their bytes removed', async () => {
    await (await schema.open()).close();
    const vacuum = code('VACUUM FULL ');
    const named = [...vacuum.matchAll(/turnkeep\.(\w+)/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(await tablesWithContents()));
    await (await schema.client()).query(here(vacuum));
  });

  it('sets what the server takes', async () => {
    const client = await schema.client();
    const [database] = (await client.query<{ name: string }>('SELECT current_database() AS name')).rows;
    const lz4 = `SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)`;
    const hasLz4 = (await client.query(lz4)).rows.length > 0;
    await client.query('BEGIN');
    if (hasLz4) await client.query(code('ALTER DATABASE').replace('…', `"${database?.name}"`));
    await client.query('ROLLBACK');
    for (const name of ['autovacuum_vacuum_cost_limit', 'synchronous_commit', 'fsync', 'full_page_writes']) {
      expect(MANUAL).toContain(`\`${name}`);
      expect((await client.query(`SHOW ${name}`)).rows.length).toBe(1);
    }
  });

  it('names every table of a namespace where it tells of them, and where it spreads them', () => {
    const [, sizes = ''] = /## Tables and size\n([^#]+)/.exec(MANUAL) ?? [];
    const described = [...sizes.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []);
    expect(described.toSorted()).toEqual(TENANT_TABLES.toSorted());
    const [, citus = ''] = /\*\*Citus\*\*([^*]+)\*\*/.exec(MANUAL) ?? [];
    const spread = [...citus.matchAll(/`(?:[^`]*'turnkeep\.)?(\w+)'?[^`]*`/g)].map(([, name = '']) => name);
    expect(new Set(spread.filter((name) => TENANT_TABLES.includes(name)))).toEqual(new Set(TENANT_TABLES));
  });
});
