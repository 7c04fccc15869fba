import type { Commit } from '../core/change.ts';
import { isTurnkeepError, TurnkeepError } from '../core/errors.ts';
import type { ConversationId } from '../core/ids.ts';
import type { Receipt } from '../core/receipt.ts';

/** All that an importer needs of a store: one namespace of it. */
export interface ImportTarget {
  readonly namespace: string;
  commit(commit: Commit): Promise<Pick<Receipt, 'graphRevision' | 'events' | 'replayed'>>;
  /** Where the conversation stands, or `undefined` where it does not exist; asked once, before its first commit. */
  head(conversationId: ConversationId): Promise<{ readonly graphRevision: number } | undefined>;
}

/** What an import looks at in a receipt. */
interface SeenReceipt extends Pick<Receipt, 'graphRevision' | 'replayed'> {
  readonly events: readonly { readonly kind: string; readonly sequence?: number | undefined }[];
}

/** What the store answered to a commit: the part of a receipt that an importer goes on with, or a refusal for good. */
export type Outcome = { readonly receipt: SeenReceipt } | { readonly refusal: TurnkeepError };

const MAX_REREADS = 16;

/**
 * Sends a commit. Its expectations say what the plan knows; where the conversation has moved on since (the reader went
 * on with it, another import is at work) it is sent again with what the store says, since an import adds and never
 * replaces. Refusals that another try cannot change are answered; the others are thrown.
 */
export async function send(target: ImportTarget, commit: Commit, signal?: AbortSignal): Promise<Outcome> {
  let asked = commit;
  for (let reread = 0; ; reread++) {
    assertGoesOn(signal);
    try {
      return { receipt: await target.commit(asked) };
    } catch (error) {
      if (!isTurnkeepError(error)) throw error;
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

/** True where what a summary covers stands on another path than its turn: no state of the store will change that. */
function isOfThePlan(error: TurnkeepError): boolean {
  return isTurnkeepError(error, 'conflict') && error.details.field === 'transcript.turn';
}

/** Throws `aborted` where the caller has given up. */
export function assertGoesOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new TurnkeepError('aborted', { reason: String(signal.reason) });
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
 * True if the store holds a commit with this id. It is asked with a commit that can never be written, because its
 * expectation cannot hold; the store checks for a replay before that.
 */
export async function holdsCommit(
  target: ImportTarget,
  commit: Pick<Commit, 'commitId' | 'conversationId' | 'namespace'>,
): Promise<boolean> {
  const { commitId, conversationId, namespace } = commit;
  const expect = { version: Number.MAX_SAFE_INTEGER };
  try {
    await target.commit({ commitId, conversationId, namespace, expect, changes: [{ kind: 'conversation.update' }] });
    return true;
  } catch (error) {
    if (isTurnkeepError(error, 'commit_id_reused')) return true;
    if (isTurnkeepError(error, 'conflict')) return false;
    throw error;
  }
}
