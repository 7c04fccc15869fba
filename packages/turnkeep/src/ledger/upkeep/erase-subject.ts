import type { RowReader } from '../../core/backend.ts';
import type { Sha256 } from '../../core/digest.ts';
import { isTurnkeepError, TurnkeepError } from '../../core/errors.ts';
import type { ConversationId, MessageId, NamespaceId } from '../../core/ids.ts';
import { KEYS, prefixEnd, TABLES } from '../../core/keys.ts';
import type { MessageContent } from '../../core/message.ts';
import { readInterrupt } from '../../core/read/agent.ts';
import { Bodies } from '../../core/read/bodies.ts';
import { readMemories } from '../../core/read/memories.ts';
import { readWaitingInputs } from '../../core/read/inputs.ts';
import { placed, segmentSees } from '../../core/tree/messages.ts';
import type { PlacedMessage } from '../../core/tree/messages.ts';
import { inheritedSegments, scanPrefix } from '../../core/tree/path.ts';
import { assertNotAborted } from '../../core/abort.ts';
import type { Access } from '../access.ts';
import { livingHeads } from '../living.ts';

export interface EraseSubjectOptions {
  /** The ids of the erasure's commits derive from it. */
  readonly idempotencyKey: string;
  /** Kept with each redaction: a code. `subject_erased` when absent. */
  readonly reason?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What an erasure of a person did. */
export interface SubjectErasure {
  readonly subjectId: string;
  readonly conversationsErased: number;
  readonly messagesRedacted: number;
  /** Memories about the person or by them; those made of the person's words were forgotten with the words. */
  readonly memoriesForgotten: number;
}

const MESSAGES = 512;

/** See `Namespace.eraseSubject`. */
export async function eraseSubject(
  access: Access,
  namespace: NamespaceId,
  subjectId: string,
  options: EraseSubjectOptions,
): Promise<SubjectErasure> {
  if (subjectId === '') throw new TurnkeepError('invalid_value', { path: 'subjectId', reason: 'a person has an id' });
  let conversationsErased = 0;
  let messagesRedacted = 0;
  // Newest first: forks are redacted before an owned source is erased, and what they share only once.
  for await (const { conversationId, owner } of livingHeads(access, namespace)) {
    assertNotAborted(options.signal);
    // A sub-agent's conversation goes with its parent's.
    if (!(await isAlive(access, namespace, conversationId))) continue;
    const idempotencyKey = `${options.idempotencyKey} ${access.surroundings.sha256(conversationId)}`;
    await withdrawAll(access, namespace, conversationId, subjectId, { ...options, idempotencyKey });
    await redactAnswers(access, namespace, conversationId, subjectId, { ...options, idempotencyKey });
    // Also in a conversation that is erased: a living fork shares what was said here.
    messagesRedacted += await redactAll(access, namespace, conversationId, subjectId, { ...options, idempotencyKey });
    if (owner !== subjectId) continue;
    await access.write(namespace, conversationId, [{ kind: 'conversation.erase' }], {
      idempotencyKey: `${idempotencyKey} erase`,
    });
    conversationsErased += 1;
  }
  const memoriesForgotten = await forgetAll(access, namespace, subjectId, options);
  return { subjectId, conversationsErased, messagesRedacted, memoriesForgotten };
}

async function isAlive(access: Access, namespace: NamespaceId, conversationId: ConversationId): Promise<boolean> {
  return access.read(namespace, (rows) => rows.head(conversationId)?.erasedAt === null);
}

/** Forgets the memories that are about a person, or that they wrote; returns how many. */
async function forgetAll(
  access: Access,
  namespace: NamespaceId,
  subjectId: string,
  { idempotencyKey, signal }: EraseSubjectOptions,
): Promise<number> {
  const all = await access.read(namespace, (rows) => readMemories(new Bodies(rows, access.surroundings.sha256)));
  const theirs = all.filter(({ subject, author }) => subject === subjectId || author?.id === subjectId);
  for (const { memoryId, revision: from, conversationId } of theirs) {
    assertNotAborted(signal);
    const key = `${idempotencyKey} memory ${access.surroundings.sha256(`${memoryId} ${from}`)}`;
    const forget = { kind: 'memory.upsert' as const, memoryId, from, text: null };
    await access.write(namespace, conversationId, [forget], { idempotencyKey: key, signal });
  }
  return theirs.length;
}

/** Redacts the messages of one conversation that a person wrote; returns how many. */
async function redactAll(
  access: Access,
  namespace: NamespaceId,
  conversationId: ConversationId,
  subjectId: string,
  options: EraseSubjectOptions,
): Promise<number> {
  const reason = options.reason ?? 'subject_erased';
  let redacted = 0;
  for await (const messageIds of authored(access, namespace, conversationId, subjectId)) {
    const changes = messageIds.map((messageId) => ({ kind: 'message.redact' as const, messageId, reason }));
    const idempotencyKey = `${options.idempotencyKey} ${access.surroundings.sha256(messageIds.join('\n'))}`;
    await access.write(namespace, conversationId, changes, { idempotencyKey, signal: options.signal });
    redacted += messageIds.length;
  }
  return redacted;
}

/** Removes a person's answers, and the fact that they gave them. */
async function redactAnswers(
  access: Access,
  namespace: NamespaceId,
  conversationId: ConversationId,
  subjectId: string,
  { idempotencyKey, signal, reason = 'subject_erased' }: EraseSubjectOptions,
): Promise<void> {
  const theirs = await access.read(namespace, (rows) => {
    const head = rows.head(conversationId);
    if (!head) return [];
    const bodies = new Bodies(rows, access.surroundings.sha256);
    const known = scanPrefix(rows, conversationId, TABLES.interruptIds).map(({ key }) => key.slice(1));
    return known.filter((id) => readInterrupt({ rows, head }, bodies, id)?.answer?.by === subjectId);
  });
  for (let at = 0; at < theirs.length; at += MESSAGES) {
    const slice = theirs.slice(at, at + MESSAGES);
    const changes = slice.map((interruptId) => ({ kind: 'interrupt.redact' as const, interruptId, reason }));
    const key = `${idempotencyKey} answers ${access.surroundings.sha256(slice.join('\n'))}`;
    await access.write(namespace, conversationId, changes, { idempotencyKey: key, signal });
  }
}

/** Withdraws inputs of a person that nobody has delivered. */
async function withdrawAll(
  access: Access,
  namespace: NamespaceId,
  conversationId: ConversationId,
  subjectId: string,
  { idempotencyKey, signal }: EraseSubjectOptions,
): Promise<void> {
  for (;;) {
    const theirs = await access.read(namespace, (rows) => {
      const head = rows.head(conversationId);
      if (!head) return [];
      const waiting = readWaitingInputs({ rows, head }, new Bodies(rows, access.surroundings.sha256));
      return waiting.filter(({ author }) => author?.id === subjectId);
    });
    if (theirs.length === 0) return;
    const changes = theirs.map(({ inputId }) => ({ kind: 'input.withdraw' as const, inputId }));
    const ids = theirs.map(({ inputId, revision }) => `${inputId} ${revision}`).join('\n');
    const key = `${idempotencyKey} inputs ${access.surroundings.sha256(ids)}`;
    try {
      await access.write(namespace, conversationId, changes, { idempotencyKey: key, signal });
      return;
    } catch (error) {
      // One of them was delivered meanwhile: its message is redacted with the others.
      if (!isTurnkeepError(error, 'input_settled')) throw error;
    }
  }
}

/** The messages that a person wrote, that a conversation must redact, and whose words are there, in batches. */
async function* authored(
  access: Access,
  namespace: NamespaceId,
  conversationId: ConversationId,
  subjectId: string,
): AsyncGenerator<readonly MessageId[]> {
  let left: RangeOfMessages | undefined;
  for (let next = 0; ;) {
    const slice = await access.read(namespace, (rows) => {
      const range = left ?? rangesOf(rows, conversationId)[next];
      return range && sliceOf(rows, access.surroundings.sha256, range, subjectId);
    });
    if (!slice) return;
    if (slice.messageIds.length > 0) yield slice.messageIds;
    left = slice.rest;
    if (!left) next += 1;
  }
}

/** A range of one conversation's messages that another conversation is responsible for. */
interface RangeOfMessages {
  readonly owner: ConversationId;
  readonly from: string;
  readonly to: string;
  readonly sees: (message: PlacedMessage) => boolean;
}

/** The conversation's own messages, and those inherited from erased conversations, for which nobody else is responsible. */
function rangesOf(rows: RowReader, conversationId: ConversationId): readonly RangeOfMessages[] {
  const head = rows.head(conversationId);
  if (!head) return [];
  const orphaned = inheritedSegments({ rows, head }).filter(({ owner }) => rows.head(owner)?.erasedAt !== null);
  const inherited = orphaned.map((segment) => {
    const from = KEYS.messagesOf(segment.branch);
    return { owner: segment.owner, from, to: prefixEnd(from), sees: (one: PlacedMessage) => segmentSees(segment, one) };
  });
  const from = TABLES.messages;
  return [{ owner: conversationId, from, to: prefixEnd(from), sees: () => true }, ...inherited];
}

/** The person's first messages in a range, and the rest of the range. */
function sliceOf(
  rows: RowReader,
  sha256: Sha256,
  range: RangeOfMessages,
  subjectId: string,
): { readonly messageIds: readonly MessageId[]; readonly rest: RangeOfMessages | undefined } {
  const bodies = new Bodies(rows, sha256);
  const found = rows.scan(range.owner, { from: range.from, to: range.to, limit: MESSAGES });
  const theirs = found
    .map((row) => placed(range.owner, row.key, row.value))
    .filter((message) => range.sees(message) && authorOf(bodies, message) === subjectId);
  const last = found.length === MESSAGES ? found.at(-1) : undefined;
  return {
    messageIds: theirs.map(({ row }) => row.messageId),
    rest: last && { ...range, from: `${last.key}\u0000` },
  };
}

function authorOf(bodies: Bodies, message: PlacedMessage): string | undefined {
  return (bodies.body(message.row.ref) as MessageContent | undefined)?.author?.id;
}
