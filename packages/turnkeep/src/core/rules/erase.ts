import { z } from 'zod';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { ConversationId } from '../ids.ts';
import { code } from '../shapes.ts';
import { forgetMadeOf } from './held-memory.ts';
import { none, untold } from './rule.ts';
import type { Rule } from './rule.ts';
import { ERASED, eraseSubAgents } from './sub-agent.ts';

/**
 * Erases the conversation: from this commit on nothing of it is read and nothing is written to it. What a living fork
 * shares stays; the rest is removed by `collect`, in slices.
 */
export const conversationErase: Rule<'conversation.erase'> = {
  shape: z.strictObject({ kind: z.literal('conversation.erase'), reason: code.optional() }),
  records: none,
  apply(draft, change, path) {
    if (draft.envelope.commit.changes.length > 1) {
      throw new TurnkeepError('invalid_value', { path, reason: 'an erasure is the only change of its commit' });
    }
    const { head } = draft;
    if (draft.version === 1) throw new TurnkeepError('conversation_not_found', { conversationId: head.conversationId });
    head.erasedAt = draft.envelope.now;
    Object.assign(head, ERASED);
    eraseSubAgents(draft, head.conversationId);
    forgetMadeOf(draft, { conversation: head.conversationId, messageId: null }, 'conversation_erased');
    collectAgain(draft, head.source);
    return change.reason === undefined ? { kind: change.kind } : { kind: change.kind, reason: change.reason };
  },
  leaves: untold,
};

/** What erased ancestors kept for this conversation may go now: they are collected again. */
function collectAgain(draft: Draft, source: ConversationId | null): void {
  for (let next = source; next !== null;) {
    const ancestor = draft.rows.head(next);
    if (!ancestor) return;
    if (ancestor.erasedAt !== null && ancestor.collected) draft.putOtherHead({ ...ancestor, collected: false });
    next = ancestor.source;
  }
}
