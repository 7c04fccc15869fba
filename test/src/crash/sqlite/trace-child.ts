import { appendFileSync } from 'node:fs';
import { openLedger } from 'turnkeep';
import { NAMESPACE, turnChanges, turnKey } from './turns.ts';

/** Commits turns one at a time and notes each acknowledgement in the trace: `trace-child FILE TRACE TURNS`. */
const [file = '', trace = '', turns = '1'] = process.argv.slice(2);

const ledger = await openLedger(`sqlite:${file}`);
const conversation = ledger.namespace(NAMESPACE).conversation('traced');
appendFileSync(trace, 'start\n');
for (let number = 1; number <= Number(turns); number++) {
  await conversation.commit(turnChanges(number), { idempotencyKey: turnKey(number) });
  appendFileSync(trace, 'ack\n');
}
await ledger.close();
