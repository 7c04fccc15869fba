import { MemoryBackend } from 'turnkeep/memory';
import { sha256 } from './world.ts';
import type { Open } from './world.ts';

/** The backends that can be compared with the oracle. */
export const BACKENDS: { readonly [name: string]: Open } = {
  memory: async () => {
    const backend = new MemoryBackend(sha256);
    return { backend, close: () => backend.close() };
  },
};
