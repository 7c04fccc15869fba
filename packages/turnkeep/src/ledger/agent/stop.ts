import { isTurnkeepError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import { assertShape, shortText } from '../../core/shapes.ts';
import { isTerminal } from '../../core/rules/turn-states.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { endFromOutside, LOST_RACE } from './end-from-outside.ts';
import { findTurn } from './hold.ts';
import { outcomeOf } from './outcome.ts';
import type { TurnOutcome } from './outcome.ts';
import { endOfTaken } from './ownership.ts';

/**
 * Stops a turn from anywhere, whoever works on it: it is cancelled at once, what was drafted is kept as an incomplete
 * message, and its owner is told. For a turn that has ended, returns how it ended.
 */
export async function stopTurn(access: ConversationAccess, turnId: TurnId, reason: string): Promise<TurnOutcome> {
  assertShape(shortText, reason, 'reason');
  const how = { to: 'cancelled' as const, agent: 'stop', code: 'stopped', message: reason };
  for (;;) {
    const found = await findTurn(access, turnId);
    if (isTerminal(found.state)) return outcomeOf(access, turnId);
    try {
      const receipt = await endFromOutside(access, turnId, found, how);
      return { turnId, state: 'cancelled', receipt };
    } catch (error) {
      // Somebody took the turn in between: unless they end it, it is stopped in their hands. Two who took it from each other
      // to end it would never finish.
      if (!isTurnkeepError(error) || !LOST_RACE.has(error.code)) throw error;
      await endOfTaken(access, turnId, found.held);
    }
  }
}
