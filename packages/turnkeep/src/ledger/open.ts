import { basename, dirname, resolve } from 'node:path';
import type { Backend } from '../core/backend.ts';
import type { Surroundings } from '../core/commit.ts';
import { TurnkeepError } from '../core/errors.ts';
import { MemoryBackend } from '../memory/index.ts';
import type { StoreFolder } from '../platform/examine-system.ts';
import { isThere } from '../platform/paths.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import type { LedgerSettings } from './access.ts';
import { anObject, anything, assertChecked, assertFits, callback, count, flag } from './given.ts';
import type { Checks } from './given.ts';
import { Ledger } from './ledger.ts';

export interface OpenOptions extends LedgerSettings {
  /** Clock, randomness and hash; the system's when absent. */
  readonly surroundings?: Surroundings | undefined;
  /**
   * How many of the newest messages of each conversation stay hot; 512 when absent. Older ones cool little by little into
   * compressed archives; readers notice nothing but the tier that a message reports.
   */
  readonly hotMessages?: number | undefined;
  /** Refuses a file or directory that does not exist (`store_unavailable`) instead of creating it. */
  readonly mustExist?: boolean | undefined;
  /**
   * Opens a journal for reading while another process writes to it, without the writer's lock; commits are `unsupported`.
   * Other stores have no such lock and ignore this.
   */
  readonly readOnly?: boolean | undefined;
}

/**
 * Opens a store, or takes over an open backend (from `openSqlite`, `openPostgres` and so on, which have settings of their
 * own); closing the ledger closes it. A store is `memory:`, `sqlite:FILE`, `journal:DIRECTORY`, or `postgres://…` (with
 * `?schema=NAME` unless the schema is `turnkeep`). A file or directory that does not exist is created; one that is not ours
 * (`store_foreign`) or of a newer version (`store_newer`) is refused untouched.
 */
export async function openLedger(store: string | Backend, options: OpenOptions = {}): Promise<Ledger> {
  assertOpenOptions(options);
  const surroundings = options.surroundings ?? systemSurroundings;
  if (typeof store !== 'string' && (typeof store !== 'object' || store === null)) {
    throw new TurnkeepError('invalid_value', {
      path: 'store',
      reason: `expected a URL (${STORES}) or an open backend`,
    });
  }
  const backend = typeof store === 'string' ? await openBackend(store, options) : store;
  return new Ledger(backend, surroundings, mintCommitId, options);
}

/** Opens the backend that a URL names. */
export async function openBackend(url: string, options: OpenOptions = {}): Promise<Backend> {
  const [scheme, place] = splitUrl(url);
  assertOpenOptions(options);
  const { hotMessages } = options;
  if (scheme === 'memory:' && place === '')
    return new MemoryBackend((options.surroundings ?? systemSurroundings).sha256, hotMessages);
  // Each backend is loaded on demand, so that a program needs only the drivers that it uses.
  if (scheme === 'sqlite:' && place !== '') {
    assertThere(place, options);
    const { openSqlite } = await import('../sqlite/index.ts');
    return openSqlite(place, { hotMessages });
  }
  if (scheme === 'journal:' && place !== '') {
    assertThere(place, options);
    const { openJournal } = await import('../journal/index.ts');
    return openJournal(place, { readOnly: options.readOnly, hotMessages });
  }
  if (scheme === 'postgres:' || scheme === 'postgresql:') {
    const { openPostgresUrl } = await import('../postgres/index.ts');
    return openPostgresUrl(url, { hotMessages });
  }
  throw new TurnkeepError('invalid_value', { path: 'url', reason: `a store is ${STORES}` });
}

const STORES = 'memory:, sqlite:FILE, journal:DIRECTORY or postgres://…';

const OPEN: Checks<OpenOptions> = {
  surroundings: anything,
  hotMessages: count,
  mustExist: flag,
  readOnly: flag,
  attachmentQuotaBytes: count,
};
const SURROUNDINGS: Checks<Surroundings> = { sha256: callback, now: callback, nonce: callback };

function assertOpenOptions(options: OpenOptions): void {
  assertChecked(options, OPEN);
  const { surroundings } = options;
  if (surroundings === undefined) return;
  assertFits(surroundings, anObject, 'options.surroundings');
  for (const [name, check] of Object.entries(SURROUNDINGS)) {
    // Surroundings may be an instance of a class.
    assertFits(surroundings[name as keyof Surroundings], check, `options.surroundings.${name}`);
  }
}

/** Where the files of a URL's store are; `undefined` if it has none. */
export function folderOf(url: string): StoreFolder | undefined {
  const [scheme, place] = splitUrl(url);
  if (place === '') return undefined;
  if (scheme === 'journal:') return { folder: resolve(place) };
  return scheme === 'sqlite:' ? { folder: dirname(resolve(place)), prefix: basename(place) } : undefined;
}

function splitUrl(url: string): readonly [scheme: string, place: string] {
  const end = url.indexOf(':') + 1;
  return [url.slice(0, end), url.slice(end)];
}

function assertThere(place: string, options: OpenOptions): void {
  if (options.mustExist !== true || isThere(place)) return;
  throw new TurnkeepError('store_unavailable', { place, reason: 'there is no store' });
}
