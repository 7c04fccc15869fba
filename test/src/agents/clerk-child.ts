import { openLedger } from 'turnkeep';
import { clerk, KEY, TURN } from './clerk.ts';

// A process that runs the clerk and ends itself, as a crash does, at a boundary: `url effects namespace boundary [key]`.
const [url = '', effects = '', namespace = '', wanted, wantedKey] = process.argv.slice(2);
const ledger = await openLedger(url);
await ledger
  .namespace(namespace)
  .conversation('c')
  .run(TURN, clerk(effects), {
    idempotencyKey: KEY,
    // Nobody who watched for a sign of life would be through in time.
    ttlMs: 3_600_000,
    atBoundary: (boundary, key) => {
      if (boundary === wanted && key === wantedKey) process.kill(process.pid, 'SIGKILL');
    },
  });
