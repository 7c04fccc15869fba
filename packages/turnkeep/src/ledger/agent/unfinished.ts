import type { Change } from '../../core/change.ts';
import { isTurnkeepError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { RunId, TurnId } from '../../core/ids.ts';
import type { NewMessage, Part } from '../../core/message.ts';
import type { Receipt } from '../../core/receipt.ts';

/** Refusals because of the content, not because of the writer. */
export const UNFIT: ReadonlySet<ErrorCode> = new Set([
  'invalid_value',
  'limit_exceeded',
  'call_exists',
  'already_answered',
  'no_call',
  'usage_conflict',
]);

/** What was drafted and no message has yet. */
export interface Drafted {
  readonly parts: readonly Part[];
  /** True if more was drafted than is here. */
  readonly truncated: boolean;
}

/** How a turn ends that did not complete. */
export interface EarlyEnd {
  readonly to: 'cancelled' | 'failed';
  readonly reason: { readonly code: string; readonly message: string };
}

/**
 * Ends a turn and its run together with what was drafted, as a message that is not complete. Words that no message can hold
 * do not keep the turn from ending: the reason then says that they are lost.
 */
export async function endKeeping(
  drafted: Drafted,
  { turnId, runId }: { readonly turnId: TurnId; readonly runId: RunId },
  { to, reason }: EarlyEnd,
  write: (changes: readonly Change[]) => Promise<Receipt>,
  move: Change = { kind: 'turn.advance', turnId, to },
): Promise<Receipt> {
  const ends = (message: string): readonly Change[] => [
    move,
    { kind: 'run.end', runId, status: to, reason: { code: reason.code, message } },
  ];
  const kept = unfinishedMessage(turnId, drafted, reason.code);
  try {
    return await write([...kept, ...ends(reason.message)]);
  } catch (error) {
    if (kept.length === 0 || !isTurnkeepError(error) || !UNFIT.has(error.code)) throw error;
    return write(ends(`${reason.message} (what was drafted could not be kept: ${error.message})`));
  }
}

/** Drafted parts as a message that was not finished; nothing where there are none. */
function unfinishedMessage(turnId: TurnId, { parts, truncated }: Drafted, reason: string): readonly Change[] {
  const said = parts.filter((one) => one.type !== 'tool_call');
  if (said.length === 0) return [];
  // A call that was only drafted was never made, and nobody will answer it: only its id is noted.
  const unmadeCalls = parts.flatMap((one) => (one.type === 'tool_call' ? [one.callId] : []));
  const notes = { ...(unmadeCalls.length > 0 ? { unmadeCalls } : {}), ...(truncated ? { truncated } : {}) };
  const metadata = Object.keys(notes).length > 0 ? { metadata: notes } : {};
  const message: NewMessage = {
    role: 'assistant',
    parts: said,
    status: 'incomplete',
    finishReason: reason,
    ...metadata,
  };
  return [{ kind: 'message.append', turnId, message }];
}
