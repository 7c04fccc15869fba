import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../core/errors.ts';
import { sha256 } from '../../platform/hash.ts';
import { BackgroundHere } from './background-here.ts';
import { errorOf, thrownOf } from './background-messages.ts';
import type { BackgroundCall, BackgroundStart, FromBackground, Thrown, ToBackground } from './background-messages.ts';
import type { RunSlice } from './background.ts';
import type { FilledStretch } from '../filters/filter-file.ts';
import { realFileSystem } from '../files/file-system.ts';
import { heldBy } from '../held.ts';
import { LockFile } from '../lock.ts';
import { LAYOUT } from '../files/layout.ts';

// The background thread of a journal's writer: runs and filters, each in slices, so that none waits long for another.

/** Slices on their way to a run, as they come in. */
class Slices implements AsyncIterable<RunSlice> {
  readonly #waiting: RunSlice[] = [];
  #isEnded = false;
  #thrown: Thrown | undefined;
  #wake: () => void = () => undefined;

  push(slice: RunSlice): void {
    this.#waiting.push(slice);
    this.#wake();
  }

  end(thrown: Thrown | undefined): void {
    this.#isEnded = true;
    this.#thrown = thrown;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunSlice> {
    for (;;) {
      const slice = this.#waiting.shift();
      if (slice) yield slice;
      else if (this.#thrown) throw errorOf(this.#thrown);
      else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

const port = parentPort;
assert(port, 'the background has a thread of its own');
const send = (message: FromBackground) => port.postMessage(message);
const { directory, store, filterBytes, lock } = workerData as BackgroundStart; // what the client started us with
const segmentsDirectory = `${directory}/${LAYOUT.segments}`;
const archivesDirectory = `${directory}/${LAYOUT.archives}`;
const fs = lock === undefined ? realFileSystem : heldBy(new LockFile(realFileSystem, directory, lock), realFileSystem);
const place = { fs, directory, segmentsDirectory, archivesDirectory, store, filterBytes };
const background = new BackgroundHere(place, sha256);
const coming = new Map<number, Slices>();

async function work(id: number, call: BackgroundCall): Promise<readonly FilledStretch[]> {
  if (call.kind === 'fill') return background.fillGap(call.gap, call.most);
  if (call.kind === 'merge') await background.mergeRuns(call.run, call.inputs, call.removed);
  else await writeRun(id, call.run);
  return [];
}

async function writeRun(id: number, run: Parameters<BackgroundHere['writeRun']>[0]): Promise<void> {
  const slices = new Slices();
  coming.set(id, slices);
  try {
    await background.writeRun(run, slices);
  } finally {
    coming.delete(id);
  }
}

port.on('message', (message: ToBackground) => {
  const { id } = message;
  switch (message.kind) {
    case 'call':
      return void work(id, message.call).then(
        (filled) => send({ kind: 'done', id, filled }),
        (error: unknown) => send({ kind: 'failed', id, thrown: thrownOf(error) }),
      );
    case 'slice':
      return coming.get(id)?.push(message.slice);
    case 'end':
      return coming.get(id)?.end(message.thrown);
  }
});
