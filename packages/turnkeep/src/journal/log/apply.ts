import { ATTACHMENT_KEYS } from '../../core/attachments/rows.ts';
import type { RowValue, WriteSet } from '../../core/backend.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId, NamespaceId } from '../../core/ids.ts';
import { SHELVES } from '../../core/shelf.ts';
import type { LineMeta } from './commit-line.ts';
import { editOf } from './edit.ts';
import type { Edit } from './edit.ts';
import { INDEX, NO_CONVERSATION, NO_NAMESPACE } from '../index/index-keys.ts';
import type { IndexState } from '../index/index-state.ts';
import { packPlace, unpackPlace } from './place.ts';
import type { Place } from './place.ts';

/** What a line changes in the index. */
export interface LineChange extends Pick<WriteSet, 'heads' | 'rows'> {
  readonly n: number;
  readonly namespace: NamespaceId;
  readonly commit?: { readonly conversation: ConversationId; readonly version: number } | undefined;
  readonly edits: readonly Edit[];
}

export function changeOfWrites(n: number, namespace: NamespaceId, writes: WriteSet): LineChange {
  const { log, heads, rows } = writes;
  const commit = log && { conversation: log.conversation, version: log.record.version };
  return { n, namespace, heads, rows, commit, edits: writes.edits.map(editOf) };
}

export function changeOfLine(meta: LineMeta): LineChange {
  const { n, ns, heads, conversation, version } = meta;
  const rows = meta.rows.map(([key, value, elsewhere]) => ({
    conversation: elsewhere ?? conversation ?? NO_CONVERSATION,
    key,
    value,
  }));
  const commit = conversation !== undefined && version !== undefined ? { conversation, version } : undefined;
  return { n, namespace: ns, heads, rows, commit, edits: meta.edits ?? [] };
}

/**
 * Brings a line into the index. A line that was brought in before changes nothing: a version that the conversation's
 * head has passed is a duplicate.
 */
export function applyLine(index: IndexState, change: LineChange, place: Place): void {
  const { namespace, commit, n } = change;
  if (commit && index.get(namespace, commit.conversation, INDEX.place(commit.version))) return;
  for (const { conversation, key, value } of change.rows) {
    index.put(namespace, conversation, key, value);
    if (conversation === SHELVES.attachments) noteAttachment(index, namespace, key, value);
  }
  for (const head of change.heads) {
    noteNamespace(index, namespace, head);
    index.putHead(namespace, head);
    if (head.erasedAt !== null) noteErasure(index, namespace, head);
  }
  if (commit) {
    index.put(namespace, commit.conversation, INDEX.place(commit.version), packPlace(place));
    index.put(namespace, NO_CONVERSATION, INDEX.feed(n), [commit.conversation, commit.version]);
  }
  for (const edit of change.edits) applyOneEdit(index, namespace, edit);
  if (!commit) markForScrub(index, namespace, place);
}

function noteNamespace(index: IndexState, namespace: NamespaceId, head: Head): void {
  if (index.head(namespace, head.conversationId)) return;
  index.put(NO_NAMESPACE, NO_CONVERSATION, INDEX.namespace(namespace), []);
}

/** Lines name an attachment by its digest, which is to go with the bytes. */
function noteAttachment(index: IndexState, namespace: NamespaceId, key: string, value: RowValue | null): void {
  if (!key.startsWith(ATTACHMENT_KEYS.attachments)) return;
  const gone = INDEX.gone(key.slice(ATTACHMENT_KEYS.attachments.length));
  if (value === null) index.put(namespace, NO_CONVERSATION, gone, []);
  else if (index.get(namespace, NO_CONVERSATION, gone)) index.put(namespace, NO_CONVERSATION, gone, null);
}

/** An erased conversation waits for its collection; once collected, for its own lines to be scrubbed. */
function noteErasure(index: IndexState, namespace: NamespaceId, head: Head): void {
  const { conversationId, version } = head;
  index.put(namespace, NO_CONVERSATION, INDEX.uncollected(conversationId), head.collected ? null : []);
  if (!head.collected) return;
  for (let at = 1; at <= version; at++) {
    const row = index.get(namespace, conversationId, INDEX.place(at));
    if (row) markForScrub(index, namespace, unpackPlace(row));
  }
}

function applyOneEdit(index: IndexState, namespace: NamespaceId, edit: Edit): void {
  const key = INDEX.place(edit.version);
  const row = index.get(namespace, edit.conversation, key);
  if (!row) return;
  const { header, nonce, gone, redactions } = edit;
  const place = { ...unpackPlace(row), edit: { header, nonce, gone, redactions } };
  index.put(namespace, edit.conversation, key, packPlace(place));
  markForScrub(index, namespace, place);
}

/** The line says more than it may: its words are to be taken out of the segment. */
export function markForScrub(index: IndexState, namespace: NamespaceId, { segment, byte, length }: Place): void {
  index.put(namespace, NO_CONVERSATION, INDEX.scrub(segment, byte), [length]);
}
