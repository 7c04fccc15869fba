import { parentPort, workerData } from 'node:worker_threads';
import { assert, isTurnkeepError } from '../../core/errors.ts';
import { Blobs } from '../store/blobs.ts';
import { Collector } from '../store/collect.ts';
import type { Database } from '../driver/driver.ts';
import { GroupWriter } from './group-writer.ts';
import { isWal, openStoreFile } from '../store/store-file.ts';
import type { CommitJob, FromWriter, ToWriter, WriterStart } from './writer-messages.ts';
import { WriterQueue } from './writer-queue.ts';

// The writer thread: the one connection of this process that commits. It answers its commits in groups.

const port = parentPort;
assert(port, 'the writer runs in a thread of its own');
const send = (message: FromWriter) => port.postMessage(message);
const { file } = workerData as WriterStart; // what the client started us with

function start(): void {
  try {
    serve(openStoreFile(file));
  } catch (error) {
    send({ kind: 'refused', ...(isTurnkeepError(error) ? { error: error.toData() } : { fault: String(error) }) });
    port?.close();
  }
}

function serve(database: Database): void {
  const { busyTimeoutMs } = file;
  const writer = new GroupWriter(database, file.path, busyTimeoutMs);
  const queue = new WriterQueue({ writer, busyTimeoutMs, answer: (outcomes) => send({ kind: 'done', outcomes }) });
  const collector = new Collector(database, writer);
  const blobs = new Blobs(database, writer);
  port?.on('message', (message: ToWriter) => {
    switch (message.kind) {
      case 'commit':
        return queue.push(message.jobs.map((text) => JSON.parse(text) as CommitJob)); // the client made them
      case 'abort':
        return queue.abort(message.job);
      case 'collect':
        return queue.pushExclusive(message.job, (job) => ({
          job,
          step: collector.step(message.namespace, message.after),
        }));
      case 'blob':
        return queue.pushExclusive(message.job, (job) => ({ job, blob: blobs.run(message.call) }));
      case 'truncate':
        return queue.pushExclusive(message.job, (job) => ({
          job,
          step: { rows: 0, more: !writer.checkpoint('TRUNCATE') },
        }));
      case 'checkpoint':
        return queue.pushExclusive(message.job, (job) => ({
          job,
          step: { rows: 0, more: !writer.checkpoint('PASSIVE') },
        }));
      case 'close':
        return void close(queue, writer, database);
    }
  });
  send({ kind: 'open', wal: isWal(database), storeId: database.prepare('SELECT id FROM store').get()?.[0] as string });
}

/** Finishes what was accepted; the last connection of all leaves no WAL. */
async function close(queue: WriterQueue, writer: GroupWriter, database: Database): Promise<void> {
  await queue.drained();
  try {
    writer.checkpoint('TRUNCATE');
  } catch {
    // The WAL stays, and whoever opens the store next goes on from it.
  }
  try {
    database.close();
  } finally {
    send({ kind: 'closed' });
    port?.close();
  }
}

start();
