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
import { anything, assertChecked, assertFits, assertObject, callback, count, flag } from './given.ts';
import type { Checks } from './given.ts';
import { Ledger } from './ledger.ts';

export interface OpenOptions extends LedgerSettings {
  /** Clock, randomness and hash; the system's when absent. */
  readonly surroundings?: Surroundings | undefined;
  /**
   * Newest messages of each conversation that stay hot; 512 when absent. Older ones cool by and by into compressed archives,
   * which nobody can tell but by the tier that is reported.
   */
  readonly hotMessages?: number | undefined;
  /** Refuses a file or directory that is not there (`store_unavailable`) instead of making it. */
  readonly mustExist?: boolean | undefined;
  /**
   * Opens a journal to read it while another process writes to it, without the writer's lock; commits are `unsupported`.
   * Other stores have no such lock, and take no notice.
   */
  readonly readOnly?: boolean | undefined;
}

/**
 * Opens a store, or takes a backend that is open (made by `openSqlite`, `openPostgres` and their like, with settings of its
 * own); closing the ledger closes it. A store is `memory:`, `sqlite:FILE`, `journal:DIRECTORY`, or `postgres://…` (with `?schema=NAME` where it is not
 * `turnkeep`). A file or directory is made where there is none; one that is not ours, or of a newer version, is refused
 * untouched.
 */
export async function openLedger(store: string | Backend, options: OpenOptions = {}): Promise<Ledger> {
  assertOpenOptions(options);
  const surroundings = options.surroundings ?? systemSurroundings;
  if (typeof store !== 'string' && (typeof store !== 'object' || store === null)) {
    throw new TurnkeepError('invalid_value', {
      path: 'store',
      reason: `a URL (${STORES}) or an open backend is asked for`,
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
  // Each is loaded when asked for: who needs no file needs no driver for one.
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
  assertObject(surroundings, 'options.surroundings');
  for (const [name, check] of Object.entries(SURROUNDINGS)) {
    // Whatever else they are to their caller, they may be of a class.
    assertFits(surroundings[name as keyof Surroundings], check, `options.surroundings.${name}`);
  }
}

/** Where the files of a URL's store are; `undefined` where it has none. */
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
