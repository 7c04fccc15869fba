import { randomFillSync } from 'node:crypto';

const NONCE_BYTES = 16;
const POOL_BYTES = NONCE_BYTES * 512;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** 16 random bytes, taken from a pool: a call into the system for each would cost more than the digest. */
function take(): Buffer {
  if (used + NONCE_BYTES > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.subarray(used, used + NONCE_BYTES);
  used += NONCE_BYTES;
  return bytes;
}

/** A record's nonce, in base64url. */
export function nonce(): string {
  return take().toString('base64url');
}

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/** The last moment that a UUIDv7 can say, in the year 10889. */
const LAST_SAID = 2 ** 48 - 1;

/**
 * A commit id of our own: `cmt_` and a UUIDv7 in 26 digits of base 32. A moment that one cannot say is the nearest that it
 * can: nothing reads it, and what tells two ids apart is random.
 */
export function mintCommitId(now: number): string {
  const bytes = Buffer.from(take());
  bytes.writeUIntBE(Math.min(Math.max(now, 0), LAST_SAID), 0, 6);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return `cmt_${base32(bytes)}`;
}

function base32(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let digits = '';
  for (let at = 0; at < 26; at++) {
    digits = CROCKFORD[Number(value & 31n)] + digits;
    value >>= 5n;
  }
  return digits;
}
