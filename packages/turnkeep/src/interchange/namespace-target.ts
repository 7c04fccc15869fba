import { isTurnkeepError } from '../core/errors.ts';
import type { Namespace } from '../ledger/namespace.ts';
import type { ImportTarget } from './target.ts';

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
  };
}
