import type { ConversationId, MessageId, TurnId } from 'turnkeep/core';
import type { PageCursor } from './store.ts';

/** A reading. The oracle and the store are asked the same, and must answer the same. */
export type Question =
  | { readonly ask: 'spent' }
  | { readonly ask: 'memories' }
  | { readonly ask: 'usage'; readonly conversation: ConversationId }
  | { readonly ask: 'listing'; readonly order: 'activity' | 'created'; readonly limit: number }
  | { readonly ask: 'tombstone'; readonly conversation: ConversationId }
  | { readonly ask: 'head'; readonly conversation: ConversationId; readonly reader: string }
  | { readonly ask: 'moment'; readonly conversation: ConversationId; readonly version: number }
  | { readonly ask: 'graph'; readonly conversation: ConversationId; readonly version?: number }
  | {
      readonly ask: 'path';
      readonly conversation: ConversationId;
      readonly leaf: TurnId | null;
      readonly version?: number;
    }
  | {
      readonly ask: 'pages';
      readonly conversation: ConversationId;
      readonly leaf: TurnId | null;
      readonly limit: number;
    }
  | { readonly ask: 'pinned'; readonly conversation: ConversationId; readonly pin: Pin; readonly limit: number }
  | {
      readonly ask: 'window';
      readonly conversation: ConversationId;
      readonly leaf: TurnId | null;
      readonly count: number;
      readonly before?: Before;
    }
  | {
      readonly ask: 'context';
      readonly conversation: ConversationId;
      readonly leaf: TurnId | null;
      readonly version?: number;
    }
  | { readonly ask: 'message'; readonly conversation: ConversationId; readonly messageId: MessageId }
  | { readonly ask: 'task'; readonly conversation: ConversationId; readonly taskId: string }
  | {
      readonly ask: 'search';
      readonly conversation?: ConversationId;
      readonly leaf?: TurnId | null;
      readonly text: string;
    }
  | { readonly ask: 'beside'; readonly conversation: ConversationId }
  | { readonly ask: 'held'; readonly conversation: ConversationId };

/** A reading in pages that was begun long ago: where it ended, in both worlds. */
export interface Pin {
  readonly leaf: TurnId | null;
  readonly lastSequence: number;
  readonly messageId: MessageId;
  readonly cursor: PageCursor;
}

/** Where a window ends: before a message, of the path as it was when its last sequence was this one. */
export interface Before {
  readonly lastSequence: number;
  readonly messageId: MessageId;
}
