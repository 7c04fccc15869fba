import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { Envelope } from '../core/backend.ts';
import { prepareCommit } from '../core/commit.ts';
import { Ledger } from '../ledger/ledger.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { testPostgresUrl } from '../testing/postgres-server.ts';
import { Session as ConformanceSession, Store } from '../testing/store.ts';
import type { Connection, Driver, Session, Statement } from './driver/driver.ts';
import { pgDriver } from './driver/driver-pg.ts';
import { openPostgres } from './open.ts';
import type { PostgresOptions } from './open.ts';
import type { PostgresBackend } from './postgres-backend.ts';

/** A schema of its own on the tests' server; everything that was opened in it ends with it. */
export class TestSchema {
  readonly url: string;
  readonly name: string;
  readonly #ends: (() => Promise<unknown>)[] = [];
  #asking: Promise<Client> | undefined;

  private constructor(url: string) {
    this.url = url;
    this.name = `test_${randomBytes(8).toString('hex')}`;
  }

  static async create(): Promise<TestSchema> {
    return new TestSchema(await testPostgresUrl());
  }

  /** Opens the store of the schema, by a driver of its own. */
  async open(options: PostgresOptions = {}, driver?: Driver): Promise<PostgresBackend> {
    const own = driver ?? (await this.driver());
    const backend = await openPostgres(own, { schema: this.name, ...options });
    this.#ends.push(async () => backend.close());
    return backend;
  }

  /** A driver that ends with the schema. */
  async driver(url: string = this.url): Promise<Driver> {
    const driver = await pgDriver({ connectionString: url });
    this.#ends.push(async () => driver.close());
    return driver;
  }

  /** A client of the server's superuser, or of the role in the URL. */
  async client(url: string = this.url): Promise<Client> {
    const client = new Client({ connectionString: url });
    await client.connect();
    this.#ends.push(async () => client.end());
    return client;
  }

  /** The rows that the server answers; `$s` stands for the schema. However often it asks, it holds one connection. */
  async rowsOf(text: string): Promise<readonly Record<string, unknown>[]> {
    this.#asking ??= this.client();
    return (await (await this.#asking).query<Record<string, unknown>>(text.replaceAll('$s', `"${this.name}"`))).rows;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.toReversed()) await end();
    const client = new Client({ connectionString: this.url });
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS "${this.name}" CASCADE`);
    await client.end();
  }
}

/** A driver around another: what it sends passes by here. */
abstract class Around implements Driver {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** Told of each flush before it is sent; what it throws comes in the place of an answer. */
  protected abstract sending(statements: readonly Statement[]): void;

  get pipelined(): boolean {
    return this.#driver.pipelined;
  }

  get maxConnections(): number {
    return this.#driver.maxConnections;
  }

  async connect(): Promise<Session> {
    const session = await this.#driver.connect();
    return {
      ...this.#passing(session),
      release: () => session.release(),
      destroy: () => session.destroy(),
    };
  }

  adopt(client: unknown): Connection {
    return this.#passing(this.#driver.adopt(client));
  }

  #passing(connection: Connection): Connection {
    return {
      run: async (statements) => {
        this.sending(statements);
        return connection.run(statements);
      },
    };
  }

  async listen(channel: string, heard: (payload: string) => void, lost: () => void): Promise<() => void> {
    return this.#driver.listen(channel, heard, lost);
  }

  async close(): Promise<void> {
    return this.#driver.close();
  }
}

/** A driver whose server takes back every so-manieth flush, before anything of it is done, once it is told to. */
export class Flaky extends Around {
  every: number = Number.MAX_SAFE_INTEGER;
  #flushes = 0;

  protected override sending(): void {
    this.#flushes += 1;
    if (this.#flushes % this.every === 0) throw Object.assign(new Error('taken back'), { code: '40001' });
  }
}

/** A driver that notes each flush: what was sent together. */
export class Recorder extends Around {
  readonly flushes: (readonly Statement[])[] = [];

  protected override sending(statements: readonly Statement[]): void {
    this.flushes.push(statements);
  }

  /** How many round trips some work takes. */
  async trips(work: () => Promise<unknown>): Promise<number> {
    const before = this.flushes.length;
    await work();
    return this.flushes.length - before;
  }
}

/** The conformance suite's store over a schema whose statements a recorder hears. */
export function recordedStore(schema: TestSchema, recorder: Recorder): Store {
  const target = {
    name: 'postgres',
    durable: true,
    create: async () => '',
    open: async () => schema.open({ watch: 'poll', search: 'scan' }, recorder),
    destroy: async () => undefined,
  };
  return new Store(new ConformanceSession(target, ''), 'same_handle', NAMESPACE);
}

export function ledgerOver(backend: PostgresBackend): Ledger {
  return new Ledger(backend, systemSurroundings, mintCommitId);
}

export const NAMESPACE = 'team';

/** A commit, ready for a backend. */
export function envelope(conversationId: string, changes: readonly object[], more: object = {}): Envelope {
  return prepareCommit(
    { commitId: mintCommitId(systemSurroundings.now()), namespace: NAMESPACE, conversationId, changes, ...more },
    systemSurroundings,
  );
}

/** A turn with a question and an answer. */
export function turn(conversationId: string, text: string, more: object = {}): Envelope {
  const message = (role: string, words: string) => ({
    kind: 'message.append',
    message: { role, parts: [{ type: 'text', text: words }] },
  });
  const changes = [{ kind: 'turn.record', origin: 'test' }, message('user', text), message('assistant', `${text}!`)];
  return envelope(conversationId, changes, more);
}

export async function versionOf(
  backend: PostgresBackend,
  conversationId: string,
  namespace: string = NAMESPACE,
): Promise<number> {
  return backend.read(namespace, (rows) => rows.head(conversationId)?.version ?? 0);
}
