import type { Parent, TurnSubmit } from '../core/change.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { TurnId } from '../core/ids.ts';
import { memberPath } from '../core/json.ts';
import type { Part } from '../core/message.ts';
import { graphTurnOf, parentOf } from '../core/read/graph.ts';
import type { ConversationAccess } from './conversation-access.ts';

/** A submit that starts a turn or is refused. */
export type StartingTurn = Omit<TurnSubmit, 'kind' | 'whenBusy'> & {
  readonly whenBusy?: 'reject' | 'interrupt' | undefined;
};

/** Other words for a turn. Where they stand follows from the turn that they are an edit of. */
export type Edit = Omit<StartingTurn, 'parent' | 'prompt' | 'samePromptAs'> & { readonly prompt: readonly Part[] };

/** What a regeneration may name; the prompt, its author and its metadata are those of the turn that is asked again. */
export type Regeneration = Pick<StartingTurn, 'turnId' | 'operationId' | 'messageId' | 'taskId' | 'whenBusy'>;

const OF_THE_TURN_BEFORE = ['parent', 'samePromptAs'] as const;

/**
 * The parent of a turn, for a new one beside it; it never changes. `no_turn` if the conversation sees no such turn;
 * `invalid_value` if the caller also names a parent in `given`.
 */
export async function parentBeside(access: ConversationAccess, turnId: TurnId, given: object): Promise<Parent> {
  for (const field of OF_THE_TURN_BEFORE) {
    if ((given as { readonly [name: string]: unknown })[field] === undefined) continue;
    const reason = 'it follows from the turn that is named first';
    throw new TurnkeepError('invalid_value', { path: memberPath('turn', field), reason });
  }
  return access.view(({ tree }) => {
    const turn = graphTurnOf(tree, turnId);
    if (!turn) throw new TurnkeepError('no_turn', { turnId });
    return parentOf(turn);
  });
}
