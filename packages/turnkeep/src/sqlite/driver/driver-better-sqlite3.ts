import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';
import { TurnkeepError } from '../../core/errors.ts';
import type { Database, SqlRow, SqlValue, Statement } from './driver.ts';
import { boundValues, checkedRow, checkedRows } from './driver-values.ts';

type Connection = BetterSqlite3.Database;
type Prepared = BetterSqlite3.Statement<unknown[], SqlRow>;

/** Opens with better-sqlite3; `undefined` where it is not installed or not built for this runtime. */
export function openBetterSqlite3(path: string, readOnly: boolean): Database | undefined {
  const Connection = loadConstructor();
  if (Connection === undefined) return undefined;
  // It would take the name without, which may be another file's.
  if (path !== path.trim()) {
    throw new TurnkeepError('unsupported', { what: 'open a path that ends in white space with better-sqlite3' });
  }
  return wrapConnection(new Connection(path, { readonly: readOnly, fileMustExist: readOnly }));
}

type Constructor = new (path: string, options?: BetterSqlite3.Options) => Connection;

let loaded: { readonly constructor?: Constructor | undefined } | undefined;

/** The package is there or not for good; a build for another runtime shows only when a database is opened. */
function loadConstructor(): Constructor | undefined {
  loaded ??= { constructor: tryLoad() };
  return loaded.constructor;
}

function tryLoad(): Constructor | undefined {
  try {
    const constructor = createRequire(import.meta.url)('better-sqlite3') as Constructor; // the package's main export
    new constructor(':memory:').close();
    return constructor;
  } catch {
    return undefined;
  }
}

function wrapConnection(connection: Connection): Database {
  const pragma = (text: string): SqlValue | undefined => {
    const value: unknown = connection.pragma(text, { simple: true });
    return value as SqlValue | undefined; // a column of a row
  };
  const dataVersion = wrapStatement(connection.prepare('PRAGMA data_version'));
  return {
    driver: 'better-sqlite3',
    exec: (sql) => void connection.exec(sql),
    prepare: (sql) => wrapStatement(connection.prepare(sql)),
    pragma,
    dataVersion: () => dataVersion.get()?.[0] as number, // always one row
    inTransaction: () => connection.inTransaction,
    close: () => void connection.close(),
  };
}

function wrapStatement(statement: BetterSqlite3.Statement): Statement {
  // As arrays, rows are made without looking up a name for each column.
  const prepared = (statement.reader ? statement.raw() : statement) as Prepared;
  return {
    run: (...params) => prepared.run(...boundValues(params, true)).changes,
    get: (...params) => {
      const row = prepared.get(...boundValues(params, true));
      return row === undefined ? undefined : checkedRow(row);
    },
    all: (...params) => {
      const rows = prepared.all(...boundValues(params, true));
      for (const row of rows) checkedRow(row);
      return rows;
    },
    iterate: (...params) => checkedRows(() => prepared.iterate(...boundValues(params, true))),
  };
}
