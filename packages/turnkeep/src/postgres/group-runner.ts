import { assert } from '../core/errors.ts';
import type { ConversationId } from '../core/ids.ts';
import type { Session } from './driver.ts';
import { driverFault } from './driver-errors.ts';
import { decideGroup } from './group.ts';
import type { Outcome } from './group.ts';
import { begin, commit, enterBounded, rollback } from './sql/transaction.ts';
import type { Store } from './store.ts';
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

/** Conversations that this process has seen: they exist for ever, if only as tombstones. */
export interface KnownConversations {
  has(namespace: string, conversation: ConversationId): boolean;
  add(namespace: string, conversation: ConversationId): void;
}

/**
 * Runs a group as one transaction: locks, loads, decides, writes, commits. Answers what became of each commit once that is
 * durable. Throws the driver's error where the transaction failed as a whole; if that may have been after it was committed,
 * each commit has been told so.
 */
export async function runGroup(
  store: Store,
  session: Session,
  known: KnownConversations,
  { namespace, jobs, waitMs }: GroupRun,
): Promise<ReadonlyMap<WaitingCommit, Outcome>> {
  const group = await decideGroup(store, session, namespace, jobs, {
    enter: [begin(), enterBounded(namespace, waitMs ?? LOCK_MS, IDLE_MS)],
    wait: waitMs !== undefined,
    exists: (id) => waitMs === undefined && known.has(namespace, id),
  });
  if (group.batch.isEmpty) {
    await session.run([rollback()]);
    return group.outcomes;
  }
  const statements = [...group.batch.statements(store.schema, namespace), commit()];
  try {
    await session.run(statements);
  } catch (error) {
    if (driverFault(error).kind === 'lost') for (const job of jobs) job.noteUnknown();
    throw error;
  }
  for (const id of group.existing) known.add(namespace, id);
  assert(group.outcomes.size === jobs.length, 'every commit of a group has an outcome');
  return group.outcomes;
}
