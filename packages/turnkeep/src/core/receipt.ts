import type { ChangeKind } from './change.ts';
import type { CommitId, ConversationId } from './ids.ts';
import type { JsonObject } from './json.ts';

/**
 * The mark that a change leaves: its kind, the ids and numbers that it was given, and the record that holds its words.
 * It is what the log's header keeps, what a receipt answers and what a watcher is handed.
 */
export interface ChangeEvent extends JsonObject {
  readonly kind: ChangeKind;
  /** The index of the change's record in its commit. */
  readonly record?: number | undefined;
}

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
