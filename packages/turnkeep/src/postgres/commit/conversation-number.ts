import { systemNow } from '../../platform/clock.ts';
import { nonce } from '../../platform/random.ts';

const RANDOM_BITS = 22n;
const RANDOM_MASK = (1 << Number(RANDOM_BITS)) - 1;

/**
 * A number for a new conversation: the time in milliseconds, and 22 random bits below it. Nobody shares a sequence, new
 * conversations stand beside each other in every index, and the rare number that was drawn twice in a namespace breaks a
 * unique key, upon which the commit is tried again with another.
 */
export function drawNumber(): string {
  const random = Buffer.from(nonce(), 'base64url').readUInt32BE(0) & RANDOM_MASK;
  return ((BigInt(systemNow()) << RANDOM_BITS) | BigInt(random)).toString();
}
