import { LIMITS } from 'turnkeep/core';
import type { Change, TurnId } from 'turnkeep/core';
import type { ChangeOf, Draft, Mark } from '../draft.ts';
import type { Conversation } from '../model.ts';
import type { Oracle } from '../oracle.ts';
import { ownTurn } from '../path.ts';
import { refuse } from '../refusal.ts';
import { isTerminal, stateOf } from '../turn-states.ts';
import { assertFirst, setFields } from './conversation.ts';

/** A sub-agent's conversation hangs under a turn of another that has not ended, and a call in it. */
export function spawn(draft: Draft, change: ChangeOf<'conversation.spawn'>): Mark {
  assertFirst(draft);
  const { kind, parent, agent, ...fields } = change;
  const { conversationId, turnId, callId = null } = parent;
  const above = draft.oracle.living(conversationId);
  assertAbove(draft.oracle, above);
  const turn = ownTurn(above, turnId);
  if (!turn) return refuse('no_turn', { turnId });
  if (isTerminal(stateOf(turn))) refuse('turn_terminal', { turnId, state: stateOf(turn) });
  const calls = above.messages.filter((message) => message.turnId === turnId).flatMap((message) => message.calls);
  if (callId !== null && !calls.includes(callId)) refuse('no_call', { callId });
  const max = LIMITS.subAgentDepth;
  const actual = ancestors(draft.oracle, above).length + 2;
  if (actual > max) refuse('limit_exceeded', { limit: 'subAgentDepth', max, actual, path: draft.where });
  draft.become({ parent: { conversationId, turnId, callId } });
  setFields(draft, fields);
  const origin = { kind: 'sub_agent', ...parent, ...(agent === undefined ? {} : { agent }) };
  draft.become({ fields: { ...draft.conversation.fields, origin } });
  return { kind, parent: conversationId, turnId, callId };
}

interface Above {
  readonly above: Conversation;
  readonly turnId: TurnId;
}

/** The conversations that a sub-agent's hangs under, the nearest first, each with the turn. */
export function ancestors(oracle: Oracle, conversation: Conversation): readonly Above[] {
  const all: Above[] = [];
  for (let { parent } = conversation; parent;) {
    const above = oracle.living(parent.conversationId);
    all.push({ above, turnId: parent.turnId });
    ({ parent } = above);
  }
  return all;
}

const WORK: ReadonlySet<string> = new Set(['turn.submit', 'turn.record', 'input.deliver', 'step.start']);

/** Under a turn that was cancelled or has failed nothing is begun and nothing completed. */
export function checkParents(draft: Draft): void {
  const isWork = (change: Change) =>
    WORK.has(change.kind) ||
    (change.kind === 'operation.resolve' && change.outcome.status === 'succeeded') ||
    (change.kind === 'turn.advance' && change.to !== 'cancelled' && change.to !== 'failed');
  if (draft.commit.changes.some(isWork)) assertAbove(draft.oracle, draft.conversation);
}

function assertAbove(oracle: Oracle, conversation: Conversation): void {
  for (const { above, turnId } of ancestors(oracle, conversation)) {
    const turn = ownTurn(above, turnId);
    const state = turn ? stateOf(turn) : 'cancelled';
    const { conversationId } = above;
    if (state === 'cancelled' || state === 'failed') refuse('parent_ended', { conversationId, turnId, state });
  }
}

/** The sub-agents of a conversation, theirs included. */
export function descendants(oracle: Oracle, conversation: Conversation): readonly Conversation[] {
  const children = oracle.everyLiving().filter((one) => one.parent?.conversationId === conversation.conversationId);
  return children.flatMap((child) => [child, ...descendants(oracle, child)]);
}
