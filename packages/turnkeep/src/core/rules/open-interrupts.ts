import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { InterruptId, TurnId } from '../ids.ts';
import { KEYS, afterSeparator, prefixEnd } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { packInterrupt, unpackInterrupt } from '../rows.ts';
import type { InterruptRow } from '../rows.ts';

/** Counts an interrupt among those that wait for an answer, which the head names. */
export function markOpen(draft: Draft, interruptId: InterruptId, path: string): void {
  const open = [...draft.head.openInterrupts, interruptId];
  const max = LIMITS.openInterrupts;
  if (open.length > max) {
    throw new TurnkeepError('limit_exceeded', { limit: 'openInterrupts', max, actual: open.length, path });
  }
  draft.head.openInterrupts = open;
}

/** Ends an open interrupt. */
export function closeInterrupt(draft: Draft, interruptId: InterruptId, row: InterruptRow): void {
  draft.put(KEYS.interrupt(row.turnId, interruptId), packInterrupt(row));
  draft.head.openInterrupts = draft.head.openInterrupts.filter((open) => open !== interruptId);
}

/** A turn that has ended asks nothing any more. */
export function withdrawInterrupts(draft: Draft, turnId: TurnId): void {
  if (draft.head.openInterrupts.length === 0) return;
  const prefix = KEYS.interruptsOf(turnId);
  for (const { key, value } of draft.scan({ from: prefix, to: prefixEnd(prefix) })) {
    const row = unpackInterrupt(turnId, value);
    if (row.status === 'open') {
      closeInterrupt(draft, afterSeparator(key), { ...row, status: 'withdrawn', closedAt: draft.version });
    }
  }
}
