import type { ChangeEvent } from '../core/event.ts';
import type { Receipt } from '../core/receipt.ts';
import type { ChangeKind } from '../core/change.ts';
import { TurnkeepError } from '../core/errors.ts';

/**
 * The event of a call's own change. If an earlier call of another kind used the key, and its words are gone so that its
 * content cannot be compared, the commit answers that call's receipt: then `commit_id_reused` says that the key is taken.
 */
export function eventOf<Kind extends ChangeKind>(receipt: Receipt, kind: Kind): ChangeEvent<Kind> {
  const event = receipt.events.find((one): one is ChangeEvent<Kind> => one.kind === kind);
  if (!event) throw new TurnkeepError('commit_id_reused', { commitId: receipt.commitId });
  return event;
}
