import type { Surroundings } from '../core/commit.ts';
import { systemNow } from './clock.ts';
import { sha256 } from './hash.ts';
import { nonce } from './random.ts';

/** The real surroundings: the system's clock, randomness and hash. Tests hand in their own. */
export const systemSurroundings: Surroundings = { sha256, now: systemNow, nonce };
