import type { Backend } from '../core/backend.ts';
import type { Surroundings } from '../core/commit.ts';
import { TurnkeepError } from '../core/errors.ts';
import { MemoryBackend } from '../memory/index.ts';
import { mintCommitId } from '../platform/random.ts';
import { systemSurroundings } from '../platform/surroundings.ts';
import { Ledger } from './ledger.ts';

export interface OpenOptions {
  /** Clock, randomness and hash; the system's when absent. */
  readonly surroundings?: Surroundings | undefined;
}

/**
 * Opens a store: `memory:`, `sqlite:FILE`, or `postgres://…` (with `?schema=NAME` where it is not `turnkeep`). The file is made where there is none; one that is not ours, or of a newer
 * version, is refused untouched.
 */
export async function openLedger(url: string, options: OpenOptions = {}): Promise<Ledger> {
  const surroundings = options.surroundings ?? systemSurroundings;
  return new Ledger(await openBackend(url, surroundings), surroundings, mintCommitId);
}

/** Opens the backend that a URL names. */
export async function openBackend(url: string, surroundings: Surroundings = systemSurroundings): Promise<Backend> {
  if (url === 'memory:') return new MemoryBackend(surroundings.sha256);
  // Loaded when asked for: who needs no file needs no driver for one.
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) {
    const { openSqlite } = await import('../sqlite/index.ts');
    return openSqlite(url.slice('sqlite:'.length));
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { openPostgresUrl } = await import('../postgres/index.ts');
    return openPostgresUrl(url);
  }
  const reason = 'a store is memory:, sqlite:FILE or postgres://…';
  throw new TurnkeepError('invalid_value', { path: 'url', reason });
}
