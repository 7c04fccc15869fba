import { z } from 'zod';
import type { MemoryUpsert } from '../change.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { MemoryId, MessageId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { KEYS } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import type { ChangeEvent } from '../event.ts';
import { packMemory, unpackMemory } from '../rows.ts';
import type { MemoryRow } from '../rows.ts';
import { author, code, count, id, json, listUpTo, meaningfulText, personId, textUpTo } from '../shapes.ts';
import { SHELVES } from '../shelf.ts';
import { findMessage } from '../tree/messages.ts';
import { countMade, forget, heldMemories, memoryRow, noteOrigin } from './held-memory.ts';
import type { Origin } from './held-memory.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';

/**
 * Creates a memory of the namespace (revision 0), or replaces it from exactly the revision that was read; `text` null
 * forgets it, all revisions. Its words stand in the conversation that it was made in.
 */
export const memoryUpsert: Rule<'memory.upsert'> = {
  shape: z
    .strictObject({
      kind: z.literal('memory.upsert'),
      memoryId: id.optional(),
      from: count.optional(),
      text: z.intersection(textUpTo('memoryBytes'), meaningfulText).nullable(),
      type: code.optional(),
      subject: personId.optional(),
      author: author.optional(),
      sources: listUpTo(id, 'memorySources').optional(),
      metadata: json.optional(),
    })
    .refine((change) => change.from === undefined || change.memoryId !== undefined, 'a change names its memory')
    .refine((change) => change.text !== null || change.from !== undefined, 'what is forgotten was read'),
  complete: (change, mint) => ({ ...change, memoryId: change.memoryId ?? mint('mem') }),
  records: one,
  apply(draft, change, path) {
    const memoryId = change.memoryId as MemoryId;
    const { kind, from, text } = change;
    const row = memoryRow(draft, memoryId);
    if (from === undefined) return create(draft, memoryId, row, change, path);
    if (!row || row.status === 'forgotten') throw new TurnkeepError('no_memory', { memoryId });
    if (row.revision !== from) {
      throw new TurnkeepError('memory_conflict', {
        memoryId,
        expectedRevision: from,
        actualRevision: row.revision,
      });
    }
    if (text !== null) return say(draft, memoryId, { ...row, revision: from + 1 }, change, path);
    forget(draft, memoryId, 'memory_forgotten');
    return { kind, memoryId, forgotten: true };
  },
  leaves(left, event) {
    const { memoryId } = event;
    left.elsewhere(`memory ${memoryId}`, (rows) => {
      const value = rows.get(SHELVES.memories, KEYS.memory(memoryId));
      if (!value || 'forgotten' in event || unpackMemory(value).status === 'forgotten') return value !== undefined;
      return rows.get(SHELVES.memories, KEYS.memoryRevision(memoryId, event.revision)) !== undefined;
    });
  },
};

/** An id stands for one memory, even after that is forgotten. */
function create(
  draft: Draft,
  memoryId: MemoryId,
  row: MemoryRow | undefined,
  change: MemoryUpsert,
  path: string,
): ChangeEvent {
  if (row) throw new TurnkeepError('memory_exists', { memoryId });
  const max = LIMITS.memories;
  const actual = heldMemories(draft) + 1;
  if (actual > max) throw new TurnkeepError('limit_exceeded', { limit: 'memories', max, actual, path });
  draft.openShelf(SHELVES.memories);
  return say(draft, memoryId, { revision: 0, ordinal: countMade(draft), createdAt: draft.envelope.now }, change, path);
}

function say(
  draft: Draft,
  memoryId: MemoryId,
  row: Pick<MemoryRow, 'revision' | 'ordinal' | 'createdAt'>,
  { text, type, subject, author: by, metadata, sources = [] }: MemoryUpsert,
  path: string,
): ChangeEvent {
  const origins = sources.map((messageId) => originOf(draft, messageId));
  const from = origins.map(({ conversation, messageId }) => ({ conversationId: conversation, messageId }));
  const words = { text, type, subject, author: by, metadata, sources: from } as unknown as JsonObject;
  const record = draft.addRecord(words, path);
  const ref = draft.refTo(record);
  const updatedAt = draft.envelope.now;
  draft.putElsewhere(SHELVES.memories, KEYS.memory(memoryId), packMemory({ ...row, status: 'held', ref, updatedAt }));
  noteOrigin(draft, memoryId, row.revision, ref, [{ conversation: draft.conversationId, messageId: null }, ...origins]);
  return { kind: 'memory.upsert', memoryId, revision: row.revision, record };
}

/** Where a source stands: a message that this conversation sees, and that has its words. */
function originOf(draft: Draft, messageId: MessageId): Origin {
  const message = findMessage(draft.tree, messageId);
  if (!message) throw new TurnkeepError('no_message', { messageId });
  if (draft.record(message.row.ref).body === null) throw new TurnkeepError('redacted', { messageId });
  return { conversation: message.owner, messageId };
}
