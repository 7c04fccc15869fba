import type { JsonObject, Part, TurnId } from 'turnkeep/core';
import type { Draft } from './draft.ts';
import type { Conversation, Message, Step } from './model.ts';
import { messagesOn, ownTurn, pathTo } from './path.ts';
import { refuse } from './refusal.ts';

/** The tool calls that a message makes, those of other messages that it answers, and those of its own that it answers itself. */
export function callsAndAnswers(content: JsonObject | null): Pick<Message, 'calls' | 'answers' | 'answered'> {
  const parts = (content?.['parts'] ?? []) as unknown as readonly Part[];
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
  const results = parts.flatMap((part) => (part.type === 'tool_result' ? [part.callId] : []));
  const answered = results.filter((callId) => calls.includes(callId));
  return { calls, answers: results.filter((callId) => !calls.includes(callId)), answered };
}

export interface Target {
  readonly turnId: TurnId | null;
  readonly late: boolean;
}

/**
 * A tool result stands in the turn of its call: the call nearest to the active leaf on its path, else the newest that
 * this conversation made. Where the active path is cut inside that turn, or the call is inherited, the result belongs to
 * the active leaf's open turn. A call whose result stands beside it, in its own message, takes no other.
 */
export function targetOfAnswer(draft: Draft, callId: string): Target {
  const { conversation } = draft;
  const path = pathTo(conversation, conversation.leaf);
  const at = path.findLastIndex((step) => step.messages.some((message) => message.calls.includes(callId)));
  const call = at < 0 ? newestCall(conversation, callId) : callIn(path[at]?.messages ?? [], callId);
  if (!call) return refuse('no_call', { callId });
  if (call.answered.includes(callId)) return refuse('already_answered', { callId });
  const isOwn = call.conversationId === conversation.conversationId;
  if (!isOwn || (at >= 0 && isCutInside(conversation, path, at))) return openLeaf(draft, path, callId);
  return besideCall(draft, call, callId);
}

function callIn(messages: readonly Message[], callId: string): Message | undefined {
  return messages.findLast((message) => message.calls.includes(callId));
}

function newestCall(conversation: Conversation, callId: string): Message | undefined {
  return callIn(conversation.messages, callId);
}

/** True where the path leaves a turn at one of its messages. */
function isCutInside(conversation: Conversation, path: readonly Step[], at: number): boolean {
  const next = path[at + 1]?.turn ?? null;
  return next !== null && ownTurn(conversation, next.turnId) !== undefined && next.under.cut !== null;
}

/** The turn of the call, whether or not it has ended; a call is answered once in it. */
function besideCall(draft: Draft, call: Message, callId: string): Target {
  const { conversation } = draft;
  const { turnId } = call;
  const answered = conversation.messages.some((other) => other.turnId === turnId && other.answers.includes(callId));
  if (answered) refuse('already_answered', { callId });
  const turn = turnId === null ? undefined : ownTurn(conversation, turnId);
  return { turnId, late: turn ? draft.hasEnded(turn) : conversation.turns.length > 0 };
}

/** The active leaf's own open turn; a call is answered once on its path. */
function openLeaf(draft: Draft, path: readonly Step[], callId: string): Target {
  const { leaf } = draft.conversation;
  const turn = leaf === null ? undefined : ownTurn(draft.conversation, leaf);
  if (!turn || draft.hasEnded(turn)) return refuse('no_turn', { turnId: leaf });
  if (messagesOn(path).some((message) => message.answers.includes(callId))) refuse('already_answered', { callId });
  return { turnId: leaf, late: false };
}
