import { once } from 'node:events';
import { isTurnkeepError, openLedger } from 'turnkeep';
import { did } from './clerk.ts';

// A process that goes on with a turn: `url effects turn ttlMs`. It says when its step has begun, does it when it is told to,
// and says how its run ended.
const [url = '', effects = '', turnId = '', ttlMs] = process.argv.slice(2);
const ledger = await openLedger(url);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
try {
  const { state } = await ledger
    .namespace('n')
    .conversation('c')
    .resume(
      turnId,
      async (turn) => {
        await turn.step(
          'slow',
          async () => {
            say({ began: true });
            await once(process.stdin, 'data');
            did(effects, 'slow');
            return process.pid;
          },
          { retry: 'safe' },
        );
      },
      { ttlMs: Number(ttlMs) },
    );
  say({ state });
} catch (error) {
  if (!isTurnkeepError(error)) throw error;
  say({ code: error.code });
}
await ledger.close();
process.stdin.destroy();
