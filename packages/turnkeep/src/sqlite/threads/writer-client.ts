import { Worker } from 'node:worker_threads';
import { abortedBy, onAbort } from '../../core/abort.ts';
import type { Envelope } from '../../core/backend.ts';
import { errorFromData, TurnkeepError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { CommitId, NamespaceId } from '../../core/ids.ts';
import type { Receipt } from '../../core/receipt.ts';
import { calledFrom } from '../../platform/caller.ts';
import { threadOptions } from '../../platform/thread-options.ts';
import { afterPoll } from '../../platform/timers.ts';
import type { BlobCall, BlobStep } from '../store/blobs.ts';
import type { CollectStep } from '../store/collect.ts';
import { PAGE_BYTES } from '../store/store-file.ts';
import type { StoreFile } from '../store/store-file.ts';
import { WriterBell } from './writer-bell.ts';
import { errorOf } from './writer-messages.ts';
import type { CommitJob, FromWriter, Outcome, ToWriter, WriterStart } from './writer-messages.ts';

/**
 * Commits are sent in batches of this many, or at the end of the tick, so that the writer begins while others prepare. One
 * that finds the writer idle is sent at once.
 */
const BATCH = 16;

/** What the writer found when it opened the store. */
export interface WriterFacts {
  readonly wal: boolean;
  readonly storeId: string;
}

/** What a group left in the log. */
export interface Written {
  readonly namespaces: ReadonlySet<string>;
  /** About so many pages of the WAL. */
  readonly pages: number;
}

/** Pages that a group changes beside those of its commits: the ends of tables and indexes. */
const PAGES_PER_GROUP = 5;
/** Pages that a commit changes beside those that its text fills. */
const PAGES_PER_COMMIT = 2;

/** A commit on its way to the writer. */
interface Outgoing {
  readonly job: number;
  /** A {@link CommitJob} as JSON. */
  readonly text: string;
}

/** What is remembered of a commit that waits for its answer. */
interface Sent {
  readonly commitId: CommitId;
  readonly namespace: NamespaceId;
  readonly length: number;
}

interface Pending {
  /** Absent for maintenance. */
  readonly sent?: Sent | undefined;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
}

/** This process's end of the writer thread. */
export class WriterClient {
  readonly #worker: Worker;
  readonly #bell: WriterBell;
  readonly #place: string;
  readonly #pending = new Map<number, Pending>();
  readonly #onWritten: (written: Written) => void;
  #outbox: Outgoing[] = [];
  #nextJob = 1;
  /** Why nothing is accepted any more. */
  #gone: TurnkeepError | undefined;
  #closing: Promise<void> | undefined;
  #ended: () => void = () => undefined;

  private constructor(worker: Worker, bell: WriterBell, place: string, onWritten: (written: Written) => void) {
    this.#worker = worker;
    this.#bell = bell;
    this.#place = place;
    this.#onWritten = onWritten;
  }

  /** Starts the thread, which opens the store. `onWritten` hears of each group that left commits. Tests bring a thread. */
  static async start(
    file: StoreFile,
    onWritten: (written: Written) => void,
    thread: URL = new URL('./writer-thread.js', import.meta.url),
  ): Promise<{ readonly client: WriterClient; readonly facts: WriterFacts }> {
    const bell = new WriterBell();
    const start: WriterStart = { file, bell: bell.memory };
    const worker = new Worker(thread, { workerData: start, ...threadOptions() });
    const client = new WriterClient(worker, bell, file.path, onWritten);
    return { client, facts: await client.#opened() };
  }

  /** A commit is being made ready: a writer that has nothing to do can begin. */
  expectCommit(): void {
    if (this.#pending.size === 0 && !this.#gone) this.#bell.announce();
  }

  async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    if (this.#pending.size >= LIMITS.queuedCommits)
      throw new TurnkeepError('overloaded', { queued: this.#pending.size });
    const job = this.#nextJob++;
    const text = JSON.stringify({ job, envelope } satisfies CommitJob);
    const { commitId, namespace } = envelope.commit;
    const forget = onAbort(signal, () => this.#abort(job, signal));
    try {
      const sent = { commitId, namespace, length: envelope.length };
      const outcome = await this.#await(job, sent, () => this.#enqueue({ job, text }));
      if ('receipt' in outcome) return JSON.parse(outcome.receipt) as Receipt; // the writer made it
    } catch (error) {
      throw calledFrom(error);
    } finally {
      forget();
    }
    throw new Error('the writer answered a commit with something else');
  }

  /** One step of a collection, of a conversation whose id comes after `after`. */
  collectStep(namespace: string, after: string): Promise<CollectStep> {
    return this.#maintain((job) => ({ kind: 'collect', job, namespace, after }));
  }

  /** Work on the bytes of attachments. */
  async blob(call: BlobCall): Promise<BlobStep> {
    const job = this.#nextJob++;
    const outcome = await this.#await(job, undefined, () => this.#post({ kind: 'blob', job, call }));
    if ('blob' in outcome) return outcome.blob;
    throw new Error('the writer answered work on attachments with something else');
  }

  /** Empties the WAL; `more` where a reader was in the way. */
  truncate(): Promise<CollectStep> {
    return this.#maintain((job) => ({ kind: 'truncate', job }));
  }

  /** Moves the rest of the WAL into the file, so that it begins anew. What goes wrong shows in the next commit. */
  async checkpoint(): Promise<void> {
    try {
      await this.#maintain((job) => ({ kind: 'checkpoint', job }));
    } catch {
      // The WAL stays long for now.
    }
  }

  /** Finishes what was accepted. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#gone) return;
    this.#flush();
    this.#gone = new TurnkeepError('closed', { what: 'the store' });
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    this.#worker.ref();
    this.#post({ kind: 'close' });
    await ended;
  }

  #opened(): Promise<WriterFacts> {
    return new Promise((resolve, reject) => {
      this.#worker.on('message', (message: FromWriter) => {
        if (message.kind === 'open') {
          this.#worker.unref();
          resolve(message);
        } else if (message.kind === 'refused') {
          reject(message.error ? errorFromData(message.error) : new Error(message.fault));
        } else {
          this.#receive(message);
        }
      });
      const lost = (reason: string) => {
        this.#lose(reason);
        reject(new TurnkeepError('store_unavailable', { place: this.#place, reason }));
      };
      this.#worker.on('error', (error: Error) => lost(`the writer thread failed: ${error.message}`));
      this.#worker.on('exit', (code) => lost(`the writer thread ended with code ${code}`));
    });
  }

  #receive(message: FromWriter): void {
    if (message.kind !== 'done') return;
    const namespaces = new Set<string>();
    let pages = PAGES_PER_GROUP;
    for (const outcome of message.outcomes) {
      const pending = this.#take(outcome.job);
      if (!pending) continue;
      if ('error' in outcome || 'fault' in outcome) {
        pending.reject(errorOf(outcome));
        continue;
      }
      if ('receipt' in outcome && pending.sent && !outcome.replayed) {
        namespaces.add(pending.sent.namespace);
        pages += PAGES_PER_COMMIT + pending.sent.length / PAGE_BYTES;
      }
      pending.resolve(outcome);
    }
    if (namespaces.size > 0) this.#onWritten({ namespaces, pages });
  }

  #enqueue(outgoing: Outgoing): void {
    if (this.#outbox.length === 0) afterPoll(() => this.#flush());
    this.#outbox.push(outgoing);
    if (this.#pending.size === 1 || this.#outbox.length >= BATCH) this.#flush();
  }

  async #maintain(message: (job: number) => ToWriter): Promise<CollectStep> {
    const job = this.#nextJob++;
    const outcome = await this.#await(job, undefined, () => this.#post(message(job)));
    if ('step' in outcome) return outcome.step;
    throw new Error('the writer answered a step with something else');
  }

  #await(job: number, sent: Sent | undefined, begin: () => void): Promise<Outcome> {
    if (this.#gone) return Promise.reject(this.#gone);
    return new Promise((resolve, reject) => {
      // An idle store keeps no process alive; one that owes an answer does.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(job, { sent, resolve, reject });
      begin();
    });
  }

  #take(job: number): Pending | undefined {
    const pending = this.#pending.get(job);
    this.#pending.delete(job);
    // Whoever closes waits for the end of the thread: it may be all that its process waits for.
    if (this.#pending.size === 0 && !this.#closing) this.#worker.unref();
    return pending;
  }

  /** A commit that is still here is withdrawn; one that was sent, by the writer, if no group has it. */
  #abort(job: number, signal: AbortSignal | undefined): void {
    const at = this.#outbox.findIndex((waiting) => waiting.job === job);
    if (at < 0) {
      if (this.#pending.has(job)) this.#post({ kind: 'abort', job });
      return;
    }
    this.#outbox.splice(at, 1);
    this.#take(job)?.reject(abortedBy(signal));
  }

  #flush(): void {
    if (this.#outbox.length === 0) return;
    this.#post({ kind: 'commit', jobs: this.#outbox.map(({ text }) => text) });
    this.#outbox = [];
  }

  #post(message: ToWriter): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(message);
    this.#bell.ring();
  }

  /** The thread is gone: of what it was given, nobody knows what became. */
  #lose(reason: string): void {
    this.#gone ??= new TurnkeepError('store_unavailable', { place: this.#place, reason });
    const unsent = new Set(this.#outbox.map(({ job }) => job));
    this.#outbox = [];
    for (const [job, { sent, reject }] of this.#pending) {
      const isOpen = sent !== undefined && !unsent.has(job);
      reject(isOpen ? new TurnkeepError('outcome_unknown', { commitId: sent.commitId, reason }) : this.#gone);
    }
    this.#pending.clear();
    this.#ended();
  }
}
