import type { MessageId, OperationId, Parent, PromptId, TurnId } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import type { Conversation } from '../model.ts';
import { ownTurn } from '../path.ts';
import { refuse } from '../refusal.ts';
import { isTerminal, stateOf } from '../turn-states.ts';
import { wait, waiting } from './input.ts';
import { settle } from './operation.ts';
import { askPrompt, assertSawTree, busyTurns, move, promptOf, samePrompt, startTurn, underOf } from './turn.ts';

/** Starts a turn; while another is at work, what the caller says. */
export function submit(draft: Draft, change: ChangeOf<'turn.submit'>): Mark {
  const { kind, turnId, messageId, operationId, promptId, parent, taskId, whenBusy, samePromptAs } = change as Minted;
  assertSawTree(draft, parent);
  if (draft.conversation.inputs.has(operationId)) refuse('input_exists', { inputId: operationId });
  if (whenBusy === 'enqueue' && mustWait(draft)) return wait(draft, operationId, 'queued', change);
  if (whenBusy === 'steer' && mustWait(draft)) return wait(draft, operationId, 'steering', change);
  const interrupted = whenBusy === 'interrupt' ? stopAll(draft, parent) : [];
  const prompt = () =>
    samePromptAs === undefined ? askPrompt(draft, promptId, promptOf(change)) : samePrompt(draft, samePromptAs);
  const started = startTurn(draft, { turnId, messageId, operationId, parent, taskId, prompt });
  return { kind, ...started, ...(interrupted.length > 0 ? { interrupted } : {}) };
}

/** Ids that the caller left out were minted beforehand. */
type Minted = ChangeOf<'turn.submit'> & {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly operationId: OperationId;
  readonly promptId: PromptId;
};

/** Nobody overtakes a turn at work, a leaf that waits, or who came before. */
function mustWait({ conversation }: Draft): boolean {
  const leaf = conversation.turns.find((turn) => turn.turnId === conversation.leaf);
  const leafOpen = leaf !== undefined && !isTerminal(stateOf(leaf));
  return atWork(conversation).length > 0 || leafOpen || waiting(conversation).length > 0;
}

/** The turns beside which no other starts; where only its path is busy, the one whose operation is open. */
function atWork(conversation: Conversation): readonly TurnId[] {
  const { fields, openOperation, operations } = conversation;
  if (fields['busyScope'] !== 'path') return busyTurns(conversation).map((turn) => turn.turnId);
  const operation = openOperation === null ? undefined : operations.get(openOperation);
  return operation ? [operation.turnId] : [];
}

/** Cancels what is at work, and the turn that the new one is to stand under. */
function stopAll(draft: Draft, parent: Parent | undefined): readonly TurnId[] {
  const { turnId } = underOf(draft.conversation, parent);
  const busy = atWork(draft.conversation);
  const all = turnId === null || busy.includes(turnId) ? busy : [...busy, turnId];
  const open = all.filter((each) => {
    const turn = ownTurn(draft.conversation, each);
    return turn !== undefined && !isTerminal(stateOf(turn));
  });
  for (const each of open) {
    const turn = ownTurn(draft.conversation, each);
    if (turn) move(draft, turn, 'cancelled');
  }
  settle(draft);
  return open;
}
