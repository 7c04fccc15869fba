import type { Surroundings } from '../core/commit.ts';
import { sha256 } from '../platform/hash.ts';

/** The time that a test's clock starts at. */
export const START: number = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A clock that stands still until it is told otherwise, forwards or back. */
export class TestClock {
  at: number = START;

  readonly now = (): number => this.at;

  move(durationMs: number): void {
    this.at += durationMs;
  }
}

/** Surroundings of a test: its clock, and nonces that are the same in every run. */
export function testSurroundings(clock: TestClock, seed = 0): Surroundings {
  let count = 0;
  const nonce = () => {
    const bytes = Buffer.alloc(16);
    bytes.writeUInt32BE(seed, 0);
    bytes.writeUInt32BE((count += 1), 12);
    return bytes.toString('base64url');
  };
  return { sha256, now: clock.now, nonce };
}

/** Commit ids that are the same in every run. */
export function testCommitIds(): () => string {
  let count = 0;
  return () => `minted-${(count += 1)}`;
}
