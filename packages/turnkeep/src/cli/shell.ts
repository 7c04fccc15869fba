import { isTurnkeepError } from '../core/errors.ts';
import type { TurnkeepError } from '../core/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Namespace } from '../ledger/namespace.ts';
import { openLedger } from '../ledger/open.ts';
import type { OpenOptions } from '../ledger/open.ts';
import { usageError } from './failure.ts';
import type { Environment, Output, Progress } from './output.ts';
import { assertStoreExists, prepareFolder, storePlace } from './store-place.ts';
import type { StorePlace } from './store-place.ts';

/** What surrounds a command: its streams, its environment and the wish that it stop. */
export interface Shell {
  readonly out: Output;
  readonly progress: Progress;
  /** Standard input, to be read once. */
  readonly input: () => AsyncIterable<Uint8Array>;
  readonly env: Environment;
  readonly signal: AbortSignal;
}

/** The options of every command. */
export interface CommonOptions {
  readonly store?: string | undefined;
  readonly namespace?: string | undefined;
  readonly json?: boolean | undefined;
}

export const DEFAULT_NAMESPACE = 'default';

type Work<Result> = (namespace: Namespace, ledger: Ledger) => Promise<Result>;

/**
 * Runs `work`, which only reads, on the store that is there already; it is closed whatever happens. A journal that another
 * process writes to is read beside it, and so is one where nothing may be written: another user's, or a copy that is mounted.
 */
export async function readStore<Result>(shell: Shell, options: CommonOptions, work: Work<Result>): Promise<Result> {
  const place = storePlace(options.store, shell.env);
  assertStoreExists(place);
  return withLedger(shell, options, work, () =>
    openAt(place).catch((error: unknown) => {
      const isClosed = isTurnkeepError(error, 'store_locked') || isTurnkeepError(error, 'store_unavailable');
      if (!isClosed || !place.url.startsWith('journal:')) throw error;
      return openToRead(place, error);
    }),
  );
}

/** Opens a store that cannot be opened to write; where it cannot be read either, what kept from writing is told. */
async function openToRead(place: StorePlace, refusal: TurnkeepError): Promise<Ledger> {
  try {
    return await openAt(place, { readOnly: true });
  } catch (error) {
    throw isTurnkeepError(error, 'store_unavailable') ? refusal : error;
  }
}

/** Runs `work` on the store that is there already. */
export async function changeStore<Result>(shell: Shell, options: CommonOptions, work: Work<Result>): Promise<Result> {
  const place = storePlace(options.store, shell.env);
  assertStoreExists(place);
  return withLedger(shell, options, work, () => openAt(place));
}

/** Runs `work` on the store, which is made where there is none. */
export async function writeStore<Result>(shell: Shell, options: CommonOptions, work: Work<Result>): Promise<Result> {
  const place = storePlace(options.store, shell.env);
  prepareFolder(place);
  return withLedger(shell, options, work, () => openAt(place));
}

/** Opens a store; where its name is none, that is told by where it stands: the name itself may hold a password. */
async function openAt(place: StorePlace, options?: OpenOptions): Promise<Ledger> {
  try {
    return await openLedger(place.url, options);
  } catch (error) {
    if (!isTurnkeepError(error, 'invalid_value') || error.details.path !== 'url') throw error;
    throw usageError(place.namedBy, error.details.reason);
  }
}

async function withLedger<Result>(
  shell: Shell,
  options: CommonOptions,
  work: Work<Result>,
  open: () => Promise<Ledger>,
): Promise<Result> {
  const ledger = await open();
  try {
    return await work(ledger.namespace(options.namespace ?? DEFAULT_NAMESPACE), ledger);
  } finally {
    shell.progress.end();
    await ledger.close();
  }
}
