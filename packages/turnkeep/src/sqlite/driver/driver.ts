/** What a column holds. A blob comes back as `Uint8Array`, whatever the driver makes of it. */
export type SqlValue = string | number | null | Uint8Array;

/** One row, its columns in the order of the statement. */
export type SqlRow = readonly SqlValue[];

/**
 * A prepared statement, reusable. Parameters are positional.
 *
 * Values: a whole number is bound as INTEGER and any other as REAL. A number beyond ±(2^53 − 1), read or bound, throws a
 * `RangeError` rather than being rounded, and so does one that is not finite. Text is well-formed and comes back as it
 * was, NUL included; text with a lone surrogate throws, because UTF-8 cannot hold it (records keep theirs as JSON
 * escapes). Where the runtime's SQLite cannot give text with NUL back, binding it throws as well.
 */
export interface Statement {
  /** Runs a statement without result rows; answers how many rows it changed. */
  run(...params: SqlValue[]): number;
  /** The first row. */
  get(...params: SqlValue[]): SqlRow | undefined;
  all(...params: SqlValue[]): SqlRow[];
  /** Row by row. Until it is finished or left, the connection may only read. */
  iterate(...params: SqlValue[]): IterableIterator<SqlRow>;
}

export type DriverName = 'node:sqlite' | 'better-sqlite3';

/**
 * One connection, synchronous, whichever driver is behind it. What it throws is the driver's own error:
 * `driverFault(error)` says what it means.
 */
export interface Database {
  readonly driver: DriverName;
  /** Runs statements without parameters, several at once if need be. */
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** Runs `PRAGMA` with this text (`'user_version'`, `'user_version = 3'`); answers the first column of the first row. */
  pragma(text: string): SqlValue | undefined;
  /** Changes when another connection has committed, never by this connection's own commits. */
  dataVersion(): number;
  inTransaction(): boolean;
  /** Closes the connection; a transaction that is open is rolled back. A second call does nothing. */
  close(): void;
}

export interface OpenDatabaseOptions {
  /** Opens an existing file for reading only. Off by default: the file is created, with mode 0600. */
  readonly readOnly?: boolean | undefined;
  /** The driver to use; otherwise the first that this runtime has, in the order that `openDatabase` gives. */
  readonly driver?: DriverName | undefined;
  /** Every commit is on the disk when it returns: WAL with `synchronous=FULL`, both verified. Off by default. */
  readonly durable?: boolean | undefined;
  /** Overwrites what is deleted with zeros. Off by default. */
  readonly secureDelete?: boolean | undefined;
  /** How long a statement waits for another connection's lock; 5,000 by default. */
  readonly busyTimeoutMs?: number | undefined;
}
