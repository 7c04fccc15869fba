import { openBackend } from '../ledger/open.ts';
import type { ConformanceTarget } from './target.ts';

let created = 0;

export const memory: ConformanceTarget = {
  name: 'memory',
  durable: false,
  async create() {
    created += 1;
    return `memory-${created}`;
  },
  async open() {
    return openBackend('memory:');
  },
  async destroy() {
    // It ends with its handle.
  },
};

/** The backends of this package that the suite runs on, by name. */
export const TARGETS: ReadonlyMap<string, ConformanceTarget> = new Map([memory].map((target) => [target.name, target]));
