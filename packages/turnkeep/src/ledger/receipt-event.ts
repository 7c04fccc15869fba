import type { ChangeEvent } from '../core/event.ts';
import type { Receipt } from '../core/receipt.ts';
import type { ChangeKind } from '../core/change.ts';
import { TurnkeepError } from '../core/errors.ts';

/**
 * The event of a call's own change. A key that an earlier call of another kind used answers that one's receipt where words
 * of it are gone and its content can no longer be compared: it is told then that the key is taken.
 */
export function eventOf<Kind extends ChangeKind>(receipt: Receipt, kind: Kind): ChangeEvent<Kind> {
  const event = receipt.events.find((one): one is ChangeEvent<Kind> => one.kind === kind);
  if (!event) throw new TurnkeepError('commit_id_reused', { commitId: receipt.commitId });
  return event;
}
