import { isTurnkeepError } from '../core/errors.ts';
import type { Finding } from '../core/finding.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { uncollectedFindings, unreadIn } from '../core/uncollected.ts';
import type { Uncollected } from '../core/uncollected.ts';
import type { Ask } from './commit/ask.ts';
import { readBlock } from './tiers/blocks.ts';
import type { Session } from './driver/driver.ts';
import { Loader } from './commit/loader.ts';
import { attempt } from './reading.ts';
import { inSession } from './driver/session.ts';
import { Snapshot } from './commit/snapshot.ts';
import { dirtyBlock, nextDirty } from './sql/blocks.ts';
import type { BlockPlace } from './sql/blocks.ts';
import { allUncollected } from './sql/collect.ts';
import { beginSnapshot, commit, enterNamespace } from './sql/transaction.ts';
import type { Store } from './store.ts';

/** Log records that are loaded together. */
const LOGS = 500;

/** What was erased and stands where it cannot be read: a collection cannot take it out. */
export async function examineErasures(store: Store, namespace: NamespaceId): Promise<readonly Finding[]> {
  return inSession(store, async (session) => {
    const { schema } = store;
    const start = [beginSnapshot(), enterNamespace(namespace), allUncollected(schema, namespace)];
    const erased = (await session.run(start)).at(-1) ?? [];
    const places: string[] = [];
    for (const [id, version] of erased) {
      const conversation = { conversationId: id as ConversationId, version: Number(version) }; // a text and a number
      places.push(...(await unreadOf(store, session, namespace, conversation)));
    }
    places.push(...(await unreadBlocks(store, session, namespace)));
    await session.run([commit()]);
    return uncollectedFindings(namespace, places, 'restore the damaged rows from a backup');
  });
}

async function unreadOf(
  { schema }: Store,
  session: Session,
  namespace: NamespaceId,
  erased: Uncollected,
): Promise<readonly string[]> {
  const snapshot = new Snapshot();
  const loader = new Loader(schema, namespace, snapshot);
  try {
    for (;;) {
      const tried = attempt(snapshot, (rows) => unreadIn(rows, erased));
      if ('result' in tried) return tried.result;
      await loader.loadMissing(session, [tried.ask, ...logsAfter(tried.ask)]);
    }
  } catch (error) {
    if (!isTurnkeepError(error, 'corrupt')) throw error;
    return [`conversation ${erased.conversationId}, at ${error.details.place}`];
  }
}

function logsAfter(ask: Ask): readonly Ask[] {
  if (ask.kind !== 'log') return [];
  return Array.from({ length: LOGS }, (_, at) => ({ ...ask, version: ask.version + 1 + at }));
}

/** Blocks that still hold words which went. */
async function unreadBlocks({ schema }: Store, session: Session, namespace: NamespaceId): Promise<readonly string[]> {
  const places: string[] = [];
  for (let after: BlockPlace = { c: '0', first: 0 }; ;) {
    const [[next] = []] = await session.run([nextDirty(schema, namespace, after)]);
    if (!next) return places;
    after = { c: String(next[1]), first: Number(next[2]) };
    const [[row] = []] = await session.run([dirtyBlock(schema, namespace, after)]);
    try {
      readBlock(namespace, after, row);
    } catch (error) {
      if (!isTurnkeepError(error, 'corrupt')) throw error;
      places.push(error.details.place);
    }
  }
}
