import type { HeadQuery } from '../core/backend.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { ConversationId, MessageId, NamespaceId } from '../core/ids.ts';
import { prefixEnd, TABLES } from '../core/keys.ts';
import type { MessageContent } from '../core/message.ts';
import { Bodies } from '../core/read/bodies.ts';
import { placed } from '../core/tree/messages.ts';
import { assertNotAborted } from './abort.ts';
import type { Access } from './access.ts';

export interface EraseSubjectOptions {
  /** The commits of the erasure derive their ids from it. */
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
}

const HEADS = 256;
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
  for await (const { conversationId, owner } of livingConversations(access, namespace)) {
    assertNotAborted(options.signal);
    const idempotencyKey = `${options.idempotencyKey} ${access.surroundings.sha256(conversationId)}`;
    if (owner !== subjectId) {
      messagesRedacted += await redactAll(access, namespace, conversationId, subjectId, { ...options, idempotencyKey });
      continue;
    }
    // A fork that lives on shares what was said here: the person's own words go there too.
    messagesRedacted += await redactAll(access, namespace, conversationId, subjectId, { ...options, idempotencyKey });
    await access.write(namespace, conversationId, [{ kind: 'conversation.erase' }], {
      idempotencyKey: `${idempotencyKey} erase`,
    });
    conversationsErased += 1;
  }
  return { subjectId, conversationsErased, messagesRedacted };
}

interface Living {
  readonly conversationId: ConversationId;
  readonly owner: string | null;
}

async function* livingConversations(access: Access, namespace: NamespaceId): AsyncGenerator<Living> {
  let query: HeadQuery = { order: 'created', limit: HEADS };
  for (;;) {
    const heads = await access.read(namespace, (rows) => rows.heads(query));
    for (const head of heads) if (head.erasedAt === null) yield head;
    const last = heads.at(-1);
    if (!last || heads.length < HEADS) return;
    query = { ...query, after: { at: last.createdAt, conversationId: last.conversationId } };
  }
}

/** Redacts the messages of one conversation that a person wrote; answers how many. */
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

/** The own messages that a person wrote and whose words are there, in batches. */
async function* authored(
  access: Access,
  namespace: NamespaceId,
  conversationId: ConversationId,
  subjectId: string,
): AsyncGenerator<readonly MessageId[]> {
  let from: string = TABLES.messages;
  for (;;) {
    const slice = await access.read(namespace, (rows) => {
      const bodies = new Bodies(rows, access.surroundings.sha256);
      const found = rows.scan(conversationId, { from, to: prefixEnd(TABLES.messages), limit: MESSAGES });
      const messages = found.map((row) => placed(conversationId, row.key, row.value));
      const theirs = messages.filter(
        ({ row }) => (bodies.body(row.ref) as MessageContent | undefined)?.author?.id === subjectId,
      );
      return {
        messageIds: theirs.map(({ row }) => row.messageId),
        last: found.at(-1)?.key,
        full: found.length === MESSAGES,
      };
    });
    if (slice.messageIds.length > 0) yield slice.messageIds;
    if (!slice.full || slice.last === undefined) return;
    from = `${slice.last}\u0000`;
  }
}
