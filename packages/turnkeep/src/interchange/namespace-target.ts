import { isTurnkeepError } from '../core/errors.ts';
import type { MessageId } from '../core/ids.ts';
import type { Message } from '../core/read/message.ts';
import type { Conversation } from '../ledger/conversation.ts';
import type { Namespace } from '../ledger/namespace.ts';
import type { ImportTarget, StoredMessage } from './target.ts';

/** A namespace of an open ledger, as an importer writes to it. */
export function namespaceTarget(namespace: Namespace): ImportTarget {
  return {
    namespace: namespace.id,
    commit: (commit) => namespace.commit(commit),
    async head(conversationId) {
      try {
        return await namespace.conversation(conversationId).info();
      } catch (error) {
        if (isTurnkeepError(error, 'conversation_not_found')) return undefined;
        throw error;
      }
    },
    messages: (conversationId, except) => messagesOf(namespace.conversation(conversationId), except),
  };
}

/** Messages that are held at once: one may have 14 MB. */
const PAGE = 32;
/** Where more of them are wanted than one in so many, pages are read sooner than single messages. */
const FEW = 8;

/** A conversation's own messages: few of them one by one, else those of the active path page by page before that. */
async function* messagesOf(conversation: Conversation, except: ReadonlySet<MessageId>): AsyncGenerator<StoredMessage> {
  const seen = new Set(except);
  let wanted = 0;
  for await (const { messageId } of appended(conversation)) if (!seen.has(messageId)) wanted += 1;
  if (wanted === 0) return;
  for await (const message of wanted * FEW > except.size ? pagesOf(conversation) : []) {
    if (message.conversationId !== conversation.id || seen.has(message.messageId)) continue;
    seen.add(message.messageId);
    yield message;
  }
  for await (const { messageId, turnId, sequence } of appended(conversation)) {
    if (seen.has(messageId)) continue;
    const answer = await conversation.message(messageId);
    if (answer.status === 'found_verified') yield answer.message;
    if (answer.status !== 'source_corrupt') continue;
    const { place, reason } = answer;
    yield { messageId, turnId, sequence, role: 'system', parts: [], damage: { place, reason } };
  }
}

function pagesOf(conversation: Conversation): AsyncIterable<Message> {
  return conversation.read({ pageSize: PAGE, damaged: 'mark' });
}

type Appended = Pick<Message, 'messageId' | 'turnId' | 'sequence'>;

/** The messages that the log tells of. */
async function* appended(conversation: Conversation): AsyncGenerator<Appended> {
  for await (const { events } of conversation.watch({ untilNow: true })) {
    for (const event of events) if (event.kind === 'message.append' && !('noop' in event)) yield event;
  }
}
