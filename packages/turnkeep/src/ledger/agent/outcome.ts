import { receiptOf } from '../../core/decide.ts';
import { TurnkeepError } from '../../core/errors.ts';
import { headerAt } from '../../core/header.ts';
import type { TurnId } from '../../core/ids.ts';
import { KEYS, numbersIn, prefixEnd } from '../../core/keys.ts';
import { readRun, runOfAttempt } from '../../core/read/agent.ts';
import type { Receipt } from '../../core/receipt.ts';
import { isTerminal } from '../../core/rules/turn-states.ts';
import { ownTurn } from '../../core/tree/path.ts';
import type { View } from '../access.ts';
import type { ConversationAccess } from '../conversation-access.ts';

/** How a run left its turn. */
export interface TurnOutcome {
  readonly turnId: TurnId;
  readonly state: 'completed' | 'waiting' | 'cancelled';
  /** The receipt of the commit that moved the turn there. */
  readonly receipt: Receipt;
}

/** How a turn ended; throws `turn_failed` with the reason if it failed, and `turn_open` if it has not ended. */
export async function outcomeOf(access: ConversationAccess, turnId: TurnId): Promise<TurnOutcome> {
  return access.view((view) => {
    const turn = ownTurn(view.tree, turnId);
    if (!turn) throw new TurnkeepError('no_turn', { turnId });
    const { state } = turn.row;
    if (!isTerminal(state)) throw new TurnkeepError('turn_open', { turnId, state });
    if (state === 'failed') throw new TurnkeepError('turn_failed', { turnId, ...failureOf(view, turnId) });
    return { turnId, state: state as 'completed' | 'cancelled', receipt: receiptOfLastMove(view, turnId) };
  });
}

function receiptOfLastMove({ tree, bodies }: View, turnId: TurnId): Receipt {
  const turn = ownTurn(tree, turnId);
  const { conversationId } = tree.head;
  const prefix = turn && KEYS.turnStates(turn.branch, turn.position);
  const range = prefix === undefined ? undefined : { from: prefix, to: prefixEnd(prefix), reverse: true, limit: 1 };
  const [last] = range ? tree.rows.scan(conversationId, range) : [];
  const moved = last && prefix !== undefined ? numbersIn(last.key, prefix.length)[0] : undefined;
  const version = moved ?? turn?.row.created.version ?? 1;
  return receiptOf(conversationId, headerAt(tree.rows, bodies.sha256, conversationId, version), true);
}

/** Why a turn failed: what its last run said, else its operation. */
function failureOf({ tree, bodies }: View, turnId: TurnId): { readonly code: string; readonly message: string } {
  const attempt = ownTurn(tree, turnId)?.row.attempt;
  const runId = attempt && runOfAttempt(tree, attempt.attempt);
  const reason = runId === undefined || runId === null ? undefined : readRun(tree, bodies, runId)?.reason;
  return reason ?? { code: 'failed', message: 'the turn failed' };
}
