import { TurnkeepError } from '../../core/errors.ts';
import type { Session, Statement } from '../driver/driver.ts';
import { endFailed } from '../driver/end-session.ts';
import { MIGRATIONS, TENANT_TABLES } from './migrations.ts';
import type { Schema } from './schema-name.ts';
import { begin, commit, trustPostgres } from '../sql/transaction.ts';
import type { Store } from '../store.ts';

/** What a schema is found to be. */
interface Found {
  readonly exists: boolean;
  /** Tables of any kind. */
  readonly tables: number;
  /** Steps that were taken; `undefined` where there is no table that says so. */
  readonly version: number | undefined;
  /** Of the database. */
  readonly encoding: string;
}

/** Those in which a database keeps every text as it is: it does not recode in the second one. */
const ENCODINGS: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII']);

/**
 * Brings a schema to the newest version, each step once, whoever else does the same at this moment: one at a time, in one
 * transaction. A schema of another program is refused (`store_foreign`), as is one of a newer version (`store_newer`), and
 * neither is touched. One that is up to date is only looked at; one that is not is refused where `mayCreate` is false. So is one
 * in a database that cannot hold every text (`unsupported`).
 */
export async function migrate({ driver, schema, place }: Store, mayCreate: boolean): Promise<void> {
  const session = await driver.connect();
  try {
    const version = assertOurs(await look(session, schema), place);
    if (version !== MIGRATIONS.length) {
      const reason = `the schema is at version ${version} of ${MIGRATIONS.length}, and may not be brought forward`;
      if (!mayCreate) throw new TurnkeepError('store_unavailable', { place, reason });
      await takeSteps(session, schema, place);
    }
    session.release();
  } catch (error) {
    await endFailed(session, error);
    throw error;
  }
}

async function takeSteps(session: Session, schema: Schema, place: string): Promise<void> {
  await session.run([begin(), trustPostgres(), lock(schema)]);
  // Somebody else may have taken them while we waited for the lock.
  const taken = assertOurs(await look(session, schema), place);
  if (taken === 0) await session.run(create(schema));
  for (const [at, step] of MIGRATIONS.entries()) {
    if (at >= taken) await session.run(statementsOf(step, schema, `m${at}`));
  }
  if (taken < MIGRATIONS.length) await session.run([...protect(schema), setVersion(schema)]);
  await session.run([commit()]);
}

/** The version of a schema that is ours or will be. */
function assertOurs({ exists, tables, version, encoding }: Found, place: string): number {
  if (!ENCODINGS.has(encoding))
    throw new TurnkeepError('unsupported', {
      what: `keep texts in a database of encoding ${encoding}: make one of UTF8`,
    });
  if (version === undefined) {
    if (!exists || tables === 0) return 0;
    const reason = 'the schema holds tables of something else';
    throw new TurnkeepError('store_foreign', { place, reason });
  }
  if (version > MIGRATIONS.length)
    throw new TurnkeepError('store_newer', { place, found: version, supported: MIGRATIONS.length });
  return version;
}

async function look(session: Session, schema: Schema): Promise<Found> {
  const text = `SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = $1),
    (SELECT count(*) FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
      AND relkind IN ('r', 'p', 'v', 'm', 'f')),
    to_regclass('${schema.sql}.store') IS NOT NULL, current_setting('server_encoding')`;
  const [[row] = []] = await session.run([{ name: 'tk_look', text, values: [schema.name] }]);
  const [exists, tables, hasStore, encoding] = row as [string | number, string | number, boolean, string];
  const version = hasStore ? await versionOf(session, schema) : undefined;
  return { exists: Number(exists) > 0, tables: Number(tables), version, encoding };
}

/** `undefined` where a table of that name is not ours. */
async function versionOf(session: Session, schema: Schema): Promise<number | undefined> {
  const text = `SELECT count(*) FROM pg_attribute WHERE attrelid = '${schema.sql}.store'::regclass
    AND attname IN ('turnkeep_version', 'only')`;
  const [[row] = []] = await session.run([{ name: 'tk_look_store', text, values: [] }]);
  if (Number(row?.[0]) !== 2) return undefined;
  const read = { name: 'tk_version', text: `SELECT turnkeep_version FROM ${schema.sql}.store`, values: [] };
  const [[found] = []] = await session.run([read]);
  return found === undefined ? undefined : Number(found[0]);
}

/** One migration of a schema at a time. It ends with the transaction. */
function lock(schema: Schema): Statement {
  const text = `SELECT pg_advisory_xact_lock(hashtextextended('turnkeep migration ' || $1, 0))`;
  return { name: 'tk_lock_migration', text, values: [schema.name] };
}

function create(schema: Schema): readonly Statement[] {
  return [
    { name: 'tk_create_schema', text: `CREATE SCHEMA IF NOT EXISTS ${schema.sql}`, values: [] },
    {
      name: 'tk_create_store',
      text: `CREATE TABLE ${schema.sql}.store (
        "only" boolean PRIMARY KEY DEFAULT true CHECK ("only"), turnkeep_version integer NOT NULL)`,
      values: [],
    },
    { name: 'tk_begin_store', text: `INSERT INTO ${schema.sql}.store (turnkeep_version) VALUES (0)`, values: [] },
  ];
}

function setVersion(schema: Schema): Statement {
  const text = `UPDATE ${schema.sql}.store SET turnkeep_version = ${MIGRATIONS.length}`;
  return { name: `tk_set_version_${MIGRATIONS.length}`, text, values: [] };
}

/** A step is several statements, each ended by a semicolon at the end of a line. */
function statementsOf(step: string, schema: Schema, name: string): readonly Statement[] {
  return step
    .replaceAll(/--.*$/gm, '')
    .replaceAll('$schema', schema.sql)
    .split(/;\s*$/m)
    .filter((text) => text.trim() !== '')
    .map((text, at) => ({ name: `tk_${name}_${at}`, text, values: [] }));
}

/**
 * Rows are seen by namespace only, by the owner too: a statement that forgot its namespace finds nothing of another. `*`
 * is no namespace, and shows heads alone: what names the namespaces of a store.
 */
function protect(schema: Schema): readonly Statement[] {
  const current = `current_setting('turnkeep.namespace', true)`;
  const policies = TENANT_TABLES.flatMap((table) => [
    `ALTER TABLE ${schema.sql}.${table} ENABLE ROW LEVEL SECURITY`,
    `ALTER TABLE ${schema.sql}.${table} FORCE ROW LEVEL SECURITY`,
    `DROP POLICY IF EXISTS turnkeep_namespace ON ${schema.sql}.${table}`,
    `CREATE POLICY turnkeep_namespace ON ${schema.sql}.${table} USING (ns = ${current}) WITH CHECK (ns = ${current})`,
  ]);
  const listing = [
    `DROP POLICY IF EXISTS turnkeep_namespaces ON ${schema.sql}.heads`,
    `CREATE POLICY turnkeep_namespaces ON ${schema.sql}.heads FOR SELECT USING (${current} = '*')`,
  ];
  return [...policies, ...listing].map((text, at) => ({ name: `tk_protect_${at}`, text, values: [] }));
}
