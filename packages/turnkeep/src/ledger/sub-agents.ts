import type { Change } from '../core/change.ts';
import { isTurnkeepError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { ChangeEvent } from '../core/event.ts';
import type { ConversationId, TurnId } from '../core/ids.ts';
import { afterSeparator, beforeSeparator, KEYS, TABLES } from '../core/keys.ts';
import type { Receipt } from '../core/receipt.ts';
import { isTerminal } from '../core/rules/turn-states.ts';
import { ownTurn, scanPrefix } from '../core/tree/path.ts';
import type { WriteOptions } from './access.ts';
import { ConversationAccess } from './conversation-access.ts';

/** A conversation that a sub-agent has under a turn. */
export interface SubAgent {
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  readonly callId: string | null;
}

/** The sub-agents of a conversation, or of one of its turns; not those of sub-agents. */
export async function subAgentsOf(access: ConversationAccess, turnId?: TurnId): Promise<readonly SubAgent[]> {
  return access.view(({ tree }) => {
    const prefix = turnId === undefined ? TABLES.spawned : KEYS.spawnedOf(turnId);
    return scanPrefix(tree.rows, tree.head.conversationId, prefix).map(({ key, value }) => ({
      conversationId: afterSeparator(key),
      turnId: beforeSeparator(key, 1),
      callId: value[0] as string | null,
    }));
  });
}

/** Refusals that mean that it has ended by itself, or is gone. */
const OVER: ReadonlySet<ErrorCode> = new Set(['illegal_transition', 'turn_terminal', 'no_turn', 'erased']);

/** Writes a commit, then cancels what hangs under the turns that any of its changes cancelled or failed. */
export async function writeAndCancelBelow(
  access: ConversationAccess,
  changes: readonly Change[],
  options?: WriteOptions,
): Promise<Receipt> {
  const receipt = await access.write(changes, options);
  for (const turnId of receipt.events.flatMap(turnsGivenUp)) {
    await unlessOver(() => cancelSubAgents(access, turnId));
  }
  return receipt;
}

function turnsGivenUp(event: ChangeEvent): readonly TurnId[] {
  switch (event.kind) {
    case 'turn.advance':
      return event.to === 'cancelled' || event.to === 'failed' ? [event.turnId] : [];
    case 'operation.resolve':
      return event.status === 'failed' ? [event.turnId] : [];
    case 'turn.submit':
      return event.interrupted ?? [];
    default:
      return [];
  }
}

/**
 * Cancels the work of the sub-agents of a turn that was cancelled or has failed, and of their sub-agents. From the end of
 * their parent's turn on they could begin and complete nothing; this records it in their own histories.
 */
export async function cancelSubAgents(access: ConversationAccess, turnId?: TurnId): Promise<void> {
  for (const { conversationId } of await subAgentsOf(access, turnId)) {
    const child = new ConversationAccess(access.access, access.namespace, conversationId);
    for (const open of await openTurns(child)) {
      await unlessOver(() => child.write([{ kind: 'turn.advance', turnId: open, to: 'cancelled' }]));
    }
    // Also those under turns that have ended: nothing below the parent's turn continues.
    await unlessOver(() => cancelSubAgents(child));
  }
}

async function openTurns(child: ConversationAccess): Promise<readonly TurnId[]> {
  return child.access.read(child.namespace, (rows) => {
    const head = rows.head(child.conversationId);
    if (!head || head.erasedAt !== null) return [];
    // A waiting turn keeps nothing busy, and need not be the leaf.
    const asking = head.openInterrupts.flatMap((id) => {
      const place = rows.get(child.conversationId, KEYS.interruptId(id));
      return place ? [place[0] as TurnId] : [];
    });
    const candidates = new Set([...head.busy, ...asking, ...(head.leaf === null ? [] : [head.leaf])]);
    return [...candidates].filter((turnId) => {
      const turn = ownTurn({ rows, head }, turnId);
      return turn !== undefined && !isTerminal(turn.row.state);
    });
  });
}

async function unlessOver(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isTurnkeepError(error) || !OVER.has(error.code)) throw error;
  }
}
