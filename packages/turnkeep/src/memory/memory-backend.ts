import { assertNotAborted } from '../core/abort.ts';
import { decide } from '../core/decide.ts';
import { compareKeys } from '../core/backend.ts';
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
  WriteSet,
} from '../core/backend.ts';
import { HOT_MESSAGES } from '../core/cool.ts';
import type { Sha256 } from '../core/digest.ts';
import type { Finding } from '../core/finding.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import type { Receipt } from '../core/receipt.ts';
import { MemoryAttachments } from './memory-attachments.ts';
import { MemoryNamespace } from './memory-namespace.ts';
import { MemoryScratch } from './memory-scratch.ts';

const TRAITS: Traits = {
  backend: 'memory',
  durability: 'none',
  sync: 'nothing is written: the store ends with the process',
  sharedWriters: false,
  feedOrder: 'total',
  erasureReach: 'the memory of this process',
};

/** The reference backend: all in memory, every commit decided and applied in one step of the event loop. */
export class MemoryBackend implements Backend {
  readonly traits: Traits = TRAITS;
  readonly scratch: Scratch = new MemoryScratch();
  readonly attachments: MemoryAttachments;
  readonly #sha256: Sha256;
  readonly #hotMessages: number;
  readonly #namespaces = new Map<NamespaceId, MemoryNamespace>();
  readonly #listeners = new Map<NamespaceId, Set<() => void>>();
  #closed = false;

  /** `hotMessages`: newest messages of a conversation that stay hot when it is cooled. */
  constructor(sha256: Sha256, hotMessages: number = HOT_MESSAGES) {
    this.#hotMessages = hotMessages;
    this.#sha256 = sha256;
    this.attachments = new MemoryAttachments({
      rows: (namespace) => this.#rows(namespace),
      write: (namespace, writes) => this.#write(namespace, writes),
      sha256,
    });
  }

  async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    this.#assertOpen(signal);
    const rows = this.#namespaces.get(envelope.commit.namespace) ?? new MemoryNamespace();
    const decision = decide(rows, envelope, this.#sha256);
    if (decision.outcome === 'refuse') throw decision.error;
    if (decision.outcome === 'write') this.#write(envelope.commit.namespace, decision.writes);
    return decision.receipt;
  }

  async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return reading(this.#rows(namespace));
  }

  async feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    this.#assertOpen();
    return this.#namespaces.get(namespace)?.feed.slice(after, after + limit) ?? [];
  }

  onCommit(namespace: NamespaceId, listener: () => void): () => void {
    let listeners = this.#listeners.get(namespace);
    if (!listeners) this.#listeners.set(namespace, (listeners = new Set()));
    const added = () => listener();
    listeners.add(added);
    return () => listeners.delete(added);
  }

  async search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    this.#assertOpen(signal);
    return this.#namespaces.get(namespace)?.candidates(query) ?? { places: [] };
  }

  async namespaces(): Promise<readonly NamespaceId[]> {
    this.#assertOpen();
    return [...this.#namespaces.keys()].sort(compareKeys);
  }

  async collect(namespace: NamespaceId, signal?: AbortSignal): Promise<number> {
    this.#assertOpen(signal);
    return this.#namespaces.get(namespace)?.collect((writes) => this.#write(namespace, writes)) ?? 0;
  }

  async cool(namespace: NamespaceId, options: CoolOptions = {}): Promise<number> {
    const { hotMessages = this.#hotMessages, signal, onProgress } = options;
    this.#assertOpen(signal);
    return this.#namespaces.get(namespace)?.cool(hotMessages, onProgress) ?? 0;
  }

  async verify(): Promise<readonly StoreFault[]> {
    this.#assertOpen();
    return [];
  }

  async catchUp(): Promise<void> {
    this.#assertOpen();
  }

  async examine(): Promise<readonly Finding[]> {
    this.#assertOpen();
    return [];
  }

  async rebuild(): Promise<void> {
    this.#assertOpen();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Whoever waits for a commit is woken, and told that none will come.
    for (const namespace of this.#listeners.keys()) this.#ring(namespace);
  }

  #write(namespace: NamespaceId, writes: WriteSet): void {
    this.#namespace(namespace).apply(writes);
    this.#ring(namespace);
  }

  #ring(namespace: NamespaceId): void {
    for (const listener of this.#listeners.get(namespace) ?? []) queueMicrotask(listener);
  }

  #rows(namespace: NamespaceId): MemoryNamespace {
    this.#assertOpen();
    return this.#namespaces.get(namespace) ?? new MemoryNamespace();
  }

  #namespace(namespace: NamespaceId): MemoryNamespace {
    let rows = this.#namespaces.get(namespace);
    if (!rows) this.#namespaces.set(namespace, (rows = new MemoryNamespace()));
    return rows;
  }

  #assertOpen(signal?: AbortSignal): void {
    if (this.#closed) throw new TurnkeepError('closed', { what: 'the store' });
    assertNotAborted(signal);
  }
}
