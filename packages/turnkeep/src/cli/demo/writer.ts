/**
 * The process that the demonstration kills: it commits turn after turn, a few of them on their way at any time, and says
 * on standard output what it sent and what was acknowledged. It never ends by itself.
 */
import { writeSync } from 'node:fs';
import { openLedger } from '../../ledger/open.ts';
import { demoCommitId, stepChanges } from './demo-turns.ts';

/** What the writer is told, as JSON in its only argument. */
export interface WriterOrder {
  readonly url: string;
  readonly namespace: string;
  readonly conversationId: string;
  readonly run: string;
}

/** A line of the writer's: written before the call that it tells of, or after its answer. */
export type WriterLine = { readonly sent: number } | { readonly acknowledged: number };

const ON_THEIR_WAY = 3;

const order = JSON.parse(process.argv[2] ?? '') as WriterOrder; // written by the demonstration itself
const ledger = await openLedger(order.url);
const conversation = ledger.namespace(order.namespace).conversation(order.conversationId);

let last = 0;
async function commitTurns(): Promise<never> {
  for (;;) {
    const turn = ++last;
    say({ sent: turn });
    await conversation.commit(stepChanges(order, turn), { idempotencyKey: demoCommitId(order, turn) });
    say({ acknowledged: turn });
  }
}

await Promise.all(Array.from({ length: ON_THEIR_WAY }, commitTurns));

function say(line: WriterLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
