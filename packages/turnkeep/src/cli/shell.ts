import type { Ledger } from '../ledger/ledger.ts';
import type { Namespace } from '../ledger/namespace.ts';
import { openLedger } from '../ledger/open.ts';
import type { Environment, Output, Progress } from './output.ts';
import { assertStoreExists, prepareFolder, storePlace } from './store-place.ts';

/** What surrounds a command: its streams, its environment and the wish that it stop. */
export interface Shell {
  readonly out: Output;
  readonly progress: Progress;
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

/** Runs `work` on the store that is there already; it is closed whatever happens. */
export async function readStore<Result>(
  shell: Shell,
  options: CommonOptions,
  work: (namespace: Namespace, ledger: Ledger) => Promise<Result>,
): Promise<Result> {
  assertStoreExists(storePlace(options.store, shell.env));
  return withStore(shell, options, work);
}

/** Runs `work` on the store, which is made where there is none. */
export async function writeStore<Result>(
  shell: Shell,
  options: CommonOptions,
  work: (namespace: Namespace, ledger: Ledger) => Promise<Result>,
): Promise<Result> {
  prepareFolder(storePlace(options.store, shell.env));
  return withStore(shell, options, work);
}

async function withStore<Result>(
  shell: Shell,
  options: CommonOptions,
  work: (namespace: Namespace, ledger: Ledger) => Promise<Result>,
): Promise<Result> {
  const ledger = await openLedger(storePlace(options.store, shell.env).url);
  try {
    return await work(ledger.namespace(options.namespace ?? DEFAULT_NAMESPACE), ledger);
  } finally {
    shell.progress.end();
    await ledger.close();
  }
}
