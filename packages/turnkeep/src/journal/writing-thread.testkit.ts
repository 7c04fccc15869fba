import { parentPort, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { turnOf } from './journal.testkit.ts';
import { openJournal } from './open.ts';

// A thread that writes a journal, and holds it until it is ended.
const journal = await openJournal(workerData as string); // the directory
await journal.commit(turnOf('c', 0));
const port = parentPort as MessagePort; // it is a thread
port.on('message', () => undefined);
port.postMessage('wrote');
