import type { JsonObject, MessageContent, MessageId, TurnId } from 'turnkeep/core';
import { callsAndAnswers, targetOfAnswer } from '../calls.ts';
import type { Target } from '../calls.ts';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import type { Message, Turn, Words } from '../model.ts';
import { findMessage, inheritsTurns, ownTurn } from '../path.ts';
import { refuse } from '../refusal.ts';
import { sameJson } from '../same.ts';
import { stateOf } from '../turn-states.ts';
import { forgetMadeOf } from './memory.ts';
import { wordsOfCalls } from './agent.ts';

/** The same id with the same content is a no-op, with other content a conflict. */
export function append(draft: Draft, change: ChangeOf<'message.append'>): Mark {
  const { kind } = change;
  const { messageId: given, ...content } = change.message;
  const messageId = given as MessageId; // minted beforehand where the caller gave none
  const known = findMessage(draft.conversation, messageId);
  if (known) return again(draft, known, content);
  const { answers } = callsAndAnswers(content as unknown as JsonObject);
  const target = answers.length > 0 ? targetOfAnswers(draft, change, answers) : targetOfMessage(draft, change);
  const turn = target.turnId === null ? undefined : ownTurn(draft.conversation, target.turnId);
  const isOutput = content.role === 'assistant' || content.role === 'tool';
  if (turn && isOutput && !target.late) draft.requireFence(turn);
  const { calls } = callsAndAnswers(content as unknown as JsonObject);
  if (target.late && calls.length > 0) return refuseCallsInPast(target.turnId, turn);
  const { role, taskId } = content;
  const sequence = draft.addMessage(
    { messageId, role, words: draft.say(content, `${draft.where}.message.parts`), ...target },
    taskId,
  );
  return { kind, messageId, turnId: target.turnId, sequence, ...(target.late ? { late: true } : {}) };
}

/** A turn that has ended takes results of its calls, and no new calls. */
function refuseCallsInPast(turnId: TurnId | null, turn: Turn | undefined): never {
  return turn ? refuse('turn_terminal', { turnId: turn.turnId, state: stateOf(turn) }) : refuse('no_turn', { turnId });
}

function again(draft: Draft, known: Message, content: MessageContent) {
  const { messageId, sequence } = known;
  const held = draft.contentOf(known.words);
  if (held === null) return refuse('redacted', { messageId });
  if (!sameJson(held, content)) return refuse('message_conflict', { messageId });
  draft.words.push(known.words);
  return { kind: 'message.append' as const, messageId, sequence, noop: true };
}

/** The turn that was named, else the active leaf; a turn that has ended takes only late results. */
function targetOfMessage(draft: Draft, change: ChangeOf<'message.append'>): Target {
  const { conversation } = draft;
  const turnId = change.turnId === undefined ? conversation.leaf : change.turnId;
  if (turnId === null) return root(draft);
  const turn = ownTurn(conversation, turnId);
  if (!turn) return refuse('no_turn', { turnId });
  if (draft.hasEnded(turn)) {
    const state = turn.moves[turn.moves.length - 1]?.state ?? 'completed';
    return refuse('turn_terminal', { turnId, state });
  }
  return { turnId, late: false };
}

/** The root takes messages only before the first turn; in a fork that inherits turns, never. */
function root(draft: Draft): Target {
  const { conversation } = draft;
  if (conversation.turns.length > 0 || inheritsTurns(conversation)) refuse('no_turn', { turnId: null });
  return { turnId: null, late: false };
}

/** All calls that one message answers stand in one turn, the named one where one is named. */
function targetOfAnswers(draft: Draft, change: ChangeOf<'message.append'>, answers: readonly string[]): Target {
  const targets = answers.map((callId) => targetOfAnswer(draft, callId));
  const [first = { turnId: null, late: false }] = targets;
  if (targets.some((target) => target.turnId !== first.turnId)) {
    return refuse('invalid_value', { path: `${draft.where}.message.parts`, reason: '' });
  }
  if (change.turnId !== undefined && change.turnId !== first.turnId) {
    return refuse('invalid_value', { path: `${draft.where}.turnId`, reason: '' });
  }
  return first;
}

/** What readers see in the place of words that are gone, where something stands there. */
function standsFor(draft: Draft, words: Words): Words | null {
  const redaction = draft.redactions.get(words) ?? words.redaction;
  const replacement = redaction?.replacement ?? null;
  return replacement && draft.contentOf(replacement) !== null ? replacement : null;
}

/** Takes a message's words away wherever they are shared; its place stays, and its id is not taken again. */
export function redact(draft: Draft, change: ChangeOf<'message.redact'>): Mark {
  const { kind, messageId, reason, replacement: parts } = change;
  const message = findMessage(draft.conversation, messageId);
  if (!message) return refuse('no_message', { messageId });
  const stands = standsFor(draft, message.words);
  const isShown = draft.contentOf(message.words) !== null || stands !== null;
  if (!isShown && !parts) return { kind, messageId, noop: true };
  if (parts && message.words.conversationId !== draft.conversation.conversationId)
    return refuse('invalid_value', { path: `commit.changes[${draft.stamp.index}].replacement`, reason: '' });
  const replacement = parts ? draft.say({ parts }, `${draft.where}.replacement`) : null;
  if (replacement) draft.words.push(replacement);
  forgetMadeOf(draft, message.conversationId, messageId, reason);
  const at = new Date(draft.now).toISOString();
  if (stands) draft.redactions.set(stands, { reason, at, replacement: null });
  draft.redactions.set(message.words, { reason, at, replacement });
  for (const words of wordsOfCalls(draft, message)) draft.redactions.set(words, { reason, at, replacement: null });
  return { kind, messageId };
}
