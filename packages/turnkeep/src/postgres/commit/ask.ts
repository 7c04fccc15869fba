import type { HeadQuery, RowRange } from '../../core/backend.ts';
import type { ConversationId } from '../../core/ids.ts';

/** Something of the store that a decision or a reading asks for. */
export type Ask =
  | { readonly kind: 'head'; readonly conversation: ConversationId }
  | { readonly kind: 'row'; readonly conversation: ConversationId; readonly key: string }
  | { readonly kind: 'range'; readonly conversation: ConversationId; readonly range: RowRange }
  | { readonly kind: 'log'; readonly conversation: ConversationId; readonly version: number }
  /** The log record that the last row of a range refers to, if it does: nobody misses it, and a plan may foresee it. */
  | { readonly kind: 'words'; readonly conversation: ConversationId; readonly range: RowRange }
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
