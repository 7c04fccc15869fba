import { z } from 'zod';
import type { RowReader } from '../backend.ts';
import type { Change, ConversationSpawn } from '../change.ts';
import type { Draft } from '../draft.ts';
import { TurnkeepError } from '../errors.ts';
import type { ErrorDetails } from '../errors.ts';
import type { Head } from '../head.ts';
import type { ConversationId } from '../ids.ts';
import { afterSeparator, KEYS, prefixEnd, TABLES } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { id, shortText } from '../shapes.ts';
import { ownCallsAt } from '../tree/calls.ts';
import { ownTurn } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import { fieldShapes, writeFields } from './conversation.ts';
import { assertNotErased, leavesChild } from './fork.ts';
import { forgetMadeOf } from './held-memory.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';
import { isTerminal } from './turn-states.ts';

/** Makes this conversation a sub-agent's: it hangs under a turn of its parent that has not ended, and a call in it. */
export const conversationSpawn: Rule<'conversation.spawn'> = {
  shape: z.strictObject({
    kind: z.literal('conversation.spawn'),
    parent: z.strictObject({ conversationId: id, turnId: id, callId: id.optional() }),
    agent: shortText.optional(),
    ...fieldShapes,
  }),
  records: one,
  apply(draft, change, path) {
    const { kind, parent, agent, ...fields } = change;
    if (draft.version > 1 || draft.stamp.index > 0) {
      throw new TurnkeepError('conversation_exists', { conversationId: draft.conversationId });
    }
    const head = draft.rows.head(parent.conversationId);
    if (!head) throw new TurnkeepError('conversation_not_found', { conversationId: parent.conversationId });
    assertNotErased(head);
    assertAbove(draft, head);
    assertTakesOneMore({ rows: draft.rows, head }, parent, path);
    assertDepth(draft, head, path);
    const callId = parent.callId ?? null;
    draft.head.parent = { conversationId: parent.conversationId, turnId: parent.turnId, callId };
    draft.putElsewhere(parent.conversationId, KEYS.spawned(parent.turnId, draft.conversationId), [callId]);
    const record = writeFields(draft, fields, path, { origin: { kind: 'sub_agent', ...parent, agent } });
    return { kind, parent: parent.conversationId, turnId: parent.turnId, callId, record };
  },
  leaves(left, { parent, turnId, callId }) {
    leavesChild(left, parent, KEYS.spawned(turnId, left.conversationId), callId);
  },
};

/** The turn is there and has not ended, the call stands in it, and it has room for one more. */
function assertTakesOneMore(tree: Tree, { turnId, callId }: ConversationSpawn['parent'], path: string): void {
  const turn = ownTurn(tree, turnId);
  if (!turn) throw new TurnkeepError('no_turn', { turnId });
  const { branch, position, row } = turn;
  if (isTerminal(row.state)) throw new TurnkeepError('turn_terminal', { turnId, state: row.state });
  if (callId !== undefined && !ownCallsAt(tree, callId, branch, position).some(({ kind }) => kind === 'call'))
    throw new TurnkeepError('no_call', { callId });
  const [max, prefix] = [LIMITS.subAgents, KEYS.spawnedOf(turnId)];
  const held = tree.rows.scan(tree.head.conversationId, { from: prefix, to: prefixEnd(prefix), limit: max }).length;
  if (held >= max) throw new TurnkeepError('limit_exceeded', { limit: 'subAgents', max, actual: max + 1, path });
}

function assertDepth(draft: Draft, parent: Head, path: string): void {
  const max = LIMITS.subAgentDepth;
  const actual = [...ancestorsOf(draft, parent)].length + 2;
  if (actual > max) throw new TurnkeepError('limit_exceeded', { limit: 'subAgentDepth', max, actual, path });
}

/** The turns that a sub-agent's conversation hangs under, the nearest first, each with its conversation. */
export function* ancestorsOf(
  { rows }: { readonly rows: RowReader },
  start: Pick<Head, 'parent'>,
): Generator<NonNullable<Head['parent']> & { readonly head: Head }> {
  for (let { parent } = start; parent;) {
    const head: Head | undefined = rows.head(parent.conversationId);
    if (!head) return;
    yield { ...parent, head };
    ({ parent } = head);
  }
}

/** True for a change that begins or completes something: refused after the turn above was cancelled or has failed. */
export function isWork(change: Change): boolean {
  switch (change.kind) {
    case 'turn.submit':
    case 'turn.record':
    case 'input.deliver':
    case 'step.start':
      return true;
    case 'turn.advance':
      return change.to !== 'cancelled' && change.to !== 'failed';
    case 'operation.resolve':
      return change.outcome.status === 'succeeded';
    default:
      return false;
  }
}

/** A sub-agent is cancelled with its parent: it begins nothing and completes nothing any more. */
export function checkParents(draft: Draft): void {
  if (draft.head.parent && draft.envelope.commit.changes.some(isWork)) assertAbove(draft, draft.head);
}

function assertAbove(draft: Draft, start: Pick<Head, 'parent'>): void {
  const ended = endAbove(draft.rows, start);
  if (ended) throw new TurnkeepError('parent_ended', ended);
}

/** The nearest turn above a sub-agent's conversation that was cancelled or has failed; `undefined` if it may work. */
export function endAbove(rows: RowReader, start: Pick<Head, 'parent'>): ErrorDetails['parent_ended'] | undefined {
  for (const { conversationId, turnId, head } of ancestorsOf({ rows }, start)) {
    const state = ownTurn({ rows, head }, turnId)?.row.state ?? 'cancelled';
    if (state === 'cancelled' || state === 'failed') return { conversationId, turnId, state };
  }
  return undefined;
}

/** Erases the sub-agents of a conversation with it, theirs included: tombstones in the same commit. */
export function eraseSubAgents(draft: Draft, conversationId: ConversationId): void {
  const range = { from: TABLES.spawned, to: prefixEnd(TABLES.spawned) };
  for (const { key } of draft.rows.scan(conversationId, range)) {
    const child = afterSeparator(key) as ConversationId;
    const head = draft.rows.head(child);
    if (!head || head.erasedAt !== null) continue;
    forgetMadeOf(draft, { conversation: child, messageId: null }, 'conversation_erased');
    draft.putOtherHead({ ...head, ...ERASED, erasedAt: draft.envelope.now });
    eraseSubAgents(draft, child);
  }
}

/** The fields that an erasure clears in a head at once. */
export const ERASED = {
  leaf: null,
  busy: [],
  openOperation: null,
  openInterrupts: [],
  lastMessage: null,
  fields: null,
  owner: null,
} as const;
