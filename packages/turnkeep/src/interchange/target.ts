import { abortedBy } from '../core/abort.ts';
import type { Commit } from '../core/change.ts';
import { isTurnkeepError } from '../core/errors.ts';
import type { TurnkeepError } from '../core/errors.ts';
import type { ConversationId, MessageId } from '../core/ids.ts';
import type { Message } from '../core/read/message.ts';
import type { Receipt } from '../core/receipt.ts';

/** All that an importer needs of a store: one namespace of it. */
export interface ImportTarget {
  readonly namespace: string;
  commit(commit: Commit): Promise<Pick<Receipt, 'graphRevision' | 'events' | 'replayed'>>;
  /** Where the conversation stands, or `undefined` where it does not exist; asked once, before its first commit. */
  head(conversationId: ConversationId): Promise<{ readonly graphRevision: number } | undefined>;
  /**
   * Every message of the conversation once, on whatever branch it stands, in any order; those whose words are redacted or
   * damaged included. Asked where a file says a conversation otherwise than the store does: rows that the store has
   * elsewhere are then not sent again. Without it they are refused. Those that `except` names may be left out.
   */
  messages?(conversationId: ConversationId, except: ReadonlySet<MessageId>): AsyncIterable<StoredMessage>;
}

/** What an import looks at in a message of the store; one that is damaged has no parts. */
export type StoredMessage = Pick<
  Message,
  'messageId' | 'turnId' | 'sequence' | 'role' | 'parts' | 'metadata' | 'redaction' | 'damage'
>;

/** What an import looks at in a receipt. */
interface SeenReceipt extends Pick<Receipt, 'graphRevision' | 'replayed'> {
  readonly events: readonly { readonly kind: string; readonly sequence?: number | undefined }[];
}

/** What the store answered to a commit: the part of a receipt that an importer goes on with, or a refusal for good. */
export type Outcome = { readonly receipt: SeenReceipt } | { readonly refusal: TurnkeepError };

const MAX_REREADS = 16;

interface SendOptions {
  readonly signal: AbortSignal | undefined;
  readonly mustBeNext?: boolean | undefined;
}

/**
 * Sends a commit. Its expectations say what the plan knows; where the conversation has moved on since (the reader went
 * on with it, another import is at work) it is sent again with what the store says, since an import adds and never
 * replaces. Refusals that another try cannot change are answered; the others are thrown. A commit that has to be the next
 * one (`mustBeNext`) is not sent again at another graph revision: that it moved is answered.
 */
export async function send(
  target: ImportTarget,
  commit: Commit,
  { signal, mustBeNext = false }: SendOptions,
): Promise<Outcome> {
  let asked = commit;
  for (let reread = 0; ; reread++) {
    assertGoesOn(signal);
    try {
      return { receipt: await target.commit(asked) };
    } catch (error) {
      if (!isTurnkeepError(error)) throw error;
      if (mustBeNext && isTurnkeepError(error, 'conflict') && error.details.field === 'graphRevision')
        return { refusal: error };
      const next = reread < MAX_REREADS ? expecting(asked, error) : undefined;
      if (!next) return refusalOf(error);
      asked = next;
    }
  }
}

function refusalOf(error: TurnkeepError): Outcome {
  if (error.retry === 'never' || isOfThePlan(error)) return { refusal: error };
  throw error;
}

/** True where a summary covers what stands on another path than its turn, or no more than the last one: so it stays. */
function isOfThePlan(error: TurnkeepError): boolean {
  if (isTurnkeepError(error, 'summary_not_longer')) return true;
  return isTurnkeepError(error, 'conflict') && error.details.field === 'transcript.turn';
}

/** Throws `aborted` where the caller has given up. */
export function assertGoesOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

/** The commit with the expectation that failed set to what the store found. */
function expecting(commit: Commit, error: TurnkeepError): Commit | undefined {
  if (!isTurnkeepError(error, 'conflict')) return undefined;
  const { field, actual } = error.details;
  const { expect } = commit;
  if (!expect || typeof actual !== 'number') return undefined;
  if (field === 'graphRevision') return { ...commit, expect: { ...expect, graphRevision: actual } };
  if (field !== 'transcript.lastSequence' || !expect.transcript) return undefined;
  return { ...commit, expect: { ...expect, transcript: { ...expect.transcript, lastSequence: actual } } };
}

/**
 * The receipt of a commit that the store has; `holds: false` where it has none of this id, and a refusal where it says
 * something else. It is asked with an expectation that cannot hold, so that nothing is ever written; the store checks for
 * a replay before that.
 */
export async function replayOf(target: ImportTarget, commit: Commit): Promise<Outcome | { readonly holds: false }> {
  try {
    return { receipt: await target.commit({ ...commit, expect: { version: Number.MAX_SAFE_INTEGER } }) };
  } catch (error) {
    if (isTurnkeepError(error, 'conflict')) return { holds: false };
    if (!isTurnkeepError(error)) throw error;
    return refusalOf(error);
  }
}

/** True if the store holds a commit with this id. */
export async function holdsCommit(
  target: ImportTarget,
  { commitId, conversationId, namespace }: Pick<Commit, 'commitId' | 'conversationId' | 'namespace'>,
): Promise<boolean> {
  const changes = [{ kind: 'conversation.update' as const }];
  const answer = await replayOf(target, { commitId, conversationId, namespace, changes });
  return 'receipt' in answer || ('refusal' in answer && answer.refusal.code === 'commit_id_reused');
}
