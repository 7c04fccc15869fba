import type { Change } from '../../core/change.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { CommitId } from '../../core/ids.ts';
import type { Fence } from '../../core/message.ts';
import type { Expect } from '../../core/change.ts';
import type { Receipt } from '../../core/receipt.ts';
import { pause } from '../../platform/timers.ts';
import type { ConversationAccess } from '../conversation-access.ts';

const SENT_AGAIN: ReadonlySet<ErrorCode> = new Set(['outcome_unknown', 'store_busy', 'overloaded']);
const TRIES = 5;
const PAUSE_MS = 50;

export interface Persisting {
  /** The commit's id; minted when absent. */
  readonly idempotencyKey?: string | undefined;
  readonly fence?: Fence | undefined;
  readonly expect?: Expect | undefined;
}

/**
 * Sends a commit until its outcome is known, always under one commit id, so that it is done once. `make` gets that id, from
 * which the ids in the changes derive.
 */
export async function persist(
  access: ConversationAccess,
  make: (commitId: CommitId) => readonly Change[],
  options: Persisting = {},
): Promise<Receipt> {
  const { mintCommitId, surroundings } = access.access;
  const idempotencyKey = options.idempotencyKey ?? mintCommitId(surroundings.now());
  const changes = make(idempotencyKey);
  for (let tries = 1; ; tries++) {
    try {
      return await access.write(changes, { ...options, idempotencyKey });
    } catch (error) {
      if (!isTurnkeepError(error) || !SENT_AGAIN.has(error.code) || tries === TRIES) throw error;
    }
    await pause(PAUSE_MS * 2 ** tries);
  }
}
