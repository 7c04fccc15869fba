import type { Session, Statement } from '../driver/driver.ts';
import { endFailed } from '../driver/end-session.ts';
import { driverFault } from '../driver/driver-errors.ts';
import type { Schema } from '../schema/schema-name.ts';
import { begin, commit } from '../sql/transaction.ts';
import type { Store } from '../store.ts';

/**
 * Makes the trigram index for search where there is none, the extension `pg_trgm` can be had and this role may. Answers
 * whether there is one; without it searches look through the log, and find the same.
 */
export async function ensureTrigramIndex(store: Store, mayCreate: boolean): Promise<boolean> {
  const session = await store.driver.connect();
  try {
    const found = await hasIndex(session, store.schema);
    const made = found || (mayCreate && (await makeIndex(session, store.schema)));
    session.release();
    return made;
  } catch (error) {
    await endFailed(session, error);
    if (driverFault(error).kind === 'lost') throw error;
    return false;
  }
}

async function hasIndex(session: Session, schema: Schema): Promise<boolean> {
  const text = `SELECT 1 FROM pg_indexes WHERE schemaname = $1 AND indexname = 'folded_words'`;
  const [rows = []] = await session.run([{ name: 'tk_find_trigram', text, values: [schema.name] }]);
  return rows.length > 0;
}

async function makeIndex(session: Session, schema: Schema): Promise<boolean> {
  const lock = `SELECT pg_advisory_xact_lock(pg_catalog.hashtextextended('turnkeep migration ' || $1, 0))`;
  await session.run([
    begin(),
    { name: 'tk_lock_trigram', text: lock, values: [schema.name] },
    // Extensions are the database's: schemas that are made at the same time meet here.
    plain('tk_lock_extension', `SELECT pg_advisory_xact_lock(pg_catalog.hashtextextended('turnkeep extension', 0))`),
    plain('tk_add_trigram', `CREATE EXTENSION IF NOT EXISTS pg_trgm`),
  ]);
  const where = `SELECT pg_catalog.quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'pg_trgm'`;
  const [[row] = []] = await session.run([plain('tk_where_trigram', where)]);
  const operators = `${String(row?.[0])}.gin_trgm_ops`;
  const index = `CREATE INDEX IF NOT EXISTS folded_words ON ${schema.sql}.folded USING gin (words ${operators})`;
  await session.run([plain('tk_make_trigram', index), commit()]);
  return true;
}

function plain(name: string, text: string): Statement {
  return { name, text, values: [] };
}
