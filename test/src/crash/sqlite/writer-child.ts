import { writeSync } from 'node:fs';
import { openLedger } from 'turnkeep';
import { NAMESPACE, turnChanges, turnKey } from './turns.ts';

/**
 * A process that commits turns until it is killed: `writer-child FILE CONVERSATIONS`. Each conversation has a writer of
 * its own, all at once. Before a commit it says `send CONVERSATION NUMBER`, after its answer `ack CONVERSATION NUMBER`, one
 * line each and written at once.
 */
const [file = '', conversations = '1'] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);

const ledger = await openLedger(`sqlite:${file}`);
const namespace = ledger.namespace(NAMESPACE);

async function writeTurns(name: string): Promise<never> {
  const conversation = namespace.conversation(name);
  const start = (await conversation.exists()) ? (await conversation.info()).version : 0;
  for (let number = start + 1; ; number++) {
    say(`send ${name} ${number}`);
    await conversation.commit(turnChanges(number), { idempotencyKey: turnKey(number) });
    say(`ack ${name} ${number}`);
  }
}

/** Cools all but the newest messages while others write. */
async function coolAlong(): Promise<never> {
  for (;;) await ledger.backend.cool(NAMESPACE, { hotMessages: 6 });
}

await Promise.all([coolAlong(), ...Array.from({ length: Number(conversations) }, (_, at) => writeTurns(`c${at}`))]);
