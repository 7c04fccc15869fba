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
import { abortedBy } from '../core/abort.ts';
import { collectErased } from '../core/collect.ts';
import type { Sha256 } from '../core/digest.ts';
import type { Finding } from '../core/finding.ts';
import { isTurnkeepError, TurnkeepError } from '../core/errors.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import type { Receipt } from '../core/receipt.ts';
import { calledFrom } from '../platform/caller.ts';
import type { Processes } from '../platform/processes.ts';
import { ScratchFiles } from '../platform/scratch-files.ts';
import { examineJournal } from './examine.ts';
import { AttachmentFiles } from './attachment-files.ts';
import { Cooler } from './upkeep/cooler.ts';
import { CommitQueue } from './commit-queue.ts';
import type { Answer } from './commit-queue.ts';
import { assertNoDoubt } from './log/doubts.ts';
import { feedEntries } from './feed.ts';
import { FilterKeeper } from './upkeep/filter-keeper.ts';
import { decideGroup, failedAnswers } from './group-commit.ts';
import { INDEX, NO_CONVERSATION, NO_NAMESPACE } from './index/index-keys.ts';
import { LAYOUT } from './files/layout.ts';
import { JournalAttachments } from './journal-attachments.ts';
import { Listeners } from './listeners.ts';
import type { Lock } from './lock.ts';
import { SyncFailure } from './log/log-writer.ts';
import type { LogWriter } from './log/log-writer.ts';
import type { MarkWriter } from './log/durable-mark.ts';
import { NamespaceRows } from './namespace-rows.ts';
import type { Reader } from './reader.ts';
import { rebuildIndex } from './rebuild.ts';
import { scrub } from './upkeep/scrub.ts';
import { searchCandidates } from './search.ts';
import { IndexDamage, storeError } from './store-error.ts';
import type { StoreParts } from './store-parts.ts';
import { Upkeep } from './upkeep/upkeep.ts';
import { verifyFiles } from './verify-store.ts';

const TRAITS: Traits = {
  backend: 'journal',
  durability: 'power_loss',
  sync: 'one fdatasync for each group of commits',
  sharedWriters: false,
  feedOrder: 'total',
  erasureReach: 'all files of the journal',
};

/** What a handle that may write has beside the parts. */
export interface Writing {
  readonly lock: Lock;
  readonly log: LogWriter;
  readonly mark: MarkWriter;
  /** Newest messages of a conversation that stay hot. */
  readonly hotMessages: number;
}

/**
 * A directory of readable lines. One handle writes; commits are decided on an overlay, a group shares one sync, and the
 * index follows when the sync is done. Other handles read what is durable.
 */
export class JournalBackend implements Backend {
  readonly traits: Traits = TRAITS;
  readonly scratch: Scratch;
  readonly attachments: JournalAttachments;
  readonly #parts: StoreParts;
  readonly #sha256: Sha256;
  readonly #processes: Processes;
  readonly #writing: Writing | undefined;
  readonly #reader: Reader | undefined;
  readonly #queue: CommitQueue;
  readonly #upkeep = new Upkeep();
  /** Absent in a handle that only reads. */
  readonly #cooler: Cooler | undefined;
  readonly #filters: FilterKeeper | undefined;
  readonly #listeners: Listeners;
  /** Readings wait for it: the index is being built anew, or a reader catches up. */
  #gate: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(parts: StoreParts, sha256: Sha256, processes: Processes, access: Writing | Reader) {
    this.#processes = processes;
    this.scratch = new ScratchFiles(`${parts.directory}/${LAYOUT.scratch}`);
    this.#parts = parts;
    this.#sha256 = sha256;
    this.#writing = 'log' in access ? access : undefined;
    this.#reader = 'log' in access ? undefined : access;
    this.#queue = new CommitQueue((group) => this.#writeGroup(group));
    this.#cooler = this.#writing && new Cooler(parts, { ...this.#writing, queue: this.#queue, upkeep: this.#upkeep });
    this.#filters = this.#writing && new FilterKeeper(parts, this.#upkeep);
    this.#listeners = new Listeners(this.#reader && (() => this.#catchUp()));
    this.attachments = new JournalAttachments(
      {
        assertOpen: (signal) => this.#assertOpen(signal),
        assertWriter: () => this.#vouching(),
        rows: (namespace) => this.#rowsOf(namespace),
        alone: (work) => this.#healing(() => this.#queue.alone(work)),
        append: (namespace, writes) => this.#append([{ namespace, writes }]),
        scrub: (namespace) => this.#healing(() => this.#scrub(namespace)),
        sha256,
      },
      new AttachmentFiles(parts.fs, parts.directory, sha256),
    );
  }

  async commit(envelope: Envelope, signal?: AbortSignal): Promise<Receipt> {
    this.#assertOpen(signal);
    this.#writer();
    try {
      const receipt = await this.#queue.push(envelope, signal);
      this.#cooler?.wrote(envelope.commit.namespace, receipt);
      return receipt;
    } catch (error) {
      throw calledFrom(error);
    }
  }

  async read<Result>(namespace: NamespaceId, reading: (rows: RowReader) => Result): Promise<Result> {
    return this.#reading(() => reading(this.#rowsOf(namespace)));
  }

  async feed(namespace: NamespaceId, after: number, limit: number): Promise<readonly FeedEntry[]> {
    return this.#reading(() => feedEntries(this.#parts, namespace, after, limit));
  }

  onCommit(namespace: NamespaceId, listener: () => void): () => void {
    return this.#listeners.add(namespace, listener);
  }

  async search(namespace: NamespaceId, query: SearchQuery, signal?: AbortSignal): Promise<SearchCandidates> {
    this.#assertOpen(signal);
    return this.#reading(() => searchCandidates(this.#parts, namespace, query));
  }

  async namespaces(): Promise<readonly NamespaceId[]> {
    const range = { from: INDEX.namespaceStart, to: INDEX.namespaceEnd };
    return this.#reading(() => {
      assertNoDoubt(this.#parts.folds.state.doubts);
      return this.#parts.index.scan(NO_NAMESPACE, NO_CONVERSATION, range).map(({ key }) => key.slice(1));
    });
  }

  async collect(namespace: NamespaceId, signal?: AbortSignal): Promise<number> {
    this.#assertOpen(signal);
    this.#vouching();
    return this.#healing(() => this.#collectAll(namespace, signal));
  }

  async #collectAll(namespace: NamespaceId, signal: AbortSignal | undefined): Promise<number> {
    let removed = 0;
    for (let last = ''; ;) {
      const next = await this.#uncollectedAfter(namespace, last);
      if (next === undefined) break;
      removed += await this.#collectOne(namespace, next, signal);
      last = next;
    }
    await this.#scrub(namespace);
    this.#filters?.maintain();
    return removed;
  }

  /** Nothing else rewrites segments meanwhile. */
  #scrub(namespace: NamespaceId): Promise<void> {
    const { log } = this.#writer();
    return this.#upkeep.run(() => scrub(this.#parts, log, this.#queue, namespace));
  }

  #uncollectedAfter(namespace: NamespaceId, last: ConversationId): Promise<ConversationId | undefined> {
    const range = { from: `${INDEX.uncollected(last)}\u0000`, to: INDEX.uncollectedEnd, limit: 1 };
    return this.#reading(() => this.#parts.index.scan(namespace, NO_CONVERSATION, range)[0]?.key.slice(1));
  }

  /** Words that cannot be read stay, for `examine` to tell, and the conversation is one that the next collection goes through. */
  async #collectOne(namespace: NamespaceId, conversation: ConversationId, signal?: AbortSignal): Promise<number> {
    const steps = collectErased(this.#rowsOf(namespace), conversation);
    const step = () =>
      this.#queue.alone(async () => {
        const next = steps.next();
        const writes: WriteSet | undefined = next.done === true ? undefined : next.value;
        if (writes) await this.#append([{ namespace, writes }]);
        return writes;
      });
    let removed = 0;
    try {
      for (let writes = await step(); writes; writes = await step()) {
        removed += writes.rows.length;
        this.#assertOpen(signal);
      }
    } catch (error) {
      if (!isTurnkeepError(error, 'corrupt')) throw error;
    }
    return removed;
  }

  async cool(namespace: NamespaceId, options: CoolOptions = {}): Promise<number> {
    this.#assertOpen(options.signal);
    this.#vouching();
    return this.#healing(async () => this.#cooler?.cool(namespace, options) ?? 0);
  }

  async verify(signal?: AbortSignal): Promise<readonly StoreFault[]> {
    this.#assertOpen(signal);
    return this.#healing(() => verifyFiles(this.#parts, this.#writing?.log.end ?? this.#reader?.end, signal));
  }

  /** Folds what came since the last fold, and makes the filters of what was folded. Runs that are due are merged behind it. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    this.#assertOpen(signal);
    this.#vouching();
    const { folds, index } = this.#parts;
    await this.#healing(async () => {
      if (index.recent.commits > 0 || index.folding) await this.#queue.alone(() => folds.fold());
      folds.maintain();
      await this.#filters?.fill();
    });
  }

  async examine(): Promise<readonly Finding[]> {
    this.#assertOpen();
    return this.#healing(async () => examineJournal(this.#parts, this.#processes));
  }

  /** Builds the index anew from the segments. Acknowledged lines that are lost are accepted as lost. */
  async rebuild(signal?: AbortSignal): Promise<void> {
    this.#assertOpen(signal);
    this.#vouching();
    await this.#healing(async () => {
      await this.#filters?.clear();
      await this.#queue.alone(() => this.#rebuild('accept'));
      await this.#filters?.fill();
    });
  }

  async close(): Promise<void> {
    this.#closing ??= this.#closeNow().catch((error: unknown) => Promise.reject(mapped(error)));
    await this.#closing;
  }

  async #closeNow(): Promise<void> {
    this.#listeners.close();
    await this.#filters?.close();
    await this.#cooler?.close();
    await this.#queue.drained();
    this.attachments.close();
    await this.#parts.folds.pause();
    await this.#parts.background.close();
    await this.#gate;
    const { index, segments } = this.#parts;
    index.close();
    segments.forget();
    if (!this.#writing) return;
    const { log, mark, lock } = this.#writing;
    log.close();
    mark.close();
    if (log.broken) lock.releaseUnclean();
    else lock.release();
  }

  #rowsOf(namespace: NamespaceId): NamespaceRows {
    this.#assertBuilt();
    return new NamespaceRows(this.#parts, namespace);
  }

  /** Runs a reading on one snapshot. */
  async #reading<Result>(reading: () => Result): Promise<Result> {
    this.#assertOpen();
    return this.#healing(async () => {
      this.#assertOpen();
      return reading();
    });
  }

  /**
   * Runs work that may be begun anew, on an index that is as far as the log; where that turns out to be damaged, again on one
   * that was built anew. Its failures are `TurnkeepError`s.
   */
  async #healing<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#onWhole(work);
    } catch (error) {
      if (!(error instanceof IndexDamage) || !this.#writing) throw mapped(error);
      try {
        await this.#queue.alone(() => this.#rebuild(error));
        return await this.#onWhole(work);
      } catch (failure) {
        throw mapped(failure);
      }
    }
  }

  async #onWhole<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#reader) await this.#catchUp();
    else await this.#gate;
    this.#assertBuilt();
    return work();
  }

  /** Throws `IndexDamage` where the index was dropped, and what was to build it anew failed: what it lacks may be there. */
  #assertBuilt(): void {
    const { unbuilt } = this.#parts.index;
    if (unbuilt) throw unbuilt;
  }

  /** One reader's catching up at a time. */
  #catchUp(): Promise<boolean> {
    const reader = this.#reader;
    if (!reader) return Promise.resolve(false);
    const next = this.#gate.then(() => reader.refresh());
    this.#gate = next.catch(() => false);
    return next;
  }

  async #rebuild(why: 'accept' | IndexDamage): Promise<void> {
    const { log } = this.#writer();
    const building = rebuildIndex(this.#parts, log.end, why);
    this.#gate = building.catch(() => undefined);
    await building;
  }

  async #writeGroup(group: readonly Envelope[]): Promise<readonly Answer[]> {
    const { folds } = this.#parts;
    if (folds.isBehind()) await folds.idle();
    try {
      return await this.#writeDecided(group);
    } catch (error) {
      if (!(error instanceof IndexDamage)) return group.map(() => mapped(error));
      return this.#rebuild(error)
        .then(() => this.#writeDecided(group))
        .catch((failure: unknown) => group.map(() => mapped(failure)));
    }
  }

  async #writeDecided(group: readonly Envelope[]): Promise<readonly Answer[]> {
    const { log } = this.#writer();
    if (log.broken) return group.map(() => unavailable(log.broken));
    const rowsOf = (namespace: NamespaceId) => this.#rowsOf(namespace);
    const { answers, writes } = decideGroup(group, { rowsOf, sha256: this.#sha256 });
    try {
      await this.#append(writes);
      return answers;
    } catch (error) {
      return failedAnswers(group, answers, error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #append(writes: Parameters<LogWriter['append']>[0]): Promise<void> {
    const { lock, log } = this.#vouching();
    if (writes.length > 0) lock.assertHeld();
    this.#assertBuilt();
    let bytes = 0;
    try {
      bytes = await log.append(writes);
    } catch (error) {
      if (!(error instanceof IndexDamage)) throw error;
      // The lines are durable: the index is built anew with them.
      await this.#rebuild(error);
    }
    for (const namespace of new Set(writes.map((one) => one.namespace))) this.#listeners.notify(namespace);
    this.#parts.folds.maintain(this.#queue.load);
    this.#filters?.wrote(bytes);
  }

  #writer(): Writing {
    if (this.#writing) return this.#writing;
    throw new TurnkeepError('unsupported', { what: 'writing through a handle that was opened to read' });
  }

  /** Throws where a sync failed: what stands at the end of the log is for the next writer to find out. */
  #vouching(): Writing {
    const writing = this.#writer();
    if (writing.log.broken) throw unavailable(writing.log.broken);
    return writing;
  }

  #assertOpen(signal?: AbortSignal): void {
    if (this.#closing) throw new TurnkeepError('closed', { what: 'the store' });
    if (signal?.aborted) throw abortedBy(signal);
  }
}

function mapped(error: unknown): Error {
  if (error instanceof SyncFailure) return unavailable(error);
  if (error instanceof IndexDamage) return new TurnkeepError('corrupt', { place: error.place, reason: error.message });
  return error instanceof TurnkeepError || (error instanceof Error && !('code' in error))
    ? error
    : storeError(error, 'the journal');
}

function unavailable(broken: Error | undefined): TurnkeepError<'store_unavailable'> {
  const reason = `a sync failed, and this handle cannot vouch for anything any more: ${broken?.message ?? ''}`;
  return new TurnkeepError('store_unavailable', { place: 'the journal', reason }, { cause: broken });
}
