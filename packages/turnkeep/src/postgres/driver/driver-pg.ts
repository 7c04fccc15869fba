import type { Client, ClientBase, Pool, PoolClient, PoolConfig } from 'pg';
import { TurnkeepError } from '../../core/errors.ts';
import { sha256 } from '../../platform/hash.ts';
import { after } from '../../platform/timers.ts';
import type { Connection, Driver, Session, SqlRow, Statement } from './driver.ts';

export interface PgDriverOptions {
  /** `postgres://…`; what it leaves out comes from the environment (`PGHOST`, `PGPASSWORD`, …). */
  readonly connectionString: string;
  /** Connections at most; 10 by default. */
  readonly maxConnections?: number | undefined;
  /** How long to wait for a connection, a new one or one of the pool; 10,000 by default. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long one round trip may take before its connection counts as lost; 30,000 by default. */
  readonly roundTripTimeoutMs?: number | undefined;
  /** TLS, as `pg` takes it. */
  readonly ssl?: PoolConfig['ssl'] | undefined;
  /**
   * False: no statement is prepared, each is parsed and planned whenever it is sent. For poolers that give each transaction
   * another connection and keep no prepared statements, as PgBouncer before 1.21. True by default.
   */
  readonly prepare?: boolean | undefined;
}

/** What of the options holds for a pool of the caller's, too. */
export type PgPoolOptions = Pick<PgDriverOptions, 'roundTripTimeoutMs' | 'prepare'>;

const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const ROUND_TRIP_TIMEOUT_MS = 30_000;

/** Statements through `pg`, pipelined, over a pool of its own. */
export async function pgDriver(options: PgDriverOptions): Promise<Driver> {
  const PoolOfPg = await loadPool();
  const connectionTimeoutMillis = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const config: PoolConfig & { readonly pipeline: true } = {
    connectionString: options.connectionString,
    max: options.maxConnections ?? MAX_CONNECTIONS,
    connectionTimeoutMillis,
    pipeline: true,
    keepAlive: true,
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
  };
  const pool = new PoolOfPg(config);
  return new PgDriver(pool, true, options);
}

async function loadPool(): Promise<typeof Pool> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    // A peer dependency, which whoever needs no Postgres does without.
    throw new TurnkeepError('unsupported', { what: 'open Postgres without the package pg: install it' }, { cause });
  });
  return pg.Pool;
}

/** Statements through a pool of the caller's, which the caller ends. Make it with `pipeline: true`. */
export function pgDriverOver(pool: Pool, options: PgPoolOptions = {}): Driver {
  return new PgDriver(pool, false, options);
}

class PgDriver implements Driver {
  readonly pipelined: boolean;
  readonly maxConnections: number;
  readonly #pool: Pool;
  readonly #owned: boolean;
  readonly #timeoutMs: number;
  readonly #prepares: boolean;

  constructor(pool: Pool, owned: boolean, { roundTripTimeoutMs, prepare }: PgPoolOptions) {
    this.#pool = pool;
    this.#owned = owned;
    this.#timeoutMs = roundTripTimeoutMs ?? ROUND_TRIP_TIMEOUT_MS;
    this.#prepares = prepare !== false;
    const { pipeline, max } = pool.options as { readonly pipeline?: boolean; readonly max?: number };
    this.pipelined = pipeline === true;
    this.maxConnections = max ?? MAX_CONNECTIONS;
    // A connection that breaks while it is idle leaves the pool; nobody else needs to know. One that breaks while it is at work
    // fails its statement, and one may break before it is put to work.
    pool.on('error', ignore);
    pool.on('connect', (client) => client.on('error', ignore));
  }

  async connect(): Promise<Session> {
    const client = await this.#pool.connect();
    return new PgSession(client, { pipelined: this.pipelined, prepares: this.#prepares }, this.#timeoutMs);
  }

  adopt(client: unknown): Connection {
    const adopted = client as ClientBase & { readonly pipeline?: boolean }; // what `pg` hands out as a client
    return new PgConnection(adopted, { pipelined: adopted.pipeline === true, prepares: this.#prepares });
  }

  async listen(channel: string, heard: (payload: string) => void, lost: () => void): Promise<() => void> {
    // Not one of the pool's: who works must not wait for who listens.
    const client = new (this.#pool as unknown as PoolWithClient).Client(this.#pool.options);
    let open = true;
    const end = (): void => {
      if (!open) return;
      open = false;
      client.removeAllListeners('notification');
      void client.end().catch(ignore);
    };
    const fail = (): void => {
      if (!open) return;
      end();
      lost();
    };
    client.on('error', fail);
    client.on('end', fail);
    client.on('notification', (message) => heard(message.payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${quoted(channel)}`);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  async close(): Promise<void> {
    if (this.#owned) await this.#pool.end();
  }
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** How statements are sent. */
interface Sending {
  readonly pipelined: boolean;
  readonly prepares: boolean;
}

class PgConnection implements Connection {
  readonly #client: ClientBase;
  readonly #pipelined: boolean;
  readonly #prepared: Map<string, Prepared> | undefined;

  constructor(client: ClientBase, { pipelined, prepares }: Sending) {
    this.#client = client;
    this.#pipelined = pipelined;
    this.#prepared = prepares ? preparedOn(client) : undefined;
  }

  async run(statements: readonly Statement[]): Promise<readonly (readonly SqlRow[])[]> {
    if (!this.#pipelined) return this.#runInTurn(statements);
    const settled = await Promise.allSettled(
      this.#together(() => statements.map((statement) => this.#send(statement))),
    );
    return settled.map((result) => {
      if (result.status === 'rejected') throw result.reason; // the first one that failed
      return result.value;
    });
  }

  /** What is sent within is one write to the socket, where `pg` makes one of each statement. */
  #together<Result>(send: () => Result): Result {
    const { stream } = (this.#client as unknown as ClientWithSocket).connection;
    stream.cork?.();
    try {
      return send();
    } finally {
      stream.uncork?.();
    }
  }

  async #runInTurn(statements: readonly Statement[]): Promise<readonly (readonly SqlRow[])[]> {
    const results: (readonly SqlRow[])[] = [];
    for (const statement of statements) results.push(await this.#send(statement));
    return results;
  }

  async #send({ name, text, values }: Statement): Promise<readonly SqlRow[]> {
    const query = { name: this.#nameOf(name, text), text, values: values as unknown[], rowMode: 'array' as const };
    return (await this.#client.query<unknown[]>(query)).rows;
  }

  /**
   * The name under which the connection prepares a statement, which stands for this text alone: a pooler may hand the connection
   * to somebody else. None where another store that shares the connection has a text of its own for it: it is then parsed each
   * time.
   */
  #nameOf(name: string, text: string): string | undefined {
    if (!this.#prepared) return undefined;
    let prepared = this.#prepared.get(name);
    if (!prepared) this.#prepared.set(name, (prepared = { text, as: `${name}_${sha256(text).slice(0, DIGEST)}` }));
    return prepared.text === text ? prepared.as : undefined;
  }
}

/** A statement that a connection prepares. */
interface Prepared {
  readonly text: string;
  readonly as: string;
}

/** Characters of a text's digest: a name has 63 at most. */
const DIGEST = 16;
const PREPARED = new WeakMap<ClientBase, Map<string, Prepared>>();

/** A connection's statements by the name that we gave them. */
function preparedOn(client: ClientBase): Map<string, Prepared> {
  let prepared = PREPARED.get(client);
  if (!prepared) PREPARED.set(client, (prepared = new Map<string, Prepared>()));
  return prepared;
}

class PgSession extends PgConnection implements Session {
  readonly #client: PoolClient;
  readonly #timeoutMs: number;
  #open = true;

  constructor(client: PoolClient, sending: Sending, timeoutMs: number) {
    super(client, sending);
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  override async run(statements: readonly Statement[]): Promise<readonly (readonly SqlRow[])[]> {
    const stopTimer = after(this.#timeoutMs, () => this.#cut());
    try {
      return await super.run(statements);
    } finally {
      stopTimer();
    }
  }

  release(): void {
    this.#leave(false);
  }

  destroy(): void {
    if (this.#open) this.#cut();
    this.#leave(true);
  }

  #leave(broken: boolean): void {
    if (!this.#open) return;
    this.#open = false;
    this.#client.release(broken);
  }

  /** To end a client in good order would wait for an answer that may never come. */
  #cut(): void {
    (this.#client as unknown as ClientWithSocket).connection.stream.destroy();
  }
}

/** A pool has the class of its clients though its types do not say so. */
interface PoolWithClient {
  readonly Client: new (options: Pool['options']) => Client;
}

/** `pg` shows its socket though its types do not. */
interface ClientWithSocket {
  readonly connection: {
    readonly stream: {
      cork?: (() => void) | undefined;
      uncork?: (() => void) | undefined;
      destroy(): void;
    };
  };
}

function ignore(): void {
  // Nothing is lost: whoever uses the connection is told.
}
