import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from 'turnkeep/core';
import { openJournal } from 'turnkeep/journal';
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
  sqlite: () => inFolder(openSqlite),
  // So small that folds, merges and new segments come in between.
  journal: () => inFolder((place) => openJournal(place, { settings: SMALL })),
};

const SMALL = { foldCommits: 4, foldBytes: 4_096, segmentBytes: 65_536, mergeRuns: 2 };

async function inFolder(open: (place: string) => Promise<Backend>): ReturnType<Open> {
  const folder = await mkdtemp(join(tmpdir(), 'turnkeep-oracle-'));
  const backend = await open(join(folder, 'store'));
  const close = async () => {
    await backend.close();
    await rm(folder, { recursive: true });
  };
  return { backend, close };
}
