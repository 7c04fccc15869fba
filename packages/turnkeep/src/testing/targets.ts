import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openBackend } from '../ledger/open.ts';
import { journal } from './journal-target.ts';
import { postgres } from './postgres-target.ts';
import type { ConformanceTarget } from './target.ts';

export const memory: ConformanceTarget = {
  name: 'memory',
  durable: false,
  async create() {
    return 'memory:';
  },
  async open(location) {
    return openBackend(location);
  },
  async destroy() {
    // It ends with its handle.
  },
};

export const sqlite: ConformanceTarget = {
  name: 'sqlite',
  durable: true,
  async create() {
    return join(await mkdtemp(join(tmpdir(), 'turnkeep-conformance-')), 'store.db');
  },
  async open(location) {
    return openBackend(`sqlite:${location}`);
  },
  async destroy(location) {
    await rm(dirname(location), { recursive: true, force: true });
  },
  spawn: { module: import.meta.url, exportName: 'sqlite' },
};

/** The backends of this package that the suite runs on, by name. */
export const TARGETS: ReadonlyMap<string, ConformanceTarget> = new Map(
  [memory, journal, sqlite, postgres].map((target) => [target.name, target]),
);
