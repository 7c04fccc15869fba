import { abortedBy } from '../core/abort.ts';
import { namespacesOf } from './check.ts';
import { placeCommits } from './feed.ts';
import { foldCommits } from './search/search-index.ts';
import { inSession } from './driver/session.ts';
import { rebuildRecency } from './sql/check.ts';
import { dropFolded, lockEnds, setIndexed } from './sql/search.ts';
import { begin, commit, enterNamespace } from './sql/transaction.ts';
import type { Store } from './store.ts';

/** Drops and rebuilds what is derived: the listing by activity and the search index, one namespace after the other. */
export async function rebuildStore(store: Store, isIndexed: boolean, signal?: AbortSignal): Promise<void> {
  const { schema } = store;
  for (const namespace of await namespacesOf(store)) {
    if (signal?.aborted) throw abortedBy(signal);
    await inSession(store, async (session) => {
      await session.run([
        begin(),
        enterNamespace(namespace),
        rebuildRecency(schema, namespace),
        lockEnds(schema, namespace),
        dropFolded(schema, namespace),
        setIndexed(schema, namespace, 0),
        commit(),
      ]);
      await placeCommits(store, session, namespace);
      if (isIndexed) await foldCommits(store, session, namespace);
    });
  }
}
