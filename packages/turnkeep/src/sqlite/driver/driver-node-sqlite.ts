import type { Database, SqlRow, SqlValue, Statement } from './driver.ts';
import { type BoundValue, boundValues, checkedRow, checkedRows } from './driver-values.ts';

// The part of `node:sqlite` that is used here: Node.js 20, whose types the build uses, has no such module.
interface Prepared {
  run(...params: BoundValue[]): { readonly changes: number | bigint };
  get(...params: BoundValue[]): SqlRow | undefined;
  all(...params: BoundValue[]): SqlRow[];
  iterate(...params: BoundValue[]): Iterable<SqlRow>;
  /** Absent before Node.js 22.16, as is `isTransaction`. */
  setReturnArrays?(enabled: boolean): void;
}

interface Connection {
  readonly isTransaction: boolean | undefined;
  exec(sql: string): void;
  prepare(sql: string): Prepared;
  close(): void;
}

type Constructor = new (path: string, options?: { readonly readOnly: boolean }) => Connection;

interface Loaded {
  readonly constructor: Constructor;
  /** Whether text comes back whole when it holds NUL; Node.js 22 cuts it there. */
  readonly keepsNul: boolean;
}

export interface NodeSqliteOptions {
  readonly readOnly: boolean;
  /** Whether to do without it where it cuts text at NUL. */
  readonly whole: boolean;
}

/** Opens with `node:sqlite`; `undefined` where the runtime has none that will do. */
export function openNodeSqlite(path: string, { readOnly, whole }: NodeSqliteOptions): Database | undefined {
  const loaded = load();
  if (loaded === undefined || (whole && !loaded.keepsNul)) return undefined;
  return wrapConnection(new loaded.constructor(path, { readOnly }), loaded.keepsNul);
}

let tried: { readonly loaded?: Loaded | undefined } | undefined;

function load(): Loaded | undefined {
  tried ??= { loaded: tryLoad() };
  return tried.loaded;
}

/** What the module can do is asked of the module, not of a version: rows as arrays (22.16), NUL in text (24). */
function tryLoad(): Loaded | undefined {
  const constructor = loadQuietly();
  if (constructor === undefined) return undefined;
  const connection = new constructor(':memory:');
  try {
    const statement = connection.prepare("SELECT 'a' || char(0) || 'b'");
    if (statement.setReturnArrays === undefined || connection.isTransaction === undefined) return undefined;
    statement.setReturnArrays(true);
    return { constructor, keepsNul: statement.get()?.[0] === 'a\0b' };
  } finally {
    connection.close();
  }
}

/** Loading the module warns on stderr that it is experimental: not something that our users can act on. */
function loadQuietly(): Constructor | undefined {
  // oxlint-disable-next-line typescript/unbound-method -- it is put back where it was, never called
  const warn = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    const module = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown; // a name that the types do not know
    return (module as { readonly DatabaseSync: Constructor } | undefined)?.DatabaseSync;
  } finally {
    process.emitWarning = warn;
  }
}

function wrapConnection(connection: Connection, keepsNul: boolean): Database {
  const prepare = (sql: string) => wrapStatement(connection.prepare(sql), keepsNul);
  const dataVersion = prepare('PRAGMA data_version');
  let isOpen = true;
  return {
    driver: 'node:sqlite',
    exec: (sql) => connection.exec(sql),
    prepare,
    pragma: (text): SqlValue | undefined => prepare(`PRAGMA ${text}`).get()?.[0],
    dataVersion: () => dataVersion.get()?.[0] as number, // always one row
    inTransaction: () => connection.isTransaction === true,
    close: () => {
      if (isOpen) connection.close();
      isOpen = false;
    },
  };
}

function wrapStatement(statement: Prepared, keepsNul: boolean): Statement {
  statement.setReturnArrays?.(true);
  return {
    run: (...params) => Number(statement.run(...boundValues(params, keepsNul)).changes),
    get: (...params) => {
      const row = statement.get(...boundValues(params, keepsNul));
      return row === undefined ? undefined : checkedRow(row);
    },
    all: (...params) => {
      const rows = statement.all(...boundValues(params, keepsNul));
      for (const row of rows) checkedRow(row);
      return rows;
    },
    iterate: (...params) => checkedRows(() => statement.iterate(...boundValues(params, keepsNul))),
  };
}
