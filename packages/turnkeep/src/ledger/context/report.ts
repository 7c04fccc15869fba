import type { MessageId } from '../../core/ids.ts';

/** What a context does not show, and why. */
export type ContextLeftOut =
  /** All messages of the path before this one that no summary covers. */
  | { readonly what: 'messages_before'; readonly messageId: MessageId; readonly why: 'budget' | 'window' }
  /** `budget`: a result that came after the summary of its call, and is too large to be told beside it. */
  | {
      readonly what: 'message';
      readonly messageId: MessageId;
      readonly why: 'not_for_models' | 'redacted' | 'empty' | 'budget';
    }
  | {
      readonly what: 'part';
      readonly messageId: MessageId;
      readonly part: string;
      readonly why: 'private' | 'stand_in';
    }
  | { readonly what: NoteKind; readonly id: string; readonly why: 'budget' | 'limit' };

export type NoteKind = 'state' | 'commitment' | 'constraint' | 'decision' | 'memory';

/** What the request says in another way than the transcript, so that a provider accepts it. */
export interface ContextRepair {
  readonly messageId: MessageId;
  readonly callId: string;
  /**
   * `missing_result`: a call without a result got one that says so. `orphan_result`: a result without its call is told in
   * words. `renamed_call`: the id occurs twice, or the provider does not accept it. `late_result`: a result that came after
   * the summary of its call is told in words.
   */
  readonly what: 'missing_result' | 'orphan_result' | 'renamed_call' | 'late_result';
}

/** Where the tokens of a request go. */
export interface ContextTokens {
  readonly budget: number;
  readonly reserved: number;
  readonly instructions: number;
  readonly tools: number;
  readonly summary: number;
  readonly transcript: number;
  readonly notes: number;
  /** The sum of everything except the budget; never above it. */
  readonly total: number;
}

export interface ContextReport {
  readonly tokens: ContextTokens;
  /** The first message of the transcript that is shown; `null` if none is. */
  readonly start: MessageId | null;
  /** How many messages of the transcript are shown. */
  readonly shown: number;
  readonly leftOut: readonly ContextLeftOut[];
  readonly repairs: readonly ContextRepair[];
}
