import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttachmentStore } from '../core/attachments/store.ts';
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
import type { Finding } from '../core/finding.ts';
import type { NamespaceId } from '../core/ids.ts';
import type { Receipt } from '../core/receipt.ts';
import { openJournal } from '../journal/index.ts';
import type { JournalBackend, JournalOptions } from '../journal/index.ts';
import type { ConformanceTarget } from './target.ts';

// Small folds and segments, so that the cases meet runs, merges and several segments.
const OPTIONS: JournalOptions = { settings: { foldCommits: 8, foldBytes: 8_192, segmentBytes: 262_144, mergeRuns: 3 } };

/** The writers of this process, by directory. */
const writers = new Map<string, JournalBackend>();

/**
 * The journal as the conformance suite drives it. A journal has one writer: what a second handle writes goes through the
 * one that has the lock, what it reads comes from the files, as in another process.
 */
export const journal: ConformanceTarget = {
  name: 'journal',
  durable: true,
  oneWriter: true,
  create: () => mkdtemp(join(tmpdir(), 'turnkeep-conformance-')),
  async open(location) {
    const writer = writers.get(location);
    if (writer) return new SecondHandle(writer, await openJournal(location, { ...OPTIONS, readOnly: true }));
    const first = await openJournal(location, OPTIONS);
    writers.set(location, first);
    const close = first.close.bind(first);
    first.close = () => {
      writers.delete(location);
      return close();
    };
    return first;
  },
  destroy: (location) => rm(location, { recursive: true, force: true }),
  spawn: { module: import.meta.url, exportName: 'journal' },
};

class SecondHandle implements Backend {
  readonly #writer: JournalBackend;
  readonly #reader: JournalBackend;

  constructor(writer: JournalBackend, reader: JournalBackend) {
    this.#writer = writer;
    this.#reader = reader;
  }

  get traits(): Traits {
    return this.#reader.traits;
  }

  get scratch(): Scratch {
    return this.#reader.scratch;
  }

  get attachments(): AttachmentStore {
    const { attachments: writer } = this.#writer;
    return {
      add: (namespace, part) => writer.add(namespace, part),
      finish: (namespace, seal) => writer.finish(namespace, seal),
      discard: (namespace, upload) => writer.discard(namespace, upload),
      collect: (namespace, grace, signal) => writer.collect(namespace, grace, signal),
      part: (namespace, digest, index) => this.#reader.attachments.part(namespace, digest, index),
    };
  }

  commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    return this.#writer.commit(envelope, signal);
  }

  collect(namespace: NamespaceId, signal?: AbortSignal): Promise<number> {
    return this.#writer.collect(namespace, signal);
  }

  catchUp(signal?: AbortSignal): Promise<void> {
    return this.#writer.catchUp(signal);
  }

  cool(namespace: NamespaceId, options?: CoolOptions): Promise<number> {
    return this.#writer.cool(namespace, options);
  }

  examine(): Promise<readonly Finding[]> {
    return this.#reader.examine();
  }

  rebuild(signal?: AbortSignal): Promise<void> {
    return this.#writer.rebuild(signal);
  }

  read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return this.#reader.read(namespace, reading);
  }

  feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    return this.#reader.feed(namespace, after, limit);
  }

  onCommit(namespace: NamespaceId, listener: () => void): () => void {
    return this.#reader.onCommit(namespace, listener);
  }

  search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    return this.#reader.search(namespace, query, signal);
  }

  namespaces(): Promise<readonly NamespaceId[]> {
    return this.#reader.namespaces();
  }

  verify(signal?: AbortSignal): Promise<readonly StoreFault[]> {
    return this.#reader.verify(signal);
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}
