import { parentPort } from 'node:worker_threads';
import type { FromWriter, ToWriter } from './writer-messages.ts';

// A writer that opens its store, takes what it is given, and dies of it without an answer.

const open: FromWriter = { kind: 'open', wal: true, storeId: 'none' };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(open);
parentPort?.on('message', (message: ToWriter) => {
  if (message.kind === 'commit') throw new Error('struck by lightning');
});
