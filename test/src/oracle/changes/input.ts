import type { InputId, JsonObject, MessageId, PromptId, TurnId } from 'turnkeep/core';
import { LIMITS } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import type { Conversation, Input, Words } from '../model.ts';
import { findMessage, ownTurn } from '../path.ts';
import { refuse } from '../refusal.ts';
import { isTerminal, stateOf } from '../turn-states.ts';
import { askPrompt, promptOf, startTurn } from './turn.ts';
import type { AskedWords } from './turn.ts';

/** The inputs that wait, in the order in which they came. */
export function waiting(conversation: Conversation): readonly Input[] {
  return [...conversation.inputs.values()].filter((input) => input.status === 'waiting');
}

/** A new input waits behind the others; one that waits gets other words, from exactly the revision that was read. */
export function enqueue(draft: Draft, change: ChangeOf<'input.enqueue'>): Mark {
  const inputId = change.inputId as InputId; // minted beforehand
  if (change.from === undefined) return wait(draft, inputId, change.mode ?? 'queued', change);
  const input = waitingInput(draft, inputId);
  const { revision } = input;
  if (revision !== change.from) {
    refuse('input_conflict', { inputId, expectedRevision: change.from, actualRevision: revision });
  }
  takeAway(draft, input.words, 'input_edited');
  return say(draft, { ...input, mode: change.mode ?? input.mode, revision: revision + 1 }, change);
}

/** An input and an operation never share an id: the one becomes the other. */
export function wait(draft: Draft, inputId: InputId, mode: Input['mode'], asked: AskedWords): Mark {
  const { inputs, operations } = draft.conversation;
  if (inputs.has(inputId) || operations.has(inputId)) refuse('input_exists', { inputId });
  const max = LIMITS.waitingInputs;
  if (waiting(draft.conversation).length >= max) {
    refuse('limit_exceeded', { limit: 'waitingInputs', max, actual: max + 1, path: draft.where });
  }
  const cameAt = draft.stamp.version;
  const input = { inputId, mode, cameAt, revision: 0, status: 'waiting' as const, turnId: null };
  return say(draft, input, asked);
}

function say(draft: Draft, input: Omit<Input, 'words'>, asked: AskedWords): Mark {
  const words = draft.say(promptOf(asked), `${draft.where}.prompt`);
  draft.words.push(words);
  const { inputId, mode, revision } = input;
  draft.become({ inputs: withMember(draft.conversation.inputs, inputId, { ...input, words }) });
  return { kind: 'input.enqueue', inputId, mode, revision };
}

/** As the next turn, whose operation has the input's id, or as a message of a turn that has not ended. */
export function deliver(draft: Draft, change: ChangeOf<'input.deliver'>): Mark {
  const { kind, into } = change;
  const first = waiting(draft.conversation).find((input) => into === undefined || input.mode === 'steering');
  const inputId = change.inputId ?? first?.inputId;
  if (inputId === undefined) return refuse('no_input', { inputId: null });
  waitingInput(draft, inputId);
  const messageId = change.messageId as MessageId;
  if (into !== undefined) return { kind, inputId, ...deliverInto(draft, inputId, into, messageId) };
  const turnId = change.turnId as TurnId;
  const promptId = change.promptId as PromptId;
  const prompt = () => askPrompt(draft, promptId, settle(draft, inputId, 'delivered', turnId));
  return { kind, inputId, ...startTurn(draft, { turnId, messageId, operationId: inputId, prompt }) };
}

function deliverInto(draft: Draft, inputId: InputId, turnId: TurnId, messageId: MessageId): Mark {
  const turn = ownTurn(draft.conversation, turnId);
  if (!turn) return refuse('no_turn', { turnId });
  if (isTerminal(stateOf(turn))) refuse('turn_terminal', { turnId, state: stateOf(turn) });
  if (findMessage(draft.conversation, messageId)) refuse('message_conflict', { messageId });
  const words = draft.say(settle(draft, inputId, 'delivered', turnId));
  const sequence = draft.addMessage({ messageId, turnId, role: 'user', words, late: false }, undefined);
  return { turnId, messageId, sequence };
}

export function withdraw(draft: Draft, change: ChangeOf<'input.withdraw'>): Mark {
  settle(draft, change.inputId, 'withdrawn', null);
  return { kind: change.kind, inputId: change.inputId };
}

function waitingInput(draft: Draft, inputId: InputId): Input {
  const input = draft.conversation.inputs.get(inputId);
  if (!input) return refuse('no_input', { inputId });
  if (input.status !== 'waiting') return refuse('input_settled', { inputId, status: input.status });
  return input;
}

/** Ends the waiting and answers the words, which are the input's no more. */
function settle(draft: Draft, inputId: InputId, status: 'delivered' | 'withdrawn', turnId: TurnId | null): JsonObject {
  const input = waitingInput(draft, inputId);
  const content = draft.contentOf(input.words) ?? {};
  takeAway(draft, input.words, `input_${status}`);
  draft.become({ inputs: withMember(draft.conversation.inputs, inputId, { ...input, status, turnId }) });
  return content;
}

function takeAway(draft: Draft, words: Words, reason: string): void {
  draft.redactions.set(words, { reason, at: new Date(draft.now).toISOString(), replacement: null });
}
