import type { HeadQuery, RowRange } from '../../core/backend.ts';
import type { ConversationId } from '../../core/ids.ts';

/** Something of the store that a decision or a reading asks for. */
export type Ask =
  | { readonly kind: 'head'; readonly conversation: ConversationId }
  | { readonly kind: 'row'; readonly conversation: ConversationId; readonly key: string }
  | { readonly kind: 'range'; readonly conversation: ConversationId; readonly range: RowRange }
  | { readonly kind: 'log'; readonly conversation: ConversationId; readonly version: number }
  /** The log records that the last rows of a range refer to, if they do: nobody misses them, and a plan may foresee them. */
  | { readonly kind: 'words'; readonly conversation: ConversationId; readonly range: RowRange }
  /** Where the last rows of a range of entries stand: the turn after each one's. Nobody misses it as such. */
  | { readonly kind: 'nextTurn'; readonly conversation: ConversationId; readonly range: RowRange }
  /**
   * The row of a turn's or a message's id, and what stands at the place that it names: the branch, the turn, the message. Nobody
   * misses it as such.
   */
  | { readonly kind: 'place'; readonly conversation: ConversationId; readonly key: string }
  /** The row of the id of a conversation's own message, and its words if it is there. Nobody misses it as such. */
  | { readonly kind: 'said'; readonly conversation: ConversationId; readonly key: string }
  | { readonly kind: 'list'; readonly query: HeadQuery };

/** Something was asked for that is not at hand. It is caught, loaded, and what asked runs again from its start. */
export class Miss extends Error {
  readonly ask: Ask;

  constructor(ask: Ask) {
    super('a row is not at hand');
    this.name = 'Miss';
    this.ask = ask;
  }
}
