import { openLedger } from 'turnkeep';
import { changesOf, makeTurn } from '../measure/turn.ts';

/** Commits turns until it is killed, and says when so many are done: `writer-child URL TURNS`. */
const [url = '', turns = '0'] = process.argv.slice(2);
const ledger = await openLedger(url);
let done = 0;
await Promise.all(
  Array.from({ length: 64 }, async (_, at) => {
    const talk = ledger.namespace('bench').conversation(`talk-${at}`);
    for (let number = 0; ; number++) {
      await talk.commit(changesOf(makeTurn(number)));
      done += 1;
      if (done === Number(turns)) process.stdout.write('done\n');
    }
  }),
);
