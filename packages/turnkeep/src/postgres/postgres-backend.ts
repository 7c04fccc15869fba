import type {
  Backend,
  CoolOptions,
  Envelope,
  FeedEntry,
  RowReader,
  Scratch,
  SearchCandidates,
  SearchQuery,
  SoughtMessage,
  StoreFault,
  Traits,
} from '../core/backend.ts';
import { abortedBy } from '../core/abort.ts';
import type { Finding } from '../core/finding.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { NamespaceId } from '../core/ids.ts';
import type { Receipt } from '../core/receipt.ts';
import { calledFrom } from '../platform/caller.ts';
import { examineErasures } from './examine-erasures.ts';
import { examineServer } from './examine.ts';
import { Bell } from './driver/bell.ts';
import type { BellOptions } from './driver/bell.ts';
import { checkStore, namespacesOf } from './check.ts';
import { collectNamespace } from './collect.ts';
import { CommitQueue } from './commit/commit-queue.ts';
import { coolNamespace } from './tiers/cool.ts';
import { CoolKeeper } from './tiers/cool-keeper.ts';
import { commitOn } from './commit/commit-within.ts';
import { feedAfter } from './feed.ts';
import { PostgresAttachments } from './postgres-attachments.ts';
import { readSnapshot } from './reading.ts';
import { foldSums } from './commit/fold-sums.ts';
import { rebuildStore } from './rebuild.ts';
import { PostgresScratch } from './scratch.ts';
import { searchCommits } from './search/search.ts';
import { inSession } from './driver/session.ts';
import { readSought } from './search/sought.ts';
import { SumKeeper } from './commit/sum-keeper.ts';
import { commit } from './sql/transaction.ts';
import type { Store } from './store.ts';

export interface BackendParts {
  readonly store: Store;
  readonly traits: Traits;
  readonly bell: BellOptions;
  readonly commitTimeoutMs: number;
  /** True where there is a trigram index. */
  readonly isIndexed: boolean;
  /** Newest messages of a conversation that stay hot. */
  readonly hotMessages: number;
}

/** A store in one schema of a Postgres database, for any number of processes at the same time. */
export class PostgresBackend implements Backend {
  readonly traits: Traits;
  readonly scratch: Scratch;
  readonly attachments: PostgresAttachments;
  readonly #store: Store;
  readonly #isIndexed: boolean;
  readonly #hotMessages: number;
  readonly #queue: CommitQueue;
  readonly #cooling: CoolKeeper;
  readonly #sums: SumKeeper;
  readonly #bell: Bell;
  #closing: Promise<void> | undefined;

  constructor({ store, traits, bell, commitTimeoutMs, isIndexed, hotMessages }: BackendParts) {
    this.traits = traits;
    this.scratch = new PostgresScratch(store);
    this.#store = store;
    this.#isIndexed = isIndexed;
    this.#hotMessages = hotMessages;
    this.#cooling = new CoolKeeper(store, hotMessages);
    this.#sums = new SumKeeper(store);
    this.attachments = new PostgresAttachments(store, (signal) => this.#assertOpen(signal));
    this.#bell = new Bell(store, bell);
    this.#queue = new CommitQueue(store, { commitTimeoutMs, wrote: (namespace) => this.#bell.ring(namespace) });
  }

  async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    this.#assertOpen(signal);
    try {
      const receipt = await this.#queue.commit(envelope, signal);
      this.#cooling.wrote(envelope.commit.namespace, receipt);
      this.#sums.wrote(envelope.commit.namespace, receipt);
      return receipt;
    } catch (error) {
      throw calledFrom(error);
    }
  }

  /**
   * Decides and writes a commit within a transaction of the caller's, on the caller's client, beside rows of their own. It
   * is there if that transaction commits, and the receipt holds only then. A refusal is thrown and leaves the transaction
   * as it was; any other error leaves it failed. The heads that the commit needs stay locked until the transaction ends:
   * other commits of the conversation wait for it. Watchers in other processes see it with their next look.
   */
  async commitWithin(client: unknown, envelope: Envelope): Promise<Receipt> {
    this.#assertOpen();
    return commitOn(this.#store, this.#store.driver.adopt(client), envelope);
  }

  async read<Result>(
    namespace: NamespaceId,
    reading: (rows: RowReader) => Result,
    sought?: SoughtMessage,
  ): Promise<Result> {
    this.#assertOpen();
    const { schema } = this.#store;
    return inSession(this.#store, async (session) => {
      const found = sought && (await readSought(session, schema, namespace, sought, reading));
      if (found) return found.result;
      const result = await readSnapshot(session, schema, namespace, reading);
      await session.run([commit()]);
      return result;
    });
  }

  async feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    this.#assertOpen();
    return feedAfter(this.#store, namespace, after, limit);
  }

  onCommit(namespace: NamespaceId, listener: () => void): () => void {
    return this.#bell.add(namespace, listener);
  }

  async search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    this.#assertOpen(signal);
    return searchCommits(this.#store, namespace, query, this.#isIndexed);
  }

  async namespaces(): Promise<readonly NamespaceId[]> {
    this.#assertOpen();
    return namespacesOf(this.#store);
  }

  async collect(namespace: NamespaceId, signal?: AbortSignal): Promise<number> {
    this.#assertOpen(signal);
    return collectNamespace(this.#store, namespace, signal);
  }

  async cool(namespace: NamespaceId, options: CoolOptions = {}): Promise<number> {
    this.#assertOpen(options.signal);
    return coolNamespace(this.#store, namespace, options.hotMessages ?? this.#hotMessages, options);
  }

  async verify(signal?: AbortSignal): Promise<readonly StoreFault[]> {
    this.#assertOpen(signal);
    return checkStore(this.#store, signal);
  }

  /** Postgres keeps its own indexes with each commit; what commits added to sums is folded into them. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    this.#assertOpen(signal);
    for (const namespace of await this.namespaces()) {
      this.#assertOpen(signal);
      await foldSums(this.#store, namespace);
    }
  }

  async examine(): Promise<readonly Finding[]> {
    this.#assertOpen();
    const findings = [...(await examineServer(this.#store))];
    for (const namespace of await this.namespaces()) findings.push(...(await examineErasures(this.#store, namespace)));
    return findings;
  }

  async rebuild(signal?: AbortSignal): Promise<void> {
    this.#assertOpen(signal);
    await rebuildStore(this.#store, this.#isIndexed, signal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#queue.drained();
    await this.#cooling.close();
    await this.#sums.close();
    this.#bell.close();
    if (this.#store.ownsDriver) await this.#store.driver.close();
  }

  #assertOpen(signal?: AbortSignal): void {
    if (this.#closing) throw new TurnkeepError('closed', { what: 'the store' });
    if (signal?.aborted) throw abortedBy(signal);
  }
}
