import type {
  Backend,
  CoolOptions,
  Envelope,
  FeedEntry,
  RowReader,
  Scratch,
  SearchCandidates,
  SearchQuery,
  StoreFault,
  Traits,
} from '../core/backend.ts';
import { assertNotAborted } from '../core/abort.ts';
import type { Finding } from '../core/finding.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import type { Receipt } from '../core/receipt.ts';
import { ScratchFiles } from '../platform/scratch-files.ts';
import { pause } from '../platform/timers.ts';
import { monotonicNow } from '../platform/clock.ts';
import { CommitListeners } from './commit-listeners.ts';
import { MainReader } from './main-reader.ts';
import { ServiceClient } from './threads/service-client.ts';
import { SqliteAttachments } from './sqlite-attachments.ts';
import { identitiesOf, realPath } from './store/own-files.ts';
import { assertInTime } from './store/patience.ts';
import { PAGE_BYTES } from './store/store-file.ts';
import type { StoreFile } from './store/store-file.ts';
import { WriterClient } from './threads/writer-client.ts';
import type { WriterFacts, Written } from './threads/writer-client.ts';

const TRUNCATE_STEP_MS = 5;

/** A store in one SQLite file: a thread that writes, one that serves what takes long, and a connection that reads. */
export class SqliteBackend implements Backend {
  readonly traits: Traits;
  readonly scratch: Scratch;
  readonly attachments: SqliteAttachments;
  readonly #writer: WriterClient;
  readonly #service: ServiceClient;
  readonly #reader: MainReader;
  readonly #listeners: CommitListeners;
  readonly #busyTimeoutMs: number;
  #closing: Promise<void> | undefined;

  private constructor(parts: Parts, traits: Traits) {
    this.traits = traits;
    this.scratch = parts.scratch;
    this.#writer = parts.writer;
    this.#service = parts.service;
    this.#reader = parts.reader;
    this.#listeners = parts.listeners;
    this.#busyTimeoutMs = parts.file.busyTimeoutMs;
    this.attachments = new SqliteAttachments({
      assertOpen: (signal) => this.#assertOpen(signal),
      run: (call) => parts.writer.blob(call),
      reader: parts.reader,
      wrote: (bytes) => parts.service.wrote(bytes / PAGE_BYTES),
      emptyFiles: (signal) => this.#emptyWal(signal),
    });
  }

  static async open(file: StoreFile, hotMessages: number): Promise<SqliteBackend> {
    const told: ((written: Written) => void)[] = [];
    const { client: writer, facts } = await WriterClient.start(file, (written) => told[0]?.(written));
    try {
      const reader = await MainReader.open(file);
      const listeners = new CommitListeners(() => reader.dataVersion());
      const files = identitiesOf(file.path, facts.wal);
      const start = { file, storeId: facts.storeId, files, hotMessages };
      const service = new ServiceClient(start, () => void writer.checkpoint());
      told.push(({ namespaces, pages }) => {
        listeners.tell(namespaces);
        service.wrote(pages);
      });
      const scratch = new ScratchFiles(`${realPath(file.path)}-scratch`);
      return new SqliteBackend({ file, writer, service, reader, listeners, scratch }, traitsOf(facts));
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  expectCommit(): void {
    this.#writer.expectCommit();
  }

  async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    this.#assertOpen(signal);
    return this.#writer.commit(envelope, signal);
  }

  async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    this.#assertOpen();
    return this.#reader.read(namespace, reading);
  }

  async feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    this.#assertOpen();
    return this.#reader.feed(namespace, after, limit);
  }

  onCommit(namespace: NamespaceId, listener: () => void): () => void {
    return this.#closing ? () => undefined : this.#listeners.add(namespace, listener);
  }

  async search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    this.#assertOpen(signal);
    return this.#service.search(namespace, query, signal);
  }

  async namespaces(): Promise<readonly NamespaceId[]> {
    this.#assertOpen();
    return this.#reader.namespaces();
  }

  async collect(namespace: NamespaceId, signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (let after = ''; ;) {
      this.#assertOpen(signal);
      const { rows, more, past } = await this.#writer.collectStep(namespace, after);
      removed += rows;
      after = past ?? after;
      if (!more) break;
    }
    await this.#service.scrub(signal);
    await this.#emptyWal(signal);
    return removed;
  }

  async cool(namespace: NamespaceId, options: CoolOptions = {}): Promise<number> {
    this.#assertOpen(options.signal);
    return this.#service.cool(namespace, options);
  }

  async verify(signal?: AbortSignal): Promise<readonly StoreFault[]> {
    this.#assertOpen(signal);
    return this.#service.verify(signal);
  }

  async catchUp(signal?: AbortSignal): Promise<void> {
    this.#assertOpen(signal);
    return this.#service.catchUp(signal);
  }

  async examine(): Promise<readonly Finding[]> {
    this.#assertOpen();
    return this.#reader.examine();
  }

  async rebuild(signal?: AbortSignal): Promise<void> {
    this.#assertOpen(signal);
    return this.#service.rebuild(signal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#listeners.close();
    await this.#service.close();
    this.#reader.close();
    await this.#writer.close();
  }

  /** What was erased may still stand in the WAL; it is emptied once no reader looks at it any more. */
  async #emptyWal(signal: AbortSignal | undefined): Promise<void> {
    for (const start = monotonicNow(); ;) {
      this.#assertOpen(signal);
      if (!(await this.#writer.truncate()).more) return;
      assertInTime(start, this.#busyTimeoutMs);
      await pause(TRUNCATE_STEP_MS);
    }
  }

  #assertOpen(signal?: AbortSignal): void {
    if (this.#closing) throw new TurnkeepError('closed', { what: 'the store' });
    assertNotAborted(signal);
  }
}

interface Parts {
  readonly file: StoreFile;
  readonly writer: WriterClient;
  readonly service: ServiceClient;
  readonly reader: MainReader;
  readonly listeners: CommitListeners;
  readonly scratch: Scratch;
}

function traitsOf({ wal }: WriterFacts): Traits {
  return {
    backend: 'sqlite',
    durability: 'power_loss',
    sync: wal
      ? 'WAL, synchronous=FULL'
      : 'no WAL on this file system: rollback journal, synchronous=EXTRA; reads wait for commits',
    sharedWriters: true,
    feedOrder: 'total',
    erasureReach: 'every file of the store',
  };
}
