import type { RowReader, WriteSet } from './backend.ts';
import type { ConversationId } from './ids.ts';

/** placeholder */
export function collectErased(rows: RowReader, conversationId: ConversationId): WriteSet {
  const head = rows.head(conversationId);
  if (!head) throw new Error('no head');
  return { heads: [{ ...head, collected: true }], rows: [], edits: [] };
}
