import type { MessageId, TurnId } from 'turnkeep/core';
import type { Conversation, Message, Step } from './model.ts';
import { messagesOn, pathTo } from './path.ts';
import type { Before } from './questions.ts';
import { refuse } from './refusal.ts';

export interface Window {
  readonly messages: readonly MessageId[];
  /** What asks for the messages before these. */
  readonly before: (Before & { readonly leaf: TurnId | null }) | null;
}

export interface WindowQuestion {
  readonly leaf: TurnId | null;
  readonly count: number;
  readonly before?: Before | undefined;
}

/**
 * The last messages of a path, at most `count`, never between a tool call and its results: they stand in one group, with
 * all that stands between them in their turn. Whole groups are taken from the end while they fit; where not even one
 * fits, that is said.
 */
export function windowOf(conversation: Conversation, { leaf, count, before }: WindowQuestion): Window {
  const lastSequence = before?.lastSequence ?? conversation.lastSequence;
  const path = pathTo(conversation, leaf, { sequence: lastSequence });
  const groups = wholeBefore(groupsOn(path), before);
  let taken: readonly Message[] = [];
  let rest = groups.length;
  for (; rest > 0; rest--) {
    const more = [...(groups[rest - 1] ?? []), ...taken];
    if (more.length > count) break;
    taken = more;
  }
  if (taken.length === 0 && rest > 0) refuse('group_too_large', { count: groups[rest - 1]?.length ?? 0 });
  const [first] = taken;
  const next = first && rest > 0 ? { leaf, lastSequence, messageId: first.messageId } : null;
  return { messages: taken.map((message) => message.messageId), before: next };
}

/** The groups before a message; a message that does not begin a group is no place to end a window. */
function wholeBefore(
  groups: readonly (readonly Message[])[],
  before: Before | undefined,
): readonly (readonly Message[])[] {
  if (!before) return groups;
  const at = groups.findIndex((group) => group[0]?.messageId === before.messageId);
  if (at < 0) return refuse('bad_cursor', { reason: '' });
  return groups.slice(0, at);
}

function groupsOn(path: readonly Step[]): readonly (readonly Message[])[] {
  return path.flatMap((step) => groupsOf(messagesOn([step])));
}

/** A message begins a group unless one before it in its turn is answered by it or by one after it. */
function groupsOf(messages: readonly Message[]): readonly (readonly Message[])[] {
  const groups: Message[][] = [];
  messages.forEach((message, at) => {
    const open = new Set(messages.slice(0, at).flatMap((earlier) => earlier.calls));
    const inside = messages.slice(at).some((later) => later.answers.some((callId) => open.has(callId)));
    const last = groups.at(-1);
    if (inside && last) last.push(message);
    else groups.push([message]);
  });
  return groups;
}
