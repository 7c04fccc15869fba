import { Worker } from 'node:worker_threads';
import { abortedBy, onAbort } from '../../core/abort.ts';
import type { CoolOptions, SearchCandidates, SearchQuery, StoreFault } from '../../core/backend.ts';
import { TurnkeepError } from '../../core/errors.ts';
import { threadOptions } from '../../platform/thread-options.ts';
import { after } from '../../platform/timers.ts';
import { errorOf } from './writer-messages.ts';
import type { FromService, ServiceCall, ServiceKind, Services, ServiceStart, ToService } from './service-messages.ts';

/** The thread is told of so many pages at once, or of those of so many milliseconds: to wake it for each commit costs more. */
const TOLD_PAGES = 128;
const TELL_MS = 25;

interface Pending {
  readonly onProgress?: ((done: number) => void) | undefined;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** This process's end of the service thread: what takes long runs there, and so does all upkeep of the files. */
export class ServiceClient {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #next = 1;
  #untoldPages = 0;
  #stopTelling: (() => void) | undefined;
  #gone: TurnkeepError | undefined;

  /** `onWalLong` is called when the WAL had better begin anew. */
  constructor(start: ServiceStart, onWalLong: () => void) {
    this.#worker = new Worker(new URL('./service-thread.js', import.meta.url), {
      workerData: start,
      ...threadOptions(),
    });
    this.#worker.on('message', (message: FromService) => {
      if (message.kind === 'wal_long') onWalLong();
      else if (message.kind === 'progress') this.#pending.get(message.id)?.onProgress?.(message.done);
      else this.#receive(message);
    });
    // Not before: to listen is to keep the process alive again.
    this.#worker.unref();
    const lost = (reason: string) =>
      this.#lose(new TurnkeepError('store_unavailable', { place: start.file.path, reason }));
    this.#worker.on('error', (error: Error) =>
      lost(`the service thread failed: ${error.message || JSON.stringify(error)}`),
    );
    this.#worker.on('exit', (code) => lost(`the service thread ended with code ${code}`));
  }

  search(namespace: string, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    return this.#call({ kind: 'search', ask: { namespace, query } }, signal);
  }

  verify(signal?: AbortSignal): Promise<readonly StoreFault[]> {
    return this.#call({ kind: 'verify', ask: undefined }, signal);
  }

  catchUp(signal?: AbortSignal): Promise<void> {
    return this.#call({ kind: 'catch_up', ask: undefined }, signal);
  }

  rebuild(signal?: AbortSignal): Promise<void> {
    return this.#call({ kind: 'rebuild', ask: undefined }, signal);
  }

  /** Answers how many commits moved. */
  cool(namespace: string, { hotMessages, signal, onProgress }: CoolOptions): Promise<number> {
    return this.#call({ kind: 'cool', ask: { namespace, hotMessages } }, signal, onProgress);
  }

  scrub(signal?: AbortSignal): Promise<void> {
    return this.#call({ kind: 'scrub', ask: undefined }, signal);
  }

  /** About so many pages were written: there may be something to index, and a WAL to empty. */
  wrote(pages: number): void {
    if (this.#gone) return;
    this.#untoldPages += pages;
    if (this.#untoldPages >= TOLD_PAGES) this.#tell();
    else this.#stopTelling ??= after(TELL_MS, () => this.#tell());
  }

  #tell(): void {
    this.#stopTelling?.();
    this.#stopTelling = undefined;
    this.#post({ kind: 'wrote', pages: this.#untoldPages });
    this.#untoldPages = 0;
  }

  async close(): Promise<void> {
    if (this.#gone) return;
    this.#lose(new TurnkeepError('closed', { what: 'the store' }));
    const ended = new Promise<void>((resolve) => {
      this.#worker.once('exit', () => resolve());
    });
    this.#worker.ref();
    this.#post({ kind: 'close' });
    await ended;
  }

  async #call<Kind extends ServiceKind>(
    call: ServiceCall & { readonly kind: Kind },
    signal?: AbortSignal,
    onProgress?: (done: number) => void,
  ): Promise<Services[Kind]['answer']> {
    if (this.#gone) throw this.#gone;
    const id = this.#next++;
    const forget = onAbort(signal, () => {
      this.#post({ kind: 'cancel', id });
      this.#settle(id)?.reject(abortedBy(signal));
    });
    try {
      return (await this.#answerTo(id, call, onProgress)) as Services[Kind]['answer']; // the thread answers what was asked
    } finally {
      forget();
    }
  }

  #answerTo(id: number, call: ServiceCall, onProgress: Pending['onProgress']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject, onProgress });
      this.#post({ kind: 'call', id, call });
    });
  }

  #receive(message: Exclude<FromService, { readonly kind: 'wal_long' | 'progress' }>): void {
    const pending = this.#settle(message.id);
    if (message.kind === 'answer') pending?.resolve(message.answer);
    else pending?.reject(errorOf(message.error));
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    // Whoever closes waits for the end of the thread: it may be all that its process waits for.
    if (this.#pending.size === 0 && !this.#gone) this.#worker.unref();
    return pending;
  }

  #lose(error: TurnkeepError): void {
    this.#gone ??= error;
    this.#stopTelling?.();
    for (const { reject } of this.#pending.values()) reject(this.#gone);
    this.#pending.clear();
  }

  #post(message: ToService): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(message);
  }
}
