import type { FeedEntry } from '../core/backend.ts';
import type { ConversationId, NamespaceId } from '../core/ids.ts';
import { doubtful } from './log/doubts.ts';
import { INDEX, NO_CONVERSATION } from './index/index-keys.ts';
import { lineNumber } from './search.ts';
import type { StoreParts } from './store-parts.ts';

/** A page of a namespace's feed. It ends before lines that are lost; who asks for what stands there is told (`corrupt`). */
export function feedEntries(
  { index, folds }: StoreParts,
  namespace: NamespaceId,
  after: number,
  limit: number,
): readonly FeedEntry[] {
  const [gap] = folds.state.doubts.filter(({ to }) => to > after).toSorted((left, right) => left.from - right.from);
  const range = { from: INDEX.feed(after + 1), to: gap ? INDEX.feed(gap.from) : INDEX.feedEnd, limit };
  const rows = index.scan(namespace, NO_CONVERSATION, range);
  if (gap && rows.length === 0) throw doubtful(gap);
  return rows.map(({ key, value }) => {
    const [conversationId, version] = value as readonly [ConversationId, number];
    return { position: lineNumber(key), conversationId, version };
  });
}
