import { TurnkeepError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Fence } from '../../core/message.ts';
import { isTerminal } from '../../core/rules/turn-states.ts';
import { ownTurn } from '../../core/tree/path.ts';
import { pause } from '../../platform/timers.ts';
import type { ConversationAccess } from '../conversation-access.ts';
import { findTurn } from './hold.ts';
import type { Hold } from './hold.ts';
import { readBeat } from './lease.ts';

const LOOK_MS = 50;

/**
 * After commits of the namespace, checks whether the hold is still valid, and reports once if it is not: the turn was
 * stopped, taken over, or erased. Until then the fence protects every commit. Returns a function that ends the watching.
 */
export function watchOwnership(
  access: ConversationAccess,
  hold: Hold,
  lost: (error: TurnkeepError) => void,
): () => void {
  let looking = false;
  let again = false;
  let over = false;
  const stop = access.access.backend.onCommit(access.namespace, look);
  return end;

  function end(): void {
    over = true;
    stop();
  }

  function look(): void {
    if (over) return;
    again = true;
    if (looking) return;
    looking = true;
    void lookOn();
  }

  async function lookOn(): Promise<void> {
    while (again && !over) {
      again = false;
      const error = await lossOf(access, hold);
      if (error && !over) {
        end();
        lost(error);
      }
      // Others may commit a thousand times a second; this turn looks no more often than this.
      else await pause(LOOK_MS);
    }
    looking = false;
  }
}

/** How many looks somebody who took a turn to end it has for doing so. */
const MAX_LOOKS = 100;

/**
 * Waits for the end of a turn that somebody took after `before` to end it, in a commit of its own: an owner that means to work shows that it
 * lives before it takes a turn, whoever ends one never does.
 */
export async function endOfTaken(
  access: ConversationAccess,
  turnId: TurnId,
  before: Pick<Fence, 'token'> | null,
): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const { state, held } = await findTurn(access, turnId);
    if (!held || held.token === before?.token || isTerminal(state) || state === 'waiting') return;
    if (await readBeat(access, held.attempt)) return;
    await pause(LOOK_MS);
  }
}

/** What ended a hold; `undefined` if the turn still belongs to its run. */
export async function lossOf(access: ConversationAccess, { turnId, fence }: Hold): Promise<TurnkeepError | undefined> {
  try {
    return await access.view(({ tree }) => {
      const turn = ownTurn(tree, turnId)?.row;
      if (!turn) return new TurnkeepError('no_turn', { turnId });
      const currentToken = turn.attempt?.token ?? 0;
      if (currentToken !== fence.token) return new TurnkeepError('fenced', { turnId, ...fence, currentToken });
      return isTerminal(turn.state) ? new TurnkeepError('turn_terminal', { turnId, state: turn.state }) : undefined;
    });
  } catch (error) {
    return error instanceof TurnkeepError && error.code === 'erased' ? error : undefined;
  }
}
