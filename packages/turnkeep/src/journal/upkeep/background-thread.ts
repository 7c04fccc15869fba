import { Worker } from 'node:worker_threads';
import { TurnkeepError } from '../../core/errors.ts';
import { threadOptions } from '../../platform/thread-options.ts';
import { othersTurn } from '../../platform/timers.ts';
import type { Background, NewRun, Removed, RunSlice } from './background.ts';
import { errorOf, thrownOf } from './background-messages.ts';
import type { BackgroundCall, BackgroundStart, FromBackground, Thrown, ToBackground } from './background-messages.ts';
import type { FilledStretch } from '../filters/filter-file.ts';
import type { Gap } from '../filters/filters.ts';

/** What is smaller than this is done here: it takes a few milliseconds, and a thread thirty to start. */
const SMALL_KEYS = 2_000;
const SMALL_BYTES = 262_144;

interface Pending {
  readonly resolve: (filled: readonly FilledStretch[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Has the work done by a thread, which is started when there is some. One that dies fails what it was at, and the next work
 * starts another.
 */
export class BackgroundThread implements Background {
  readonly #start: BackgroundStart;
  readonly #here: Background;
  readonly #thread: URL;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #nextId = 1;

  /** `here` does what is small. Tests bring a thread. */
  constructor(
    start: BackgroundStart,
    here: Background,
    thread: URL = new URL('./background-worker.js', import.meta.url),
  ) {
    this.#start = start;
    this.#here = here;
    this.#thread = thread;
  }

  async writeRun(run: NewRun, slices: Iterable<RunSlice>): Promise<void> {
    if (run.keys < SMALL_KEYS) return this.#here.writeRun(run, slices);
    const id = this.#nextId++;
    const written = this.#call(id, { kind: 'write', run });
    await Promise.all([written, this.#handOver(id, slices)]);
  }

  async mergeRuns(run: NewRun, inputs: readonly string[], removed: Removed): Promise<void> {
    if (run.keys < SMALL_KEYS) return this.#here.mergeRuns(run, inputs, removed);
    await this.#call(this.#nextId++, { kind: 'merge', run, inputs, removed });
  }

  fillGap(gap: Gap, most: number): Promise<readonly FilledStretch[]> {
    if (isSmall(gap)) return this.#here.fillGap(gap, most);
    return this.#call(this.#nextId++, { kind: 'fill', gap, most });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #call(id: number, call: BackgroundCall): Promise<readonly FilledStretch[]> {
    return new Promise((resolve, reject) => {
      const worker = this.#started();
      if (this.#pending.size === 0) worker.ref();
      this.#pending.set(id, { resolve, reject });
      this.#post({ kind: 'call', id, call });
    });
  }

  /** Hands the slices over, as long as they are wanted, and then their end. Where they cannot be had the call fails with that. */
  async #handOver(id: number, slices: Iterable<RunSlice>): Promise<void> {
    let thrown: Thrown | undefined;
    try {
      for (const slice of slices) {
        if (!this.#pending.has(id)) return;
        this.#post({ kind: 'slice', id, slice });
        await othersTurn();
      }
    } catch (error) {
      thrown = thrownOf(error);
    }
    this.#post({ kind: 'end', id, thrown });
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.#thread, { workerData: this.#start, ...threadOptions() });
    worker.on('message', (message: FromBackground) => this.#receive(message));
    // Not before: to listen is to keep the process alive again.
    worker.unref();
    worker.on('error', (error: Error) => this.#lose(worker, `the background thread failed: ${error.message}`));
    worker.on('exit', (code) => this.#lose(worker, `the background thread ended with code ${code}`));
    this.#worker = worker;
    return worker;
  }

  #receive(message: FromBackground): void {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if (message.kind === 'done') pending?.resolve(message.filled);
    else pending?.reject(errorOf(message.thrown));
  }

  #lose(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#pending.values())
      reject(new TurnkeepError('store_unavailable', { place: 'the journal', reason }));
    this.#pending.clear();
  }

  #post(message: ToBackground): void {
    this.#worker?.postMessage(message);
  }
}

function isSmall({ from, to }: Gap): boolean {
  return from.segment === to.segment && to.byte - from.byte < SMALL_BYTES;
}
