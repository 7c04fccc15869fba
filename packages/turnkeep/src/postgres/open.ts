import type { Backend } from '../core/backend.ts';
import { HOT_MESSAGES } from '../core/cool.ts';
import { TurnkeepError } from '../core/errors.ts';
import { sha256 } from '../platform/hash.ts';
import type { Driver } from './driver/driver.ts';
import { pgDriver } from './driver/driver-pg.ts';
import type { PgDriverOptions } from './driver/driver-pg.ts';
import { storeError } from './driver/driver-errors.ts';
import { durabilityOf } from './driver/durability.ts';
import { migrate } from './schema/migrate.ts';
import { PostgresBackend } from './postgres-backend.ts';
import { schemaNamed } from './schema/schema-name.ts';
import type { Store } from './store.ts';
import { ensureTrigramIndex } from './search/trigram.ts';

export interface PostgresOptions {
  /** The schema that holds the tables; `turnkeep` by default. */
  readonly schema?: string | undefined;
  /** False: a schema that is missing or older is refused instead of made or brought forward. */
  readonly migrate?: boolean | undefined;
  /** How long a commit may take, waiting and trying again included; 30,000 by default. */
  readonly commitTimeoutMs?: number | undefined;
  /** `poll`: watchers look for commits, for engines and poolers without LISTEN; `listen` by default. */
  readonly watch?: 'listen' | 'poll' | undefined;
  /** How often watchers look by themselves; 1,000 by default, 100 where they poll. */
  readonly pollMs?: number | undefined;
  /** Newest messages of a conversation that stay hot; 512 by default. Older ones cool by and by. */
  readonly hotMessages?: number | undefined;
  /** `scan`: no trigram index is made or used for search; `index` by default, where the server has `pg_trgm`. */
  readonly search?: 'index' | 'scan' | undefined;
}

/** Where the database is: a URL, what `pgDriver` takes, or a driver of the caller's, which the caller closes. */
export type PostgresPlace = string | PgDriverOptions | Driver;

const COMMIT_TIMEOUT_MS = 30_000;
const LISTEN_POLL_MS = 1_000;
const POLL_MS = 100;

/**
 * Opens the store in a schema of a Postgres database, made anew where there is none. Refuses a schema of another program
 * (`store_foreign`) or of a newer version (`store_newer`) and leaves it as it is. Any number of processes may have it open.
 */
export async function openPostgres(place: PostgresPlace, options: PostgresOptions = {}): Promise<PostgresBackend> {
  const schema = schemaNamed(options.schema ?? 'turnkeep');
  const isDriver = typeof place === 'object' && 'connect' in place;
  const driver = isDriver ? place : await pgDriver(typeof place === 'string' ? { connectionString: place } : place);
  const store: Store = { driver, ownsDriver: !isDriver, schema, sha256, place: `schema ${schema.name}` };
  try {
    return await openStore(store, options);
  } catch (error) {
    if (!isDriver) await driver.close();
    throw storeError(error, store.place, 0);
  }
}

async function openStore(store: Store, options: PostgresOptions): Promise<PostgresBackend> {
  const mayCreate = options.migrate !== false;
  await migrate(store, mayCreate);
  const isIndexed = options.search !== 'scan' && (await ensureTrigramIndex(store, mayCreate));
  const mode = options.watch ?? 'listen';
  const traits: Backend['traits'] = {
    backend: 'postgres',
    ...(await durabilityOf(store)),
    sharedWriters: true,
    feedOrder: 'total',
    erasureReach: 'rows of the database, not what VACUUM FULL, the write-ahead log, replicas and backups still hold',
  };
  return new PostgresBackend({
    store,
    traits,
    bell: { mode, pollMs: options.pollMs ?? (mode === 'listen' ? LISTEN_POLL_MS : POLL_MS) },
    commitTimeoutMs: options.commitTimeoutMs ?? COMMIT_TIMEOUT_MS,
    isIndexed,
    hotMessages: options.hotMessages ?? HOT_MESSAGES,
  });
}

/**
 * Opens the store that a URL names: `postgres://…`, with the schema as `?schema=NAME` where it is not `turnkeep`, and
 * `prepare=false` and `watch=poll` where a pooler asks for them.
 */
export async function openPostgresUrl(
  url: string,
  options: Omit<PostgresOptions, 'schema'> = {},
): Promise<PostgresBackend> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed) throw new TurnkeepError('invalid_value', { path: 'url', reason: 'it is no URL' });
  const schema = parsed.searchParams.get('schema') ?? undefined;
  const { prepare, watch } = poolerOptions(parsed);
  for (const name of ['schema', 'prepare', 'watch']) parsed.searchParams.delete(name);
  return openPostgres({ connectionString: parsed.href, prepare }, { ...(watch && { watch }), ...options, schema });
}

function poolerOptions({ searchParams }: URL) {
  const prepare = oneOf(searchParams.get('prepare'), 'prepare', ['true', 'false'] as const);
  const watch = oneOf(searchParams.get('watch'), 'watch', ['listen', 'poll'] as const);
  return { prepare: prepare !== 'false', watch };
}

function oneOf<Value extends string>(given: string | null, name: string, values: readonly Value[]): Value | undefined {
  const value = values.find((one) => one === given);
  if (given === null || value !== undefined) return value;
  throw new TurnkeepError('invalid_value', { path: `url, ${name}`, reason: `it is ${values.join(' or ')}` });
}
