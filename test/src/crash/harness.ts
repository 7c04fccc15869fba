import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a crash run is told. */
export interface CrashOptions {
  readonly runs: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** What a crash run found: each fault is a sentence that names its run and seed. */
export interface CrashReport {
  readonly passed: number;
  readonly faults: readonly string[];
}

export type CrashHarness = (options: CrashOptions) => Promise<CrashReport>;

/** A small seeded generator: the same seed, the same run. */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Runs `work` with a folder of its own, which goes afterwards. */
export async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'turnkeep-crash-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
