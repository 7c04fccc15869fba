import type { Envelope, WriteSet } from '../../core/backend.ts';
import { decide } from '../../core/decide.ts';
import type { Decision } from '../../core/decide.ts';
import type { ConversationId } from '../../core/ids.ts';
import { afterSeparator, TABLES } from '../../core/keys.ts';
import { Overlay } from '../../core/overlay.ts';
import { isShelf } from '../../core/shelf.ts';
import type { Receipt } from '../../core/receipt.ts';
import { scanPrefix } from '../../core/tree/path.ts';
import type { Ask } from './ask.ts';
import { drawNumber } from './conversation-number.ts';
import type { Connection, SqlRow, Statement } from '../driver/driver.ts';
import { KnownRows } from './known-rows.ts';
import { Loader, storedHead } from './loader.ts';
import { readPlan } from './read-plan.ts';
import { attempt } from '../reading.ts';
import { isShared } from './shared-shelf.ts';
import { Snapshot } from './snapshot.ts';
import { addHeads } from '../sql/add-heads.ts';
import { loadHeads } from '../sql/load.ts';
import { lockHeads } from '../sql/lock-heads.ts';
import type { Store } from '../store.ts';
import { WithoutSums } from './sums.ts';
import { WriteBatch } from './write-batch.ts';
import type { Held } from './write-batch.ts';

/** A commit as a group takes it. */
export interface Job {
  readonly envelope: Envelope;
  /** The conversations whose heads it locks, its own first: those that it names, and those that an earlier try came upon. */
  readonly locks: readonly ConversationId[];
}

/** What became of a commit in its group. */
export type Outcome =
  | { readonly kind: 'done'; readonly receipt: Receipt }
  | { readonly kind: 'failed'; readonly error: Error }
  /** Somebody else holds a head that it needs. */
  | { readonly kind: 'busy' }
  /** It must wait for an earlier commit of its conversation, which was not decided. */
  | { readonly kind: 'behind' }
  /** It needs more heads than it locked. */
  | { readonly kind: 'needs'; readonly conversations: readonly ConversationId[] };

export interface GroupOptions {
  /** Sent before the locks in the same flush; the last one enters the namespace. */
  readonly enter: readonly Statement[];
  /** True: waits for heads that somebody else holds. */
  readonly wait: boolean;
  /** True for conversations that are known to exist. */
  readonly exists: (conversation: ConversationId) => boolean;
}

/** A group that was decided and not yet written. */
export interface DecidedGroup<J extends Job> {
  readonly outcomes: ReadonlyMap<J, Outcome>;
  readonly batch: WriteBatch;
  /** Of the conversations that are held, those that exist once the batch is written. */
  readonly existing: readonly ConversationId[];
  /** Round trips for rows that the read plan had not foreseen. */
  readonly unforeseen: number;
  /** What is known of the rows of a conversation that is held, as they were before. */
  knownRows(conversation: ConversationId): KnownRows;
}

/**
 * Locks the heads of a group of commits of one namespace, loads what they will ask for, and decides them in order, each
 * on what the ones before it left. Two round trips, where the read plan has foreseen everything. The caller writes the
 * batch and ends the transaction.
 */
export async function decideGroup<J extends Job>(
  store: Store,
  connection: Connection,
  namespace: string,
  jobs: readonly J[],
  options: GroupOptions,
): Promise<DecidedGroup<J>> {
  const group = new Group<J>(store, connection, namespace);
  await group.lock(jobs, options);
  await group.decide();
  return group;
}

class Group<J extends Job> implements DecidedGroup<J> {
  readonly outcomes = new Map<J, Outcome>();
  readonly batch: WriteBatch;
  readonly #store: Store;
  readonly #connection: Connection;
  readonly #namespace: string;
  readonly #held = new Map<ConversationId, Held>();
  readonly #snapshot = new Snapshot();
  readonly #overlay: Overlay;
  readonly #rows: WithoutSums;
  readonly #loader: Loader;
  /** Conversations of which a commit was left for a later group. */
  readonly #postponed = new Set<ConversationId>();
  #open: readonly J[] = [];
  unforeseen = 0;

  constructor(store: Store, connection: Connection, namespace: string) {
    this.#store = store;
    this.#connection = connection;
    this.#namespace = namespace;
    this.#overlay = new Overlay(this.#snapshot);
    this.#rows = new WithoutSums(this.#overlay);
    this.#loader = new Loader(store.schema, namespace, this.#snapshot, this.#held).withoutHeads();
    this.batch = new WriteBatch(this.#held, this.#snapshot);
  }

  get existing(): readonly ConversationId[] {
    return [...this.#held].flatMap(([id, { isNew }]) => (isNew && !this.batch.hasHead(id) ? [] : [id]));
  }

  knownRows(conversation: ConversationId): KnownRows {
    return this.#held.get(conversation)?.isNew === true ? KnownRows.none() : this.#snapshot.rowsOf(conversation);
  }

  async lock(jobs: readonly J[], { enter, wait, exists }: GroupOptions): Promise<void> {
    const own = distinct(jobs.map(({ envelope }) => envelope.commit.conversationId));
    const all = distinct(jobs.flatMap(({ locks }) => locks)).sort();
    const others = all.filter((id) => !own.includes(id));
    const shared = all.filter(isShared);
    const lone = all.filter((id) => !isShared(id));
    const maybeNew = lone.filter((id) => (own.includes(id) || isShelf(id)) && !exists(id));
    const { schema } = this.#store;
    const results = await this.#connection.run([
      ...enter,
      // Of all heads that are locked these have the first keys.
      ...(shared.length > 0 ? [lockHeads(schema, this.#namespace, shared, wait, 'shares')] : []),
      lockHeads(schema, this.#namespace, lone, wait),
      ...(maybeNew.length > 0 ? [addHeads(schema, this.#namespace, maybeNew, maybeNew.map(drawNumber))] : []),
      ...(others.length > 0 ? [loadHeads(schema, this.#namespace, others)] : []),
    ]);
    const answers = results.slice(enter.length);
    if (shared.length > 0) this.#holdLocked(answers.shift() ?? []);
    this.#holdLocked(answers.shift() ?? []);
    if (maybeNew.length > 0) this.#holdNew(answers.shift() ?? []);
    if (others.length > 0) this.#noteAbsent(others, answers.shift() ?? []);
    this.#open = jobs.filter((job) => {
      if (this.#isBehind(job)) return false;
      const isReady = job.locks.every((id) => this.#isSettled(id));
      if (!isReady) this.#postpone(job, { kind: 'busy' });
      return isReady;
    });
  }

  /** Decides until every commit is through; those that lack something wait for the next load, and the others go on. */
  async decide(): Promise<void> {
    await this.#loader.load(
      this.#connection,
      this.#open.flatMap((job) => this.#plan(job)),
    );
    for (;;) {
      const missing = this.#decideOnce();
      if (missing.length === 0) return;
      this.unforeseen += 1;
      await this.#loader.loadMissing(this.#connection, missing);
    }
  }

  #plan({ envelope }: J): readonly Ask[] {
    const stored = this.#snapshot.stored(envelope.commit.conversationId);
    return stored ? readPlan(envelope, stored, this.#store.sha256) : [];
  }

  #decideOnce(): readonly Ask[] {
    const missing: Ask[] = [];
    const waiting: J[] = [];
    const held = new Set<ConversationId>();
    for (const job of this.#open) {
      if (this.#isBehind(job)) continue;
      const conversations = job.locks;
      const ask = conversations.some((id) => held.has(id)) ? 'behind' : this.#decideJob(job);
      if (ask === undefined) continue;
      if (ask !== 'behind') missing.push(ask);
      // What follows in the same conversation is decided on what this one will leave.
      for (const id of conversations) held.add(id);
      waiting.push(job);
    }
    this.#open = waiting;
    return missing;
  }

  /** Answers what the commit lacks, if anything. */
  #decideJob(job: J): Ask | undefined {
    try {
      const tried = attempt(this.#snapshot, () => decide(this.#rows, job.envelope, this.#store.sha256));
      if ('result' in tried) this.#settle(job, tried.result);
      else if (tried.ask.kind === 'head')
        this.#postpone(job, { kind: 'needs', conversations: [tried.ask.conversation, ...this.#subAgentsOf(job)] });
      else return tried.ask;
    } catch (error) {
      // A mistake in the rules is the commit's own failure.
      this.outcomes.set(job, { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
    }
    return undefined;
  }

  /** An erasure comes upon one sub-agent after the other: the others of those that it holds are locked with the first. */
  #subAgentsOf(job: J): readonly ConversationId[] {
    if (job.envelope.commit.changes[0]?.kind !== 'conversation.erase') return [];
    return job.locks.flatMap((id) => {
      const found = attempt(this.#snapshot, () => scanPrefix(this.#overlay, id, TABLES.spawned));
      return 'result' in found ? found.result.map(({ key }) => afterSeparator(key) as ConversationId) : [];
    });
  }

  #settle(job: J, decision: Decision): void {
    if (decision.outcome === 'refuse') this.outcomes.set(job, { kind: 'failed', error: decision.error });
    else if (decision.outcome === 'replay') this.outcomes.set(job, { kind: 'done', receipt: decision.receipt });
    else this.#take(job, decision.writes, decision.receipt);
  }

  #take(job: J, writes: WriteSet, receipt: Receipt): void {
    const conversations = this.batch.notHeld(writes);
    if (conversations.length > 0) {
      this.#postpone(job, { kind: 'needs', conversations });
      return;
    }
    this.batch.add(writes);
    this.#overlay.apply(writes);
    this.outcomes.set(job, { kind: 'done', receipt });
  }

  /** Not in this group: what follows in its conversations is for a later one, too. */
  #postpone(job: J, outcome: Outcome): void {
    this.outcomes.set(job, outcome);
    for (const id of job.locks) if (!isShelf(id)) this.#postponed.add(id);
  }

  #isBehind(job: J): boolean {
    const isBehind = job.locks.some((id) => this.#postponed.has(id));
    if (isBehind) this.#postpone(job, { kind: 'behind' });
    return isBehind;
  }

  #holdLocked(rows: readonly SqlRow[]): void {
    for (const row of rows) {
      const stored = storedHead(row);
      const id = stored.head.conversationId;
      const { c, rank, packs, places } = stored;
      this.#held.set(id, { c, isNew: false, rank, packs, places });
      this.#snapshot.putHead(id, stored);
    }
  }

  #holdNew(rows: readonly SqlRow[]): void {
    for (const [id, c] of rows as readonly (readonly [ConversationId, string | number])[]) {
      this.#held.set(id, { c: String(c), isNew: true, rank: 0, packs: '', places: new Map() });
      this.#snapshot.putHead(id, null);
    }
  }

  #noteAbsent(ids: readonly ConversationId[], found: readonly SqlRow[]): void {
    const present = new Set(found.map(([id]) => id));
    for (const id of ids) if (!present.has(id) && !this.#held.has(id)) this.#snapshot.putHead(id, null);
  }

  /** True where the head is held, or there is none to hold. */
  #isSettled(id: ConversationId): boolean {
    return this.#held.has(id) || this.#snapshot.stored(id) === null;
  }
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}
