import type { Draft } from '../draft.ts';
import type { RecordRef } from '../head.ts';
import type { ConversationId, MemoryId, MessageId } from '../ids.ts';
import { afterSeparator, KEYS, prefixEnd, TABLES } from '../keys.ts';
import { packMemory, packRef, unpackMemory, unpackRef } from '../rows.ts';
import type { MemoryRow } from '../rows.ts';
import { SHELVES } from '../shelf.ts';

/**
 * A memory stands on a shelf of its namespace: where its newest words are, where the words of each revision are, and what
 * it was made of. It goes with any words that it was made of and with any conversation that it was made in, since it may
 * repeat them.
 */
const SHELF = SHELVES.memories;

/** What a memory was made of: a message, or the conversation itself. */
export interface Origin {
  readonly conversation: ConversationId;
  readonly messageId: MessageId | null;
}

export function memoryRow(draft: Draft, memoryId: MemoryId): MemoryRow | undefined {
  if (!draft.rows.head(SHELF)) return undefined;
  const value = draft.rows.get(SHELF, KEYS.memory(memoryId));
  return value && unpackMemory(value);
}

/** How many memories the namespace holds. */
export function heldMemories(draft: Draft): number {
  return memoryCounts(draft).held;
}

/** Counts a new memory and returns its ordinal. */
export function countMade(draft: Draft): number {
  const { held, made } = memoryCounts(draft);
  draft.putElsewhere(SHELF, TABLES.memoryCount, [held + 1, made + 1]);
  return made + 1;
}

function countForgotten(draft: Draft): void {
  const { held, made } = memoryCounts(draft);
  draft.putElsewhere(SHELF, TABLES.memoryCount, [held - 1, made]);
}

/** The number of memories held, and of those ever made. */
function memoryCounts(draft: Draft): { readonly held: number; readonly made: number } {
  const counts = draft.rows.head(SHELF) && draft.rows.get(SHELF, TABLES.memoryCount);
  const [held, made] = (counts ?? [0, 0]) as readonly [number, number];
  return { held, made };
}

/** Notes where the words of a revision are, and what they were made of. */
export function noteOrigin(
  draft: Draft,
  memoryId: MemoryId,
  revision: number,
  ref: RecordRef,
  origins: readonly Origin[],
): void {
  for (const { conversation, messageId } of origins)
    draft.putElsewhere(SHELF, KEYS.memoryOrigin(conversation, messageId, memoryId), []);
  const made = origins.map(({ conversation, messageId }) => [conversation, messageId]);
  draft.putElsewhere(SHELF, KEYS.memoryRevision(memoryId, revision), [packRef(ref, SHELF), made]);
}

/** Forgets the memories that were made of a message. */
export function forgetMadeOf(draft: Draft, origin: Origin, reason: string): void {
  if (!draft.rows.head(SHELF)) return;
  const prefix = KEYS.memoryOriginsOf(origin.conversation, origin.messageId);
  for (const { key } of draft.rows.scan(SHELF, { from: prefix, to: prefixEnd(prefix) }))
    forget(draft, afterSeparator(key), reason);
}

/** Removes the words of every revision; only the fact that there was a memory of this id stays. */
export function forget(draft: Draft, memoryId: MemoryId, reason: string): void {
  const row = memoryRow(draft, memoryId);
  if (!row || row.status === 'forgotten') return;
  const redaction = { reason, at: draft.envelope.now, role: 'assistant' as const };
  const prefix = KEYS.memoryRevisionsOf(memoryId);
  for (const { key, value } of draft.rows.scan(SHELF, { from: prefix, to: prefixEnd(prefix) })) {
    const ref = unpackRef(value[0], SHELF);
    if (draft.record(ref).body !== null) draft.redact(ref, redaction);
    for (const [conversation, messageId] of value[1] as unknown as readonly [ConversationId, MessageId | null][])
      draft.rows.put(SHELF, KEYS.memoryOrigin(conversation, messageId, memoryId), null);
    draft.rows.put(SHELF, key, null);
  }
  const forgotten = { ...row, status: 'forgotten' as const, updatedAt: draft.envelope.now };
  draft.putElsewhere(SHELF, KEYS.memory(memoryId), packMemory(forgotten));
  countForgotten(draft);
}
