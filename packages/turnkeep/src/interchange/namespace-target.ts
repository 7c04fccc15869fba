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

/** A conversation's own messages by its log: a path would leave the other branches out. */
async function* messagesOf(conversation: Conversation): AsyncGenerator<StoredMessage> {
  for await (const { events } of conversation.watch({ untilNow: true })) {
    for (const event of events) {
      if (event.kind !== 'message.append' || 'noop' in event) continue;
      const { messageId, turnId, sequence } = event;
      const answer = await conversation.message(messageId);
      if (answer.status === 'found_verified') yield answer.message;
      if (answer.status !== 'source_corrupt') continue;
      const { place, reason } = answer;
      yield { messageId, turnId, sequence, role: 'system', parts: [], damage: { place, reason } };
    }
  }
}
