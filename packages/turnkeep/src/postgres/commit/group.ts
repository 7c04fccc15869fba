import type { Envelope, WriteSet } from '../../core/backend.ts';
import { decide } from '../../core/decide.ts';
import type { Decision } from '../../core/decide.ts';
import type { ConversationId } from '../../core/ids.ts';
import { newHead } from '../../core/head.ts';
import type { Head } from '../../core/head.ts';
import { afterSeparator, KEYS, TABLES } from '../../core/keys.ts';
import { Overlay } from '../../core/overlay.ts';
import { isShelf, SHELVES } from '../../core/shelf.ts';
import type { Receipt } from '../../core/receipt.ts';
import { isWork } from '../../core/rules/sub-agent.ts';
import { scanPrefix } from '../../core/tree/path.ts';
import type { Ask } from './ask.ts';
import { drawNumber } from './conversation-number.ts';
import type { Connection, SqlRow, Statement } from '../driver/driver.ts';
import { KnownRows } from './known-rows.ts';
import { asksBeforeCut, asksOfFork, asksOfInherited, asksOfNamed, inheritedBy } from './inherited.ts';
import { justSent, Loader, storedHead } from './loader.ts';
import type { Step } from './loader.ts';
import { doneAs, endOfPath, namedPlaces, placeAsk, readPlan, takenBy } from './read-plan.ts';
import { asksOfTaking } from './taking.ts';
import type { RecentConversations } from './recent-conversations.ts';
import { attempt } from '../reading.ts';
import { isShared } from './shared-shelf.ts';
import { Snapshot } from './snapshot.ts';
import type { StoredHead } from './snapshot.ts';
import { addHeads, keepUnmade } from '../sql/add-heads.ts';
import { loadHeads } from '../sql/load.ts';
import type { DoneAs } from '../sql/load-done.ts';
import { lockMemories, lockRelatives } from '../sql/relatives.ts';
import type { TakenWords } from '../sql/relatives.ts';
import { lockHeads } from '../sql/lock-heads.ts';
import type { HeadLock } from '../sql/lock-heads.ts';
import type { Store } from '../store.ts';
import { WithoutSums } from './sums.ts';
import { WriteBatch } from './write-batch.ts';
import type { Held } from './write-batch.ts';

/** Where the column `head` is of those that a lock answers. */
const HEAD = 4;

/** A commit as a group takes it. */
export interface Job {
  readonly envelope: Envelope;
  /** The conversations whose heads it locks, its own first: those that it names, and those that an earlier try came upon. */
  readonly locks: readonly ConversationId[];
  /** Those whose heads it reads and does not write, that an earlier try came upon. */
  readonly looks: readonly ConversationId[];
}

/** What became of a commit in its group. */
export type Outcome =
  | { readonly kind: 'done'; readonly receipt: Receipt }
  | { readonly kind: 'failed'; readonly error: Error }
  /** Somebody else holds a head that it needs. */
  | { readonly kind: 'busy' }
  /** It must wait for an earlier commit of its conversation, which was not decided. */
  | { readonly kind: 'behind' }
  /** It needs more heads than it locked, to write them or only to read them. */
  | { readonly kind: 'needs'; readonly conversations: readonly ConversationId[]; readonly to: 'write' | 'read' };

export interface GroupOptions {
  /** Sent before the locks in the same flush; the last one enters the namespace. */
  readonly enter: readonly Statement[];
  /** True: waits for heads that somebody else holds. */
  readonly wait: boolean;
  /** True for conversations that are known to exist. */
  readonly exists: (conversation: ConversationId) => boolean;
  /** True for conversations that are known to be of one branch: they go on from nothing. */
  readonly isStraight?: ((conversation: ConversationId) => boolean) | undefined;
}

/** A group that was decided and not yet written. */
export interface DecidedGroup<J extends Job> {
  readonly outcomes: ReadonlyMap<J, Outcome>;
  readonly batch: WriteBatch;
  /** Of the conversations that are held, those that exist once the batch is written. */
  readonly existing: readonly ConversationId[];
  /** Of the conversations that are held and are a sub-agent's, whose. */
  readonly parents: readonly (readonly [child: ConversationId, parent: ConversationId])[];
  /** Of the conversations that are held, those that are forks or have several branches. */
  readonly winding: readonly ConversationId[];
  /** Round trips for rows that the read plan had not foreseen. */
  readonly unforeseen: number;
  /** What is known of the rows of a conversation that is held, as they were before. */
  knownRows(conversation: ConversationId): KnownRows;
  /** Keeps what was only read, once the transaction is through. */
  keepSeen(recent: RecentConversations): void;
}

/**
 * Locks the heads of a group of commits of one namespace and looks up what they name, loads what they will ask for, and decides
 * them in order, each on what the ones before it left. Two round trips, where the read plan has foreseen everything. The caller
 * writes the batch and ends the transaction.
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
  /** Heads that nobody changes meanwhile, as they are stored: those above a sub-agent's. */
  readonly #seen = new Map<ConversationId, string>();
  readonly #snapshot = new Snapshot();
  readonly #overlay: Overlay;
  readonly #rows: WithoutSums;
  readonly #loader: Loader;
  /** Conversations of which a commit was left for a later group. */
  readonly #postponed = new Set<ConversationId>();
  /** Conversations that a commit of the group makes a fork. */
  readonly #forks = new Set<ConversationId>();
  #open: readonly J[] = [];
  #waits = false;
  unforeseen = 0;

  constructor(store: Store, connection: Connection, namespace: string) {
    this.#store = store;
    this.#connection = connection;
    this.#namespace = namespace;
    this.#overlay = new Overlay(this.#snapshot);
    this.#rows = new WithoutSums(this.#overlay);
    const still = { has: (id: ConversationId) => this.#held.has(id) || this.#seen.has(id) };
    this.#loader = new Loader(store.schema, namespace, this.#snapshot, still).withoutHeads();
    this.batch = new WriteBatch(this.#held, this.#snapshot);
  }

  get existing(): readonly ConversationId[] {
    return [...this.#held].flatMap(([id, { isNew }]) => (isNew && !this.batch.hasHead(id) ? [] : [id]));
  }

  get parents(): readonly (readonly [ConversationId, ConversationId])[] {
    return [...this.#held.keys(), ...this.#seen.keys()].flatMap((id) => {
      const parent = this.#snapshot.stored(id)?.head.parent;
      return parent ? [[id, parent.conversationId] as const] : [];
    });
  }

  knownRows(conversation: ConversationId): KnownRows {
    return this.#held.get(conversation)?.isNew === true ? KnownRows.none() : this.#snapshot.rowsOf(conversation);
  }

  get winding(): readonly ConversationId[] {
    return [...this.#held.keys()].filter((id) => {
      const head = this.#snapshot.stored(id)?.head;
      return head ? head.source !== null || head.branches > 1 : this.#forks.has(id);
    });
  }

  async lock(jobs: readonly J[], { enter, wait, exists, isStraight = () => false }: GroupOptions): Promise<void> {
    const own = distinct(jobs.map(({ envelope }) => envelope.commit.conversationId));
    const all = distinct(jobs.flatMap(({ locks }) => locks)).sort();
    const others = all.filter((id) => !own.includes(id));
    const shared = all.filter(isShared);
    const lone = all.filter((id) => !isShared(id));
    const maybeNew = lone.filter((id) => (own.includes(id) || isShelf(id)) && !exists(id));
    const looks = distinct(jobs.flatMap((job) => job.looks)).filter((id) => !all.includes(id));
    this.#waits = wait;
    const taken = takenBy(jobs.map(({ envelope }) => envelope.commit));
    const looksAtMemories = looks.includes(SHELVES.memories);
    const named = jobs.flatMap(({ envelope }) => namedPlaces(envelope.commit));
    const lines = all.filter((id) => !isShelf(id) && !isStraight(id));
    for (const { envelope } of jobs)
      if (envelope.commit.changes[0]?.kind === 'conversation.fork') this.#forks.add(envelope.commit.conversationId);
    await this.#loader.load(this.#connection, named, [
      justSent(enter),
      // Of all heads that are locked these have the first keys.
      ...(shared.length > 0 ? [this.#lockStep(shared, 'shares')] : []),
      ...(looksAtMemories ? this.#memoriesSteps(taken) : []),
      taken ? this.#relativesStep(lone, taken) : this.#lockStep(lone, 'alone'),
      ...this.#lookSteps(looks.filter((id) => id !== SHELVES.memories)),
      ...(maybeNew.length > 0 ? [this.#newStep(maybeNew)] : []),
      ...(others.length > 0 ? [this.#absentStep(others)] : []),
      ...(lines.length > 0 ? [this.#loader.linesStep(lines)] : []),
      ...(taken ? [this.#loader.madeStep(taken)] : []),
      this.#loader.doneStep(jobs.flatMap(({ envelope }) => doneAs(envelope.commit))),
    ]);
    this.#open = jobs.filter((job) => {
      if (this.#isBehind(job)) return false;
      const isReady =
        job.locks.every((id) => this.#isSettled(id)) &&
        job.looks.every((id) => this.#snapshot.stored(id) !== undefined);
      if (!isReady) this.#postpone(job, { kind: 'busy' });
      return isReady;
    });
  }

  #lockStep(ids: readonly ConversationId[], lock: HeadLock): Step {
    return {
      statements: [lockHeads(this.#store.schema, this.#namespace, ids, this.#waits, lock)],
      take: (rows = []) => this.#holdLocked(rows),
    };
  }

  #newStep(ids: readonly ConversationId[]): Step {
    return {
      statements: [addHeads(this.#store.schema, this.#namespace, ids, ids.map(drawNumber))],
      take: (rows = []) => this.#holdNew(rows),
    };
  }

  /** Which of some conversations there are not, where the others could not be locked. */
  #absentStep(ids: readonly ConversationId[]): Step {
    return {
      statements: [loadHeads(this.#store.schema, this.#namespace, ids)],
      take: (rows = []) => this.#noteAbsent(ids, rows),
    };
  }

  /**
   * Looks at the shelf of memories beside others that do, or has it alone, if a memory goes with what the commits take. Where there is
   * no shelf, nobody makes it meanwhile.
   */
  #memoriesSteps(taken: TakenWords | undefined): readonly Step[] {
    const { schema } = this.#store;
    const shelf = SHELVES.memories;
    const alone = taken ? [lockMemories(schema, this.#namespace, taken, this.#waits)] : [];
    const shared = lockHeads(schema, this.#namespace, [shelf], this.#waits, 'shares');
    return [
      { statements: alone, take: (rows = []) => this.#holdLocked(rows) },
      { statements: [shared], take: (rows = []) => this.#see(this.#held.has(shelf) ? [] : rows) },
      {
        statements: [keepUnmade(schema, this.#namespace, shelf), loadHeads(schema, this.#namespace, [shelf])],
        take: ([kept] = [], rows = []) => {
          if (kept?.[0] === true) this.#noteAbsent([shelf], rows);
        },
      },
    ];
  }

  /** Locks heads as {@link #lockStep}, and with them those that the commits come upon. */
  #relativesStep(ids: readonly ConversationId[], taken: TakenWords): Step {
    return {
      statements: [lockRelatives(this.#store.schema, this.#namespace, ids, taken, this.#waits)],
      take: (rows = []) => this.#holdLocked(rows),
    };
  }

  /** Locks heads so that nobody changes them, and whoever only reads them, too, does not wait. */
  #lookSteps(ids: readonly ConversationId[]): readonly Step[] {
    if (ids.length === 0) return [];
    const statements = [lockHeads(this.#store.schema, this.#namespace, ids, this.#waits, 'shares')];
    return [{ statements, take: (rows = []) => this.#see(rows) }];
  }

  /** Decides until every commit is through; those that lack something wait for the next load, and the others go on. */
  async decide(): Promise<void> {
    this.#open = this.#open.filter((job) => !this.#wasDone(job));
    if (this.#open.length === 0) return;
    const above = new Map(this.#open.flatMap((job) => this.#parentsOf(job).map((parent) => [job, parent] as const)));
    const parents = [...above.values()];
    const unseen = distinct(parents.map(({ conversationId }) => conversationId)).filter(
      (id) => this.#snapshot.stored(id) === undefined,
    );
    const turns = parents.map(({ conversationId, turnId }) => placeAsk(conversationId, KEYS.turnId(turnId)));
    await this.#loader.load(
      this.#connection,
      [...this.#loader.takeGuesses(), ...this.#open.flatMap((job) => this.#plan(job)), ...turns],
      this.#lookSteps(unseen),
    );
    this.#open = this.#open.filter((job) => {
      const parent = above.get(job)?.conversationId;
      const isSeen = parent === undefined || this.#snapshot.stored(parent) !== undefined;
      if (!isSeen && !this.#isBehind(job)) this.#postpone(job, { kind: 'needs', conversations: [parent], to: 'read' });
      return isSeen;
    });
    for (;;) {
      const missing = this.#decideOnce();
      if (missing.length === 0) return;
      this.unforeseen += 1;
      await this.#loader.loadMissing(this.#connection, [
        ...missing,
        ...this.#open.flatMap((job) => this.#planAgain(job)),
      ]);
    }
  }

  /** True of a commit that was done before or comes too late, where that alone tells what it is answered. */
  #wasDone(job: J): boolean {
    const { commit } = job.envelope;
    const isErased = typeof this.#snapshot.stored(commit.conversationId)?.head.erasedAt === 'number';
    const isKnown = ({ conversation, key }: DoneAs) => this.#snapshot.peek(conversation, key) !== undefined;
    if (!isErased && !doneAs(commit).some(isKnown)) return false;
    const tried = attempt(this.#snapshot, () => decide(this.#rows, job.envelope, this.#store.sha256));
    if (!('result' in tried) || tried.result.outcome === 'write') return false;
    this.#settle(job, tried.result);
    return true;
  }

  /** The turns that a commit's work hangs under, nearest to its conversation or to the one that it is spawned by. */
  #parentsOf({ envelope: { commit }, locks }: J): readonly NonNullable<Head['parent']>[] {
    if (!commit.changes.some((change) => change.kind === 'conversation.spawn' || isWork(change))) return [];
    return locks.flatMap((id) => this.#snapshot.stored(id)?.head.parent ?? []);
  }

  /** What a plan asks for now that more is known, and did not ask for before. */
  #planAgain(job: J): readonly Ask[] {
    return this.#plan(job).filter((ask) => ask.kind !== 'words' && ask.kind !== 'place' && !this.#snapshot.has(ask));
  }

  #plan({ envelope }: J): readonly Ask[] {
    const { conversationId, changes } = envelope.commit;
    const stored = this.#snapshot.stored(conversationId);
    const [first] = changes;
    if (!stored) {
      if (first?.kind !== 'conversation.fork') return [];
      const own = readPlan(envelope, forkedFrom(first.source, conversationId), this.#store.sha256, () => undefined);
      return asksOfFork(this.#snapshot, first, own);
    }
    const known = (key: string) => this.#snapshot.peek(conversationId, key);
    const plan = [
      ...readPlan(envelope, stored, this.#store.sha256, known),
      ...asksOfNamed(this.#snapshot, envelope.commit),
      ...asksOfTaking(this.#snapshot, envelope.commit, this.#held.keys()),
    ];
    const own = plan.filter((ask) => ask.kind !== 'list' && ask.conversation === conversationId);
    const [branch] = endOfPath(envelope.commit, stored, known);
    const inherited = inheritedBy(this.#snapshot, conversationId, branch);
    const atCuts = envelope.commit.expect?.transcript ? inherited.flatMap(asksBeforeCut) : [];
    return [...plan, ...asksOfInherited(own, inherited), ...atCuts];
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
      else if (tried.ask.kind === 'head') this.#postpone(job, this.#needsHead(job, tried.ask.conversation));
      else return tried.ask;
    } catch (error) {
      // A mistake in the rules is the commit's own failure.
      this.outcomes.set(job, { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
    }
    return undefined;
  }

  /** An erasure comes upon one sub-agent after the other, and writes it; others look at what is above their conversation. */
  #needsHead(job: J, conversation: ConversationId): Outcome {
    const isErasure = job.envelope.commit.changes[0]?.kind === 'conversation.erase';
    if (!isErasure) return { kind: 'needs', conversations: [conversation], to: 'read' };
    return { kind: 'needs', conversations: [conversation, ...this.#subAgentsOf(job)], to: 'write' };
  }

  /** The others of those that an erasure holds are locked with the first. */
  #subAgentsOf(job: J): readonly ConversationId[] {
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
      this.#postpone(job, { kind: 'needs', conversations, to: 'write' });
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

  #see(rows: readonly SqlRow[]): void {
    for (const row of rows) {
      const stored = storedHead(row);
      this.#seen.set(stored.head.conversationId, row[HEAD] as string);
      this.#snapshot.forgetRows(stored.head.conversationId);
      this.#snapshot.putHead(stored.head.conversationId, stored);
    }
  }

  keepSeen(recent: RecentConversations): void {
    for (const [id, text] of this.#seen) {
      // Rows of a shelf change without its head.
      if (isShelf(id)) continue;
      const stored = this.#snapshot.stored(id);
      if (!stored || recent.get(this.#namespace, id)?.text === text) continue;
      recent.put(this.#namespace, { stored, text }, this.#snapshot.rowsOf(id), undefined);
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

/** A fork as it begins, as far as it decides what is asked for. */
function forkedFrom(source: ConversationId, conversation: ConversationId): StoredHead {
  return { c: '0', rank: 0, places: new Map(), packs: '', head: { ...newHead(conversation, 0, ''), source } };
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}
