import { assert } from '../../core/errors.ts';
import type { Session, Statement } from '../driver/driver.ts';
import { driverFault } from '../driver/driver-errors.ts';
import { decideGroup } from './group.ts';
import type { Outcome } from './group.ts';
import { runKept } from './kept-group.ts';
import type { KnownIds } from './known-ids.ts';
import type { KnownParents } from './known-parents.ts';
import type { RecentConversations } from './recent-conversations.ts';
import { begin, commit, enterBounded, rollback } from '../sql/transaction.ts';
import type { Store } from '../store.ts';
import type { WaitingCommit } from './waiting-commit.ts';

/** Waits for locks that are held for a moment only. */
const LOCK_MS = 10_000;
const IDLE_MS = 30_000;

export interface GroupRun {
  readonly namespace: string;
  readonly jobs: readonly WaitingCommit[];
  /** Milliseconds to wait for heads that somebody else holds; absent: not at all. */
  readonly waitMs?: number | undefined;
}

/** What this process remembers from one group to the next. */
export interface Remembered {
  /** Conversations that it has seen: they exist for ever, if only as tombstones. */
  readonly ids: KnownIds;
  /** Those of them that are forks or have several branches. */
  readonly winding: KnownIds;
  /** Whose sub-agents they are. */
  readonly parents: KnownParents;
  /** Those that it wrote last, with rows. */
  readonly recent: RecentConversations;
}

/**
 * Runs a group: what can be decided on what is remembered goes first, in one round trip, and then the rest as one
 * transaction that locks, loads, decides, writes and commits. Answers what became of each commit once that is durable.
 * Throws the driver's error where a transaction failed as a whole; if that may have been after it was committed, each of
 * its commits has been told so, and those of an earlier one are settled.
 */
export async function runGroup(
  store: Store,
  session: Session,
  remembered: Remembered,
  { namespace, jobs, waitMs }: GroupRun,
): Promise<ReadonlyMap<WaitingCommit, Outcome>> {
  if (waitMs !== undefined) return runLongWay(store, session, remembered, { namespace, jobs, waitMs });
  const bounds = { lockMs: LOCK_MS, idleMs: IDLE_MS };
  const kept = await runKept(store, session, remembered.recent, { namespace, jobs, ...bounds });
  const rest = jobs.filter((job) => !kept.outcomes.has(job));
  if (rest.length === 0) return kept.outcomes;
  for (const [job, outcome] of kept.outcomes) if (outcome.kind === 'done') job.succeed(outcome.receipt);
  const others = await runLongWay(store, session, remembered, { namespace, jobs: rest }, kept.pending);
  return new Map([...kept.outcomes, ...others]);
}

async function runLongWay(
  store: Store,
  session: Session,
  { ids, winding, parents, recent }: Remembered,
  { namespace, jobs, waitMs }: GroupRun,
  pending: readonly Statement[] = [],
): Promise<ReadonlyMap<WaitingCommit, Outcome>> {
  const group = await decideGroup(store, session, namespace, jobs, {
    enter: [...pending, begin(), enterBounded(namespace, waitMs ?? LOCK_MS, IDLE_MS)],
    wait: waitMs !== undefined,
    exists: (id) => waitMs === undefined && ids.has(namespace, id),
    isStraight: (id) => ids.has(namespace, id) && !winding.has(namespace, id),
  });
  for (const id of group.winding) winding.add(namespace, id);
  for (const [child, parent] of group.parents) parents.add(namespace, child, parent);
  if (group.batch.isEmpty) {
    await session.run([rollback()]);
    return group.outcomes;
  }
  const statements = [...group.batch.statements(store.schema, namespace), commit()];
  try {
    const results = await session.run(statements);
    group.batch.keep(recent, namespace, results[0] ?? [], (id) => group.knownRows(id));
    group.keepSeen(recent);
  } catch (error) {
    if (driverFault(error).kind === 'lost') for (const job of jobs) job.noteUnknown();
    throw error;
  }
  for (const id of group.existing) ids.add(namespace, id);
  assert(group.outcomes.size === jobs.length, 'every commit of a group has an outcome');
  return group.outcomes;
}
