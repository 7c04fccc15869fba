import type { Row, RowReader } from '../backend.ts';
import { sameJson } from '../encoding.ts';
import { fieldOf } from '../event.ts';
import type { RecordRef } from '../head.ts';
import type { ConversationId, MemoryId, MessageId } from '../ids.ts';
import type { Json } from '../json.ts';
import { afterSeparator, beforeSeparator, KEYS, numbersIn, TABLES } from '../keys.ts';
import { readableBody, readableHeader } from '../readable.ts';
import { packMemory, packRef, unpackMemory, unpackRef } from '../rows.ts';
import type { MemoryRow } from '../rows.ts';
import { SHELVES } from '../shelf.ts';
import { scanPrefix } from '../tree/path.ts';

/**
 * The shelf of memories against the commits that wrote them: what a memory says of itself, its revisions and what they
 * were made of, and how many there are. Each returns what is wrong, for a person.
 */
const SHELF = SHELVES.memories;

/** Of a memory's own row. */
export function memoryProblem(rows: RowReader, { key, value }: Row): string | undefined {
  const memoryId = key.slice(1);
  const memory = unpackMemory(value);
  if (!sameJson(value, packMemory(memory))) return 'it is no memory';
  const problem = writtenProblem(rows, memoryId, memory.revision, memory.ref);
  if (problem !== undefined) return problem;
  if (memory.status === 'held') return heldProblem(rows, memoryId, memory);
  if (memory.status !== 'forgotten') return 'it is neither held nor forgotten';
  // For a forgotten memory, only its last words tell when it was made, and nothing tells when it was forgotten.
  const isItsTime = memory.revision > 0 || timeOf(rows, memory.ref) === memory.createdAt;
  return isItsTime && Number.isSafeInteger(memory.updatedAt) ? undefined : 'its times are not those of its commits';
}

function heldProblem(rows: RowReader, memoryId: MemoryId, memory: MemoryRow): string | undefined {
  const { ref, revision, createdAt, updatedAt } = memory;
  if (!sameJson(refOf(rows, memoryId, revision) as unknown as Json, ref as unknown as Json))
    return 'its revision is not there, or has other words';
  const first = refOf(rows, memoryId, 0);
  const times = [first && timeOf(rows, first), timeOf(rows, ref)];
  return times[0] === createdAt && times[1] === updatedAt ? undefined : 'its times are not those of its commits';
}

/** Of the row of a revision. */
export function memoryRevisionProblem(rows: RowReader, { key, value }: Row): string | undefined {
  const memoryId = beforeSeparator(key, 1);
  const [revision] = numbersIn(afterSeparator(key), 0) as [number];
  const memory = rows.get(SHELF, KEYS.memory(memoryId));
  if (!memory || unpackMemory(memory).status !== 'held' || unpackMemory(memory).revision < revision)
    return 'its memory is not held, or of an earlier revision';
  const ref = unpackRef(value[0], SHELF);
  const origins = originsOf(value);
  const written = [packRef(ref, SHELF), origins as unknown as Json];
  if (key !== KEYS.memoryRevision(memoryId, revision) || !sameJson(value, written))
    return 'it is no revision of a memory';
  const problem = writtenProblem(rows, memoryId, revision, ref);
  if (problem !== undefined) return problem;
  if (!origins.every(([conversation, id]) => rows.get(SHELF, KEYS.memoryOrigin(conversation, id, memoryId))))
    return 'what it was made of does not know of it';
  const body = readableBody(rows.log(ref.owner, ref.version)?.records[ref.index]);
  if (!body) return undefined;
  const { sources } = body;
  const said = (sources as readonly { conversationId: string; messageId: string }[] | undefined) ?? [];
  const made = [[ref.owner, null], ...said.map(({ conversationId, messageId }) => [conversationId, messageId])];
  return sameJson(made, origins) ? undefined : 'it was made of something else';
}

/** Of a row that names what a memory was made of. */
export function memoryOriginProblem(rows: RowReader, { key, value }: Row): string | undefined {
  const memoryId = afterSeparator(key);
  const revisions = scanPrefix(rows, SHELF, KEYS.memoryRevisionsOf(memoryId));
  const isMade = revisions.some(({ value }) =>
    originsOf(value).some(([conversation, id]) => KEYS.memoryOrigin(conversation, id, memoryId) === key),
  );
  return isMade && value.length === 0 ? undefined : 'its memory was not made of it';
}

/** Of their number, and of the order in which they were made. */
export function memoryCountProblem(rows: RowReader): string | undefined {
  const memories = scanPrefix(rows, SHELF, TABLES.memories).map(({ value }) => unpackMemory(value));
  const held = memories.filter(({ status }) => status === 'held').length;
  const said = rows.get(SHELF, TABLES.memoryCount) ?? [0, 0];
  if (!sameJson(said, [held, memories.length]))
    return `${held} of ${memories.length} memories are held, and ${JSON.stringify(said)} is what is said`;
  const ordinals = memories.map(({ ordinal }) => ordinal).sort((left, right) => left - right);
  return ordinals.every((ordinal, at) => ordinal === at + 1) ? undefined : 'the order of memories has gaps';
}

/** Nothing if its conversation was erased, since nobody can tell then, or if the header is damaged, which is a fault already. */
function writtenProblem(rows: RowReader, memoryId: MemoryId, revision: number, ref: RecordRef): string | undefined {
  const log = rows.log(ref.owner, ref.version);
  if (!log?.records[ref.index]) return 'it points to a record that is not there';
  const header = readableHeader(log);
  if (!header) return undefined;
  const written = header.events.some(
    (event) =>
      event.kind === 'memory.upsert' &&
      event.memoryId === memoryId &&
      fieldOf(event, 'revision') === revision &&
      fieldOf(event, 'record') === ref.index,
  );
  return written ? undefined : 'its commit did not write it';
}

function refOf(rows: RowReader, memoryId: MemoryId, revision: number): RecordRef | undefined {
  const value = rows.get(SHELF, KEYS.memoryRevision(memoryId, revision));
  return value && unpackRef(value[0], SHELF);
}

function timeOf(rows: RowReader, { owner, version }: RecordRef): number | undefined {
  return rows.log(owner, version)?.at;
}

function originsOf(value: Row['value']): readonly (readonly [ConversationId, MessageId | null])[] {
  return value[1] as unknown as readonly (readonly [ConversationId, MessageId | null])[];
}
