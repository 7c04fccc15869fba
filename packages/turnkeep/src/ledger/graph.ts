import type { TurnId } from '../core/ids.ts';
import { graphTurnOf, graphTurns } from '../core/read/graph.ts';
import type { GraphTurn } from '../core/read/graph.ts';
import { preview } from '../core/read/listing.ts';
import { readMessage } from '../core/read/message.ts';
import { assertVersion } from '../core/read/turns.ts';
import { messagesAt } from '../core/tree/messages.ts';
import { othersTurn } from '../platform/timers.ts';
import { assertNotAborted } from '../core/abort.ts';
import type { View } from './access.ts';
import type { ConversationAccess } from './conversation-access.ts';
import type { GraphOptions, LabelledTurn } from './readings.ts';

/** How many turns' first words are read at a time: some 20 ms, during which the process does nothing else. */
const SLICE = 200;

/** The tree from one reading; the words of its turns from further ones, between which the rest of the process runs. */
export async function readGraph(access: ConversationAccess, options: GraphOptions): Promise<readonly LabelledTurn[]> {
  const { atVersion, signal } = options;
  assertNotAborted(signal);
  const turns = await access.view(({ tree }) => {
    if (atVersion !== undefined) assertVersion(tree, atVersion, 'atVersion');
    return graphTurns(tree, atVersion);
  });
  const labelled: LabelledTurn[] = [];
  for (let at = 0; at < turns.length; at += SLICE) {
    if (at > 0) await othersTurn();
    assertNotAborted(signal);
    const slice = turns.slice(at, at + SLICE);
    labelled.push(...(await access.view((view) => slice.map((turn) => labelledTurn(view, turn)))));
  }
  return labelled;
}

/** One turn of the tree, at a cost that does not grow with it. */
export async function readTurn(access: ConversationAccess, turnId: TurnId): Promise<LabelledTurn | undefined> {
  return access.view((view) => {
    const turn = graphTurnOf(view.tree, turnId);
    return turn && labelledTurn(view, turn);
  });
}

function labelledTurn(view: View, turn: GraphTurn): LabelledTurn {
  const first = messagesAt(view.tree, turn.conversationId, turn.branch, turn.position)[0];
  return { ...turn, label: first ? preview(readMessage(view.tree, view.bodies, first)) : '' };
}
