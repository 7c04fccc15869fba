import { isTurnkeepError } from '../core/errors.ts';
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
    messages: (conversationId) => messagesOf(namespace.conversation(conversationId)),
  };
}

/** Messages that are held at once: one may have 14 MB. */
const PAGE = 32;

/** A conversation's own messages: those of the active path page by page, those of the other branches by the log. */
async function* messagesOf(conversation: Conversation): AsyncGenerator<StoredMessage> {
  const seen = new Set<string>();
  for await (const message of conversation.read({ pageSize: PAGE, damaged: 'mark' })) {
    if (message.conversationId !== conversation.id) continue;
    seen.add(message.messageId);
    yield message;
  }
  for await (const { events } of conversation.watch({ untilNow: true })) {
    for (const event of events) {
      if (event.kind !== 'message.append' || 'noop' in event || seen.has(event.messageId)) continue;
      const { messageId, turnId, sequence } = event;
      const answer = await conversation.message(messageId);
      if (answer.status === 'found_verified') yield answer.message;
      if (answer.status !== 'source_corrupt') continue;
      const { place, reason } = answer;
      yield { messageId, turnId, sequence, role: 'system', parts: [], damage: { place, reason } };
    }
  }
}
