import { LIMITS } from 'turnkeep/core';
import type { ConversationId, MemoryId, MessageId } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import type { Memory } from '../model.ts';
import { findMessage } from '../path.ts';
import { refuse } from '../refusal.ts';

/** A memory is created once, replaced from exactly the revision that was read, and forgotten for good. */
export function upsert(draft: Draft, change: ChangeOf<'memory.upsert'>): Mark {
  const { kind, from, text } = change;
  const memoryId = change.memoryId as MemoryId; // minted beforehand
  const known = draft.memories.get(memoryId);
  if (from === undefined) return create(draft, memoryId, known, change);
  if (!known || known.forgotten) return refuse('no_memory', { memoryId });
  const { revision } = known;
  if (revision !== from) refuse('memory_conflict', { memoryId, expectedRevision: from, actualRevision: revision });
  if (text !== null) return say(draft, { ...known, revision: from + 1 }, change);
  forget(draft, known, 'memory_forgotten');
  return { kind, memoryId, forgotten: true };
}

function create(draft: Draft, memoryId: MemoryId, known: Memory | undefined, change: ChangeOf<'memory.upsert'>): Mark {
  if (known) refuse('memory_exists', { memoryId });
  const actual = [...draft.memories.values()].filter((one) => !one.forgotten).length + 1;
  const max = LIMITS.memories;
  if (actual > max) refuse('limit_exceeded', { limit: 'memories', max, actual, path: draft.where });
  const memory = { memoryId, revision: 0, forgotten: false, said: [], origins: [], createdAt: draft.now };
  return say(draft, memory, change);
}

function say(draft: Draft, memory: Omit<Memory, 'updatedAt'>, change: ChangeOf<'memory.upsert'>): Mark {
  const { kind, memoryId: _id, from: _from, sources: messageIds = [], ...said } = change;
  const sources = messageIds.map((messageId) => sourceOf(draft, messageId));
  const { conversationId } = draft.conversation;
  const words = draft.say({ ...said, sources });
  draft.words.push(words);
  const { memoryId, revision } = memory;
  draft.memories = withMember(draft.memories, memoryId, {
    ...memory,
    said: [...memory.said, words],
    origins: [...memory.origins, { conversationId, messageId: null }, ...sources],
    updatedAt: draft.now,
  });
  return { kind, memoryId, revision };
}

function sourceOf(draft: Draft, messageId: MessageId) {
  const message = findMessage(draft.conversation, messageId);
  if (!message) return refuse('no_message', { messageId });
  if (draft.contentOf(message.words) === null) refuse('redacted', { messageId });
  return { conversationId: message.conversationId, messageId };
}

/** A memory goes with the words that it was made of, and with the conversations that it was made in. */
export function forgetMadeOf(
  draft: Draft,
  conversationId: ConversationId,
  messageId: MessageId | null,
  reason: string,
): void {
  for (const memory of draft.memories.values()) {
    const made = memory.origins.some((one) => one.conversationId === conversationId && one.messageId === messageId);
    if (made && !memory.forgotten) forget(draft, memory, reason);
  }
}

function forget(draft: Draft, memory: Memory, reason: string): void {
  const at = new Date(draft.now).toISOString();
  for (const words of memory.said) draft.redactions.set(words, { reason, at, replacement: null });
  draft.memories = withMember(draft.memories, memory.memoryId, { ...memory, forgotten: true, updatedAt: draft.now });
}
