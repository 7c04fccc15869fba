/** What a statement is given: text, numbers and arrays of them. Whole numbers beyond 2^53 travel as text. */
export type SqlValue = string | number | boolean | null | readonly (string | number | boolean | null)[];

/** A row, by column: text as a string, `int8` as text or a number, by the driver. */
export type SqlRow = readonly unknown[];

/** A statement with its values. One name stands for one text: a driver may prepare it once for a connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A connection, whoever it belongs to. */
export interface Connection {
  /**
   * Runs statements one after the other and answers the rows of each. They are sent in one flush where the driver can
   * (`pipelined`). The first failure is thrown as the driver's own error; what was sent behind it fails with it, within a
   * transaction.
   */
  run(statements: readonly Statement[]): Promise<readonly (readonly SqlRow[])[]>;
}

/** A connection of the pool, for one borrower at a time. */
export interface Session extends Connection {
  /** Gives it back. */
  release(): void;
  /** Throws it away, at once: what the server still does with it does not matter. */
  destroy(): void;
}

/**
 * The little that Turnkeep asks of a Postgres driver. `pgDriver` is one for the npm package `pg`; another one is written in
 * a few lines. It answers its own errors, with the SQLSTATE as `code`.
 */
export interface Driver {
  /** True where statements of one `run` share a round trip. */
  readonly pipelined: boolean;
  /** Connections that may be open at the same time. */
  readonly maxConnections: number;
  /** Waits for a connection. */
  connect(): Promise<Session>;
  /** The caller's own connection, as one of ours. */
  adopt(client: unknown): Connection;
  /**
   * Hears notifications of a channel on a connection of its own, until the answer is called or the connection is lost;
   * `lost` then tells.
   */
  listen(channel: string, heard: (payload: string) => void, lost: () => void): Promise<() => void>;
  /** Ends what the driver opened itself. */
  close(): Promise<void>;
}
