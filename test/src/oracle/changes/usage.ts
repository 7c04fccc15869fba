import type { ConversationId, JsonObject, TurnId, UsageId } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import { withMember } from '../model.ts';
import { ownTurn } from '../path.ts';
import { refuse } from '../refusal.ts';
import { sameJson } from '../same.ts';
import { ancestors } from './sub-agent.ts';

/** What a model call used is recorded once: the same again is a no-op, something else under its id a conflict. */
export function record(draft: Draft, change: ChangeOf<'usage.record'>): Mark {
  const { kind, turnId, usageId: given, ...said } = change;
  const usageId = given as UsageId; // minted beforehand
  if (turnId !== undefined && !ownTurn(draft.conversation, turnId)) refuse('no_turn', { turnId });
  const content = { ...said, ...(turnId === undefined ? {} : { turnId }) } as unknown as JsonObject;
  const { usages } = draft.conversation;
  const known = usages.get(usageId);
  if (known && !sameJson(known.words, content)) refuse('usage_conflict', { usageId });
  if (known) return { kind, usageId, noop: true };
  const above = ancestors(draft.oracle, draft.conversation);
  const counts = new Map<ConversationId, TurnId | null>([
    [draft.conversation.conversationId, turnId ?? null],
    ...above.map((one) => [one.above.conversationId, one.turnId] as const),
  ]);
  const usage = { usageId, words: content, at: draft.now, counts };
  draft.become({ usages: withMember(usages, usageId, usage) });
  draft.spent.push(usage);
  return { kind, usageId, ...(turnId === undefined ? {} : { turnId }) };
}
