import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Namespace } from '../../ledger/namespace.ts';
import { usageError } from '../failure.ts';
import { DEFAULT_NAMESPACE, writeStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';

/** The store of a demonstration, opened anew for each of its parts. */
export interface DemoStore {
  readonly url: string;
  readonly namespace: string;
  /** True where the user named the store, so that it stays. */
  readonly isKept: boolean;
  use<Result>(work: (namespace: Namespace, ledger: Ledger) => Promise<Result>): Promise<Result>;
  /** Removes a store that is not kept. */
  dispose(): void;
}

/** The store that `--store` names, or one in a temporary folder. */
export function openDemoStore(shell: Shell, options: CommonOptions): DemoStore {
  if (options.store === 'memory:')
    throw usageError('--store', 'the demonstration needs a store that outlives a process');
  const folder = options.store === undefined ? mkdtempSync(join(tmpdir(), 'turnkeep-demo-')) : undefined;
  const url = options.store ?? `sqlite:${join(folder ?? '', 'turnkeep.db')}`;
  const { namespace = DEFAULT_NAMESPACE } = options;
  return {
    url,
    namespace,
    isKept: folder === undefined,
    use: (work) => writeStore(shell, { store: url, namespace }, work),
    dispose: () => folder !== undefined && rmSync(folder, { recursive: true, force: true }),
  };
}
