import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryBackend } from 'turnkeep/memory';
import { openSqlite } from 'turnkeep/sqlite';
import { sha256 } from './world.ts';
import type { Open } from './world.ts';

/** The backends that can be compared with the oracle. */
export const BACKENDS: { readonly [name: string]: Open } = {
  memory: async () => {
    const backend = new MemoryBackend(sha256);
    return { backend, close: () => backend.close() };
  },
  sqlite: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'turnkeep-oracle-'));
    const backend = await openSqlite(join(folder, 'store'));
    const close = async () => {
      await backend.close();
      await rm(folder, { recursive: true });
    };
    return { backend, close };
  },
};
