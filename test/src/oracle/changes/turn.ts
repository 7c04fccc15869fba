import type { JsonObject, MessageId, OperationId, Parent, PromptId, TaskId, TurnId, TurnState } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import type { Conversation, Prompt, Turn, Under } from '../model.ts';
import { cutTurn, findMessage, findTurn, ownTurn, visibleMessages, visibleTurns } from '../path.ts';
import { refuse } from '../refusal.ts';
import { sameJson } from '../same.ts';
import { hasStarted, isBusy, isTerminal, mayMove, stateOf } from '../turn-states.ts';
import { withdrawInterrupts } from './agent.ts';

/** What a new turn starts from. */
export interface TurnStart {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly operationId: OperationId;
  readonly parent?: Parent | undefined;
  readonly taskId?: TaskId | undefined;
  readonly prompt: () => AskedPrompt;
}

/** Prompt, turn (`preparing`) and open operation, together. The active leaf stays. */
export function startTurn(draft: Draft, start: TurnStart): Mark {
  const { turnId, messageId, operationId, parent } = start;
  assertFree(draft.conversation);
  const { openOperation } = draft.conversation;
  if (openOperation !== null) refuse('operation_open', { operationId: openOperation });
  if (findMessage(draft.conversation, messageId)) refuse('message_conflict', { messageId });
  const { prompt, shared } = start.prompt();
  const { ordinal, why } = addTurn(draft, { turnId, parent, state: 'preparing', prompt, shared });
  const message = { messageId, turnId, role: 'user' as const, words: prompt.words, late: false };
  const sequence = draft.addMessage(message, start.taskId);
  const openedAt = draft.stamp.version;
  const operation = { operationId, turnId, status: 'open' as const, failure: null, openedAt };
  draft.become({
    operations: withMember(draft.conversation.operations, operationId, operation),
    openOperation: operationId,
  });
  return { turnId, operationId, messageId, promptId: prompt.promptId, sequence, ordinal, why };
}

/** Whoever names a parent says which tree he saw. */
export function assertSawTree(draft: Draft, parent: Parent | undefined): void {
  if (parent === undefined || draft.commit.expect?.graphRevision !== undefined) return;
  refuse('expect_required', { field: 'graphRevision', change: draft.where });
}

/** A conversation is busy while one of its turns is preparing, dispatching or running. */
function assertFree(conversation: Conversation): void {
  if (conversation.fields['busyScope'] === 'path') return;
  const [turn] = busyTurns(conversation);
  if (turn) refuse('busy', { turnId: turn.turnId, state: stateOf(turn) });
}

/** The turns at work, the one that has not moved for longest first. */
export function busyTurns(conversation: Conversation): readonly Turn[] {
  const lastMove = (turn: Turn) => turn.moves[turn.moves.length - 1]?.stamp ?? { version: 0, index: 0 };
  const busy = conversation.turns.filter((turn) => isBusy(stateOf(turn)));
  return busy.sort((left, right) => {
    const [a, b] = [lastMove(left), lastMove(right)];
    return a.version - b.version || a.index - b.index;
  });
}

export interface AskedPrompt {
  readonly prompt: Prompt;
  /** True where an earlier turn asked the same. */
  readonly shared: boolean;
}

export type AskedWords = Pick<ChangeOf<'turn.submit'>, 'prompt' | 'author' | 'metadata' | 'occurredAt' | 'input'>;

/** What a prompt says. */
export function promptOf({ prompt: parts, author, metadata, occurredAt, input }: AskedWords): JsonObject {
  return { role: 'user', parts, author, metadata, occurredAt, input } as unknown as JsonObject;
}

/** A prompt is immutable: the same id with the same content is the same prompt, with other content a conflict. */
export function askPrompt(draft: Draft, promptId: PromptId, content: JsonObject): AskedPrompt {
  const known = draft.conversation.prompts.get(promptId);
  if (known) {
    if (!sameJson(draft.contentOf(known), content)) refuse('prompt_conflict', { promptId });
    return { prompt: { promptId, words: known }, shared: true };
  }
  const words = draft.say(content, `${draft.where}.prompt`);
  draft.become({ prompts: withMember(draft.conversation.prompts, promptId, words) });
  return { prompt: { promptId, words }, shared: false };
}

/** The prompt of an earlier turn; its words are shared. */
export function samePrompt(draft: Draft, turnId: TurnId): AskedPrompt {
  const prompt = findTurn(draft.conversation, turnId)?.prompt;
  if (!prompt) return refuse('no_turn', { turnId });
  if (draft.contentOf(prompt.words) === null) {
    const first = visibleMessages(draft.conversation).find((message) => message.turnId === turnId);
    refuse('redacted', { messageId: first?.messageId ?? '' });
  }
  return { prompt, shared: true };
}

interface NewTurn {
  readonly turnId: TurnId;
  readonly parent: Parent | undefined;
  readonly state: TurnState;
  readonly prompt: Prompt | null;
  readonly shared: boolean;
}

/** Adds a turn. Its parent is visible to this conversation and has ended. */
function addTurn(draft: Draft, input: NewTurn): Turn {
  const { conversation, stamp } = draft;
  const { turnId, state, prompt } = input;
  if (findTurn(conversation, turnId)) refuse('turn_exists', { turnId });
  const under = underOf(conversation, input.parent);
  const above = under.turnId === null ? undefined : ownTurn(conversation, under.turnId);
  if (above && !isTerminal(stateOf(above))) refuse('path_busy', { turnId: above.turnId, state: stateOf(above) });
  const ordinal = lastOrdinal(conversation, under.turnId) + 1;
  const why = ordinal === 1 ? 'start' : input.shared ? 'regenerate' : 'edit';
  const base = hasStarted(state) ? stamp : null;
  const { conversationId } = conversation;
  const turn: Turn = {
    turnId,
    conversationId,
    under,
    ordinal,
    why,
    moves: [{ stamp, state }],
    base,
    prompt,
    attempt: null,
  };
  draft.become({ turns: [...conversation.turns, turn], graphRevision: conversation.graphRevision + 1 });
  // What a recorded turn took after this one would stand before it on its path and above it in sequence.
  draft.recording = null;
  draft.touch();
  return turn;
}

/** Absent: under the active leaf; `null`: under the root; else under a turn, or under a message within its turn. */
export function underOf(conversation: Conversation, parent: Parent | undefined): Under {
  if (parent === undefined) return { turnId: conversation.leaf, cut: null };
  if (parent === null) return { turnId: null, cut: null };
  if ('messageId' in parent) return underMessage(conversation, parent.messageId);
  if (!findTurn(conversation, parent.turnId)) refuse('no_parent', { parent: parent.turnId });
  return { turnId: parent.turnId, cut: null };
}

function underMessage(conversation: Conversation, messageId: MessageId): Under {
  const message = findMessage(conversation, messageId);
  if (!message) return refuse('no_parent', { parent: messageId });
  const { turnId, sequence, conversationId } = message;
  // In the same turn: a root's messages and those of a fork's tail both stand in no turn, but belong to two conversations.
  const next = visibleMessages(conversation).find(
    (other) => other.turnId === turnId && other.conversationId === conversationId && other.sequence > sequence,
  );
  return { turnId, cut: { messageId, sequence, firstLeftOut: next?.stamp ?? null } };
}

/** Siblings are the turns under one parent that this conversation sees; their ordinals rise from 1 and never change. */
function lastOrdinal(conversation: Conversation, parent: TurnId | null): number {
  const siblings = visibleTurns(conversation).filter((turn) => turn.under.turnId === parent);
  return Math.max(0, ...siblings.map((turn) => turn.ordinal));
}

/** Moves a turn forward. A stop needs no fence: it comes from outside the attempt. */
export function advance(draft: Draft, change: ChangeOf<'turn.advance'>): Mark {
  const { kind, turnId, to } = change;
  const turn = ownTurn(draft.conversation, turnId);
  if (!turn) return refuse('no_turn', { turnId });
  if (to !== 'cancelled') draft.requireFence(turn);
  return { kind, turnId, from: move(draft, turn, to), to };
}

/**
 * Moves a turn and what follows from it. A turn that leaves `preparing` and `dispatching` has its base, and becomes the
 * active leaf unless it ends without having run.
 */
export function move(draft: Draft, turn: Turn, to: TurnState): TurnState {
  const from = stateOf(turn);
  const { turnId } = turn;
  if (!mayMove(from, to)) refuse('illegal_transition', { machine: 'turn', id: turnId, from, to });
  const starts = !hasStarted(from) && hasStarted(to);
  const { stamp } = draft;
  draft.replaceTurn({ ...turn, moves: [...turn.moves, { stamp, state: to }], base: starts ? stamp : turn.base });
  if (starts && to !== 'failed' && to !== 'cancelled') moveLeaf(draft, turnId);
  if (isTerminal(to)) withdrawInterrupts(draft, turnId);
  draft.touch();
  return from;
}

function moveLeaf(draft: Draft, turnId: TurnId): void {
  const { leaf, graphRevision } = draft.conversation;
  if (leaf !== turnId) draft.become({ leaf: turnId, graphRevision: graphRevision + 1 });
}

/** A completed turn in one commit, without an operation; what follows it in the commit may stand in it. */
export function record(draft: Draft, change: ChangeOf<'turn.record'>): Mark {
  assertSawTree(draft, change.parent);
  assertFree(draft.conversation);
  const { kind, parent, origin } = change;
  const turnId = change.turnId as TurnId; // minted beforehand
  const { ordinal, why } = addTurn(draft, { turnId, parent, state: 'completed', prompt: null, shared: false });
  moveLeaf(draft, turnId);
  draft.recording = turnId;
  return { kind, turnId, ordinal, why, origin };
}

/** The leaf is any turn of this conversation's own, or the one that it was cut at. */
export function select(draft: Draft, change: ChangeOf<'leaf.select'>): Mark {
  const { kind, turnId } = change;
  if (draft.commit.expect?.graphRevision === undefined) {
    refuse('expect_required', { field: 'graphRevision', change: draft.where });
  }
  const { conversation } = draft;
  if (!ownTurn(conversation, turnId) && cutTurn(conversation) !== turnId) refuse('no_turn', { turnId });
  moveLeaf(draft, turnId);
  draft.recording = null;
  return { kind, turnId };
}
