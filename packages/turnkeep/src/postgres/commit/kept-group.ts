import { decide } from '../../core/decide.ts';
import type { Decision } from '../../core/decide.ts';
import type { ConversationId } from '../../core/ids.ts';
import { Overlay } from '../../core/overlay.ts';
import type { Session, Statement } from '../driver/driver.ts';
import { driverFault } from '../driver/driver-errors.ts';
import type { Outcome } from './group.ts';
import { KeptRows } from './kept-rows.ts';
import type { RecentConversations } from './recent-conversations.ts';
import { NOT_SO, checkKept } from '../sql/check-kept.ts';
import type { KeptConversations } from '../sql/check-kept.ts';
import { begin, commit, enterBounded, rollback } from '../sql/transaction.ts';
import type { Store } from '../store.ts';
import { WithoutSums } from './sums.ts';
import type { WaitingCommit } from './waiting-commit.ts';
import { WriteBatch } from './write-batch.ts';
import type { Held } from './write-batch.ts';

export interface KeptGroupOptions {
  readonly namespace: string;
  readonly jobs: readonly WaitingCommit[];
  readonly lockMs: number;
  readonly idleMs: number;
}

export interface KeptOutcomes {
  /** Of the commits that were written. */
  readonly outcomes: ReadonlyMap<WaitingCommit, Outcome>;
  /** What the connection must be sent before anything else: it ends a transaction that failed. */
  readonly pending: readonly Statement[];
}

/**
 * Writes those commits of a group that can be decided on what this process keeps, in one round trip: the transaction locks
 * the heads, fails unless all is as it was taken to be, writes and commits. Answers the commits that it wrote; the others
 * have changed nothing and are for the long way, refusals among them: they would stand on what nobody has checked.
 */
export async function runKept(
  store: Store,
  session: Session,
  recent: RecentConversations,
  { namespace, jobs, lockMs, idleMs }: KeptGroupOptions,
): Promise<KeptOutcomes> {
  const group = new KeptGroup(store, recent, namespace);
  for (const job of jobs) group.decide(job);
  const [written, read] = group.checks();
  const heads = [...written.heads, ...read.heads];
  // Of what goes the long way nobody checks what was taken for absent.
  for (const id of group.unchecked(heads)) recent.forget(namespace, id);
  if (group.outcomes.size === 0) return { outcomes: group.outcomes, pending: [] };
  const { schema } = store;
  const before = [
    begin(),
    enterBounded(namespace, lockMs, idleMs),
    checkKept(schema, namespace, written),
    ...(read.heads.length > 0 ? [checkKept(schema, namespace, read, 'shares')] : []),
  ];
  try {
    const results = await session.run([...before, ...group.batch.statements(schema, namespace), commit()]);
    group.batch.keep(recent, namespace, results[before.length] ?? [], (id) => recent.get(namespace, id)?.rows);
    return { outcomes: group.outcomes, pending: [] };
  } catch (error) {
    const { code, kind } = driverFault(error);
    if (code === NOT_SO) {
      for (const { id } of heads) recent.avoid(namespace, id);
      return { outcomes: new Map(), pending: [rollback()] };
    }
    for (const { id } of heads) recent.forget(namespace, id);
    if (kind === 'lost') for (const job of group.outcomes.keys()) job.noteUnknown();
    throw error;
  }
}

class KeptGroup {
  readonly kept: KeptRows;
  readonly batch: WriteBatch;
  readonly outcomes = new Map<WaitingCommit, Outcome>();
  readonly #store: Store;
  readonly #overlay: Overlay;
  readonly #rows: WithoutSums;
  readonly #held = new Map<ConversationId, Held>();
  /** The conversations that what is written was decided on. */
  readonly #read = new Set<ConversationId>();
  /** Those, and what the other commits asked about. */
  readonly #lookedAt = new Set<ConversationId>();
  /** Conversations of which a commit goes the long way: what follows it there goes behind it. */
  readonly left = new Set<ConversationId>();

  constructor(store: Store, recent: RecentConversations, namespace: string) {
    this.#store = store;
    this.kept = new KeptRows(recent, namespace);
    this.#overlay = new Overlay(this.kept);
    this.#rows = new WithoutSums(this.#overlay);
    this.batch = new WriteBatch(this.#held, this.kept);
  }

  /** What is to be as it was taken to be: of the conversations that are written, and of those that were only read for that. */
  checks(): readonly [written: KeptConversations, read: KeptConversations] {
    const written = [...this.#held.keys()].filter((id) => this.batch.hasHead(id));
    return [this.#asKept(written), this.#asKept([...this.#read].filter((id) => !this.batch.hasHead(id)))];
  }

  /** The conversations of which something may have been taken for absent that the server does not check. */
  unchecked(checked: KeptConversations['heads']): readonly ConversationId[] {
    const isChecked = new Set(checked.map(({ id }) => id));
    return [...this.left, ...this.#lookedAt].filter((id) => this.left.has(id) || !isChecked.has(id));
  }

  #asKept(ids: readonly ConversationId[]): KeptConversations {
    const heads = ids.flatMap((id) => {
      const kept = this.kept.of(id);
      return kept ? [{ id, c: kept.stored.c, packs: kept.stored.packs, text: kept.text }] : [];
    });
    const numbers = new Set(heads.map(({ c }) => c));
    const { keys, ranges } = this.kept.absent;
    return { heads, keys: keys.filter(({ c }) => numbers.has(c)), ranges: ranges.filter(({ c }) => numbers.has(c)) };
  }

  decide(job: WaitingCommit): void {
    const conversations = job.locks;
    const decision = conversations.some((id) => !this.#isKept(id)) ? undefined : this.#tryToDecide(job);
    const read = this.kept.takeRead();
    for (const id of read) this.#lookedAt.add(id);
    if (decision?.outcome !== 'write' || this.batch.notHeld(decision.writes).length > 0) {
      for (const id of conversations) this.left.add(id);
      return;
    }
    for (const id of read) this.#read.add(id);
    this.batch.add(decision.writes);
    this.#overlay.apply(decision.writes);
    this.outcomes.set(job, { kind: 'done', receipt: decision.receipt });
  }

  #isKept(id: ConversationId): boolean {
    const kept = this.left.has(id) ? undefined : this.kept.of(id);
    if (!kept) return false;
    const { c, rank, packs, places } = kept.stored;
    if (!this.#held.has(id)) this.#held.set(id, { c, isNew: false, rank, packs, places });
    return true;
  }

  #tryToDecide(job: WaitingCommit): Decision | undefined {
    try {
      return decide(this.#rows, job.envelope, this.#store.sha256);
    } catch {
      // More is needed than is kept, or something that was taken for absent has to be there: that is seen the long way, as is a
      // mistake of ours.
      return undefined;
    }
  }
}
