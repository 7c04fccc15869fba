import type { RowReader } from '../backend.ts';
import type { ConversationId, MemoryId, MessageId } from '../ids.ts';
import type { Json } from '../json.ts';
import { KEYS, TABLES, numberKey } from '../keys.ts';
import type { Author } from '../message.ts';
import { unpackMemory, unpackRef } from '../rows.ts';
import type { MemoryRow } from '../rows.ts';
import { SHELVES } from '../shelf.ts';
import { scanPrefix } from '../tree/path.ts';
import type { Bodies } from './bodies.ts';

/** A curated fact of a namespace, and where it comes from. */
export interface Memory {
  readonly memoryId: MemoryId;
  readonly revision: number;
  readonly text: string;
  readonly type?: string | undefined;
  /** The person that it is about. */
  readonly subject?: string | undefined;
  readonly author?: Author | undefined;
  readonly metadata?: Json | undefined;
  /** The messages that it was made of. */
  readonly sources: readonly { readonly conversationId: ConversationId; readonly messageId: MessageId }[];
  /** The conversation that it was made in, by this revision. */
  readonly conversationId: ConversationId;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A memory as it is, or as one of its revisions was; `undefined` if there is none or it is forgotten. */
export function readMemory(bodies: Bodies, memoryId: MemoryId, revision?: number): Memory | undefined {
  const value = bodies.rows.get(SHELVES.memories, KEYS.memory(memoryId));
  if (!value) return undefined;
  const row = unpackMemory(value);
  if (revision === undefined || revision === row.revision) return memoryOf(bodies, memoryId, row);
  const earlier = bodies.rows.get(SHELVES.memories, `${KEYS.memoryRevisionsOf(memoryId)}${numberKey(revision)}`);
  if (!earlier) return undefined;
  const ref = unpackRef(earlier[0], SHELVES.memories);
  const updatedAt = Date.parse(bodies.committedAt(ref.owner, ref.version));
  return memoryOf(bodies, memoryId, { ...row, revision, ref, updatedAt });
}

/** A memory of a namespace by its row: the place of its words, without the words. */
export interface HeldMemory {
  readonly memoryId: MemoryId;
  readonly row: MemoryRow;
}

/** Every memory that a namespace holds, in the order in which they were made: `LIMITS.memories` at most. */
export function heldMemories(rows: RowReader): readonly HeldMemory[] {
  return scanPrefix(rows, SHELVES.memories, TABLES.memories)
    .map(({ key, value }) => ({ memoryId: key.slice(1), row: unpackMemory(value) }))
    .filter(({ row }) => row.status !== 'forgotten')
    .sort((left, right) => left.row.ordinal - right.row.ordinal);
}

export function memoryAt(bodies: Bodies, { memoryId, row }: HeldMemory): Memory | undefined {
  return memoryOf(bodies, memoryId, row);
}

/** {@link heldMemories}, each with its words. */
export function readMemories(bodies: Bodies): readonly Memory[] {
  return heldMemories(bodies.rows).flatMap((held) => memoryAt(bodies, held) ?? []);
}

type Words = Omit<Memory, 'memoryId' | 'revision' | 'conversationId' | 'createdAt' | 'updatedAt'>;

function memoryOf(bodies: Bodies, memoryId: MemoryId, row: MemoryRow): Memory | undefined {
  if (row.status === 'forgotten') return undefined;
  const { revision, ref, createdAt, updatedAt } = row;
  const words = bodies.body(ref) as unknown as Words | undefined;
  return (
    words && {
      ...words,
      memoryId,
      revision,
      conversationId: ref.owner,
      createdAt: new Date(createdAt).toISOString(),
      updatedAt: new Date(updatedAt).toISOString(),
    }
  );
}
