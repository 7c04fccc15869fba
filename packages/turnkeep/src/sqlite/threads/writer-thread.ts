import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { assert, isTurnkeepError } from '../../core/errors.ts';
import { Blobs } from '../store/blobs.ts';
import { Collector } from '../store/collect.ts';
import type { Database } from '../driver/driver.ts';
import { GroupWriter } from './group-writer.ts';
import { isWal, openStoreFile } from '../store/store-file.ts';
import { WriterBell } from './writer-bell.ts';
import { work } from './writer-loop.ts';
import type { Take } from './writer-loop.ts';
import type { CommitJob, FromWriter, ToWriter, WriterStart } from './writer-messages.ts';
import { WriterQueue } from './writer-queue.ts';

// The writer thread: the one connection of this process that commits. It answers its commits in groups. It runs no event
// loop: while it has nothing to do it blocks, until the bell rings.

assert(parentPort, 'the writer runs in a thread of its own');
const port = parentPort;
const send = (message: FromWriter) => port.postMessage(message);
const { file, bell: memory } = workerData as WriterStart; // what the client started us with
const bell = new WriterBell(memory);

function start(): void {
  try {
    serve(openStoreFile(file));
  } catch (error) {
    send({ kind: 'refused', ...(isTurnkeepError(error) ? { error: error.toData() } : { fault: String(error) }) });
  }
}

function serve(database: Database): void {
  const { busyTimeoutMs } = file;
  const writer = new GroupWriter(database, file.path, busyTimeoutMs);
  const queue = new WriterQueue({ writer, busyTimeoutMs, answer: (outcomes) => send({ kind: 'done', outcomes }) });
  const take = messagesInto(queue, database, writer);
  send({ kind: 'open', wal: isWal(database), storeId: database.prepare('SELECT id FROM store').get()?.[0] as string });
  work(queue, bell, take);
  close(writer, database);
}

function messagesInto(queue: WriterQueue, database: Database, writer: GroupWriter): Take {
  const collector = new Collector(database, writer);
  const blobs = new Blobs(database, writer);
  const checkpoint = (job: number, mode: 'TRUNCATE' | 'PASSIVE') =>
    queue.pushExclusive(job, () => ({ job, step: { rows: 0, more: !writer.checkpoint(mode) } }));
  return () => {
    const message = receiveMessageOnPort(port)?.message as ToWriter | undefined; // the client sends nothing else
    switch (message?.kind) {
      case 'commit':
        queue.push(message.jobs.map((text) => JSON.parse(text) as CommitJob)); // the client made them
        break;
      case 'abort':
        queue.abort(message.job);
        break;
      case 'collect':
        queue.pushExclusive(message.job, (job) => ({ job, step: collector.step(message.namespace, message.after) }));
        break;
      case 'blob':
        queue.pushExclusive(message.job, (job) => ({ job, blob: blobs.run(message.call) }));
        break;
      case 'truncate':
        checkpoint(message.job, 'TRUNCATE');
        break;
      case 'checkpoint':
        checkpoint(message.job, 'PASSIVE');
        break;
      case 'close':
      case undefined:
        break;
    }
    return message?.kind;
  };
}

/** The last connection of all leaves no WAL. */
function close(writer: GroupWriter, database: Database): void {
  try {
    writer.checkpoint('TRUNCATE');
  } catch {
    // The WAL stays, and whoever opens the store next goes on from it.
  }
  try {
    database.close();
  } finally {
    send({ kind: 'closed' });
  }
}

start();
