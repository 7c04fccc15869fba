import type { FeedEntry } from '../core/backend.ts';
import type { ConversationId } from '../core/ids.ts';
import type { Connection } from './driver/driver.ts';
import type { Store } from './store.ts';
import { beginFeed, feedWaits, lockFeed, placeInFeed, readFeed } from './sql/feed.ts';
import { begin, commit, enterNamespace } from './sql/transaction.ts';
import { inSession } from './driver/session.ts';

/** Commits that are given their place in one transaction. */
const SLICE = 1_000;

/** Feed entries after a position, after all that can be seen has been given its place. */
export async function feedAfter(
  store: Store,
  namespace: string,
  after: number,
  limit: number,
): Promise<readonly FeedEntry[]> {
  return inSession(store, async (session) => {
    await placeCommits(store, session, namespace);
    const results = await session.run([
      begin(),
      enterNamespace(namespace),
      readFeed(store.schema, namespace, after, limit),
      commit(),
    ]);
    return (results[2] ?? []).map(([position, conversationId, version]) => ({
      position: Number(position),
      conversationId: conversationId as ConversationId, // a text column
      version: Number(version),
    }));
  });
}

/**
 * Gives every commit that can be seen its place in the feed: consecutive numbers, under a short lock on the namespace's
 * last one. A commit that becomes visible later comes later, whenever it began: no reader that has gone on misses it.
 */
export async function placeCommits(store: Store, session: Connection, namespace: string): Promise<void> {
  const { schema } = store;
  const [, , waits] = await session.run([begin(), enterNamespace(namespace), feedWaits(schema, namespace), commit()]);
  if (!waits || waits.length === 0) return;
  for (;;) {
    const results = await session.run([
      begin(),
      enterNamespace(namespace),
      beginFeed(schema, namespace),
      lockFeed(schema, namespace),
      placeInFeed(schema, namespace, SLICE),
      commit(),
    ]);
    if (Number(results[4]?.[0]?.[0]) < SLICE) return;
  }
}
