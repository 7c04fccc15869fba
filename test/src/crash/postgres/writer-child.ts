import { writeSync } from 'node:fs';
import { isTurnkeepError, openLedger } from 'turnkeep';
import { conversationOf, NAMESPACE, turnOf } from './workload.ts';

/**
 * A process that commits turns until its input ends or it is killed: `writer-child URL NAME`. Sixteen writers work at once,
 * several on each conversation, and what they wrote cools meanwhile. Before a commit one says `send ID`, after its answer `ack ID VERSION` or `fail ID CODE`, one
 * line each and written at once.
 */
const [url = '', name = ''] = process.argv.slice(2);
const WRITERS = 16;
const say = (line: string) => writeSync(1, `${line}\n`);

const stopping = new AbortController();
process.stdin.on('end', () => stopping.abort()).resume();

const ledger = await openLedger(url);
const namespace = ledger.namespace(NAMESPACE);

async function write(writer: number): Promise<void> {
  for (let number = 1; !stopping.signal.aborted; number++) {
    const id = `${name}.${writer}.${number}`;
    say(`send ${id}`);
    try {
      const receipt = await namespace.conversation(conversationOf(id)).commit(turnOf(id), { idempotencyKey: id });
      say(`ack ${id} ${receipt.version}`);
    } catch (error) {
      say(`fail ${id} ${isTurnkeepError(error) ? error.code : String(error)}`);
    }
  }
}

/** Cools all but the newest messages while others write, and packs their rows. */
async function coolAlong(): Promise<void> {
  while (!stopping.signal.aborted) await ledger.backend.cool(NAMESPACE, { hotMessages: 6 }).catch(ignore);
}

/** Where the server is away, the next try tells. */
function ignore(): void {}

const cooling = coolAlong();
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
await cooling;
await ledger.close();
