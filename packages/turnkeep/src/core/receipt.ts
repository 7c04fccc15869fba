import type { ChangeEvent } from './event.ts';
import type { CommitId, ConversationId } from './ids.ts';

/** What a commit answers. A replay answers the first receipt, with `replayed` true. */
export interface Receipt {
  readonly commitId: CommitId;
  readonly conversationId: ConversationId;
  /** The conversation's version after this commit. */
  readonly version: number;
  readonly graphRevision: number;
  /** ISO 8601 in UTC; the store's clock. */
  readonly committedAt: string;
  /** One event for each change, in order. */
  readonly events: readonly ChangeEvent[];
  readonly replayed: boolean;
}
