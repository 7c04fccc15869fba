import type { ConversationId } from '../../core/ids.ts';
import { SHELVES } from '../../core/shelf.ts';

/**
 * The shelf of attachments is shared by the commits that refer to them. Such a commit reads that an attachment is there, and
 * writes that it is used: a row that names its conversation, whose head it holds, and the same words in the attachment's own
 * row whoever comes first. Only who takes attachments away must be alone with the shelf, and who adds one be the only one
 * that adds: they count.
 */
export function isShared(conversation: ConversationId): boolean {
  return conversation === SHELVES.attachments;
}
