import { z } from 'zod';
import type { Draft } from '../draft.ts';
import { TurnkeepError, assert } from '../errors.ts';
import type { Head } from '../head.ts';
import type { ConversationId, MessageId } from '../ids.ts';
import type { Json } from '../json.ts';
import { KEYS, prefixEnd } from '../keys.ts';
import { id } from '../shapes.ts';
import { findInheritedMessage, lastSequenceOn, messageById, nextSeenInTurn, placed } from '../tree/messages.ts';
import type { InheritedMessage } from '../tree/messages.ts';
import { continuationBound, cutAfter, ownTurn, pathTo, turnAt } from '../tree/path.ts';
import type { Cut, Segment, Tree, WholeCut } from '../tree/path.ts';
import { cutAtInherited, cutAtOwn, turnIdAt } from '../tree/place.ts';
import { fieldShapes, writeFields } from './conversation.ts';
import type { LeftRows } from './left-rows.ts';
import { one } from './rule.ts';
import type { Rule } from './rule.ts';
import { newBranch } from './turn.ts';
import { isTerminal } from './turn-states.ts';

/** Makes this conversation a fork of another of its namespace. Its cost does not grow with the source. */
export const conversationFork: Rule<'conversation.fork'> = {
  shape: z.strictObject({ kind: z.literal('conversation.fork'), source: id, at: id, ...fieldShapes }),
  records: one,
  apply(draft, change, path) {
    const { kind, source: sourceId, at, ...fields } = change;
    if (draft.version > 1 || draft.stamp.index > 0) {
      throw new TurnkeepError('conversation_exists', { conversationId: draft.conversationId });
    }
    const source = draft.rows.head(sourceId);
    if (!source) throw new TurnkeepError('conversation_not_found', { conversationId: sourceId });
    assertNotErased(source);
    const cut = cutOfFork({ rows: draft.rows, head: source }, at);
    newBranch(draft, cut, true);
    draft.head.source = sourceId;
    draft.putElsewhere(sourceId, KEYS.fork(draft.conversationId), [source.version]);
    inheritCounters(draft);
    const record = writeFields(draft, fields, path, {});
    const event = {
      kind,
      source: sourceId,
      at,
      sourceVersion: source.version,
      startSequence: draft.head.lastSequence + 1,
    };
    return record === undefined ? event : { ...event, record };
  },
  leaves(left, { source, sourceVersion }) {
    leavesChild(left, source, KEYS.fork(left.conversationId), sourceVersion);
  },
};

export function assertNotErased(head: Head): void {
  if (head.erasedAt === null) return;
  const erasedAt = new Date(head.erasedAt).toISOString();
  throw new TurnkeepError('erased', { conversationId: head.conversationId, erasedAt });
}

/** Looks for the row in the conversation above that names this one; an erased one need not have it. */
export function leavesChild(left: LeftRows, above: ConversationId, key: string, said: Json): void {
  left.elsewhere(`that it hangs on conversation ${above}`, (rows) => {
    const head = rows.head(above);
    return head !== undefined && (head.erasedAt !== null || rows.get(above, key)?.[0] === said);
  });
}

/** The fork goes on after the highest sequence that it inherits, and its leaf is the last turn that it inherits. */
function inheritCounters(draft: Draft): void {
  draft.head.lastSequence = lastSequenceOn(draft.tree, pathTo(draft.tree, null));
  for (const segment of pathTo(draft.tree, null)) {
    if (segment.position < 1) continue;
    const turn = turnAt(draft.rows, segment.owner, segment.branch, segment.position);
    assert(turn, 'a cut within turns has its turn');
    draft.head.cutTurn = turn.turnId;
    draft.head.leaf = turn.turnId;
    return;
  }
}

function cutOfFork(source: Tree, at: MessageId): Cut {
  const own = messageById(source, source.head.conversationId, at);
  if (own) {
    const turnId = turnIdAt(source, own);
    const turn = turnId === null ? undefined : ownTurn(source, turnId);
    if (turn && !isTerminal(turn.row.state)) {
      throw new TurnkeepError('turn_open', { turnId: turn.row.turnId, state: turn.row.state });
    }
    return cutAtOwn(source, own, source.head.version);
  }
  const found = findInheritedMessage(source, at);
  if (!found) throw new TurnkeepError('no_message', { messageId: at });
  return cutOfForkedFork(source, found);
}

/**
 * A fork cut at a message that its source inherits. At the last message of its turn the source's own entries come along,
 * unless a message stands between; a source without any links its fork to what it links to itself.
 */
function cutOfForkedFork(source: Tree, found: InheritedMessage): Cut {
  const { segments, at, message } = found;
  const segment = segments[at] as Segment;
  const whole = nextSeenInTurn(source, segment, message) ? undefined : cutAfter(source, segments, at, message.position);
  if (!whole || !isExtension(source, segments, at, whole)) return cutAtInherited(source, found);
  if (!whole.tail) {
    const { cut } = whole;
    const same =
      cut.cutPosition === message.position &&
      cut.parent.owner === segment.owner &&
      cut.parent.branch === segment.branch;
    return same ? { ...cut, cutSequence: message.sequence } : cut;
  }
  return source.head.rootEntries > 0 ? cutAtTail(source) : linkToGrandparent(source, segments);
}

/** True if no message stands in the tails between the message's turn and the whole cut after it. */
function isExtension(tree: Tree, segments: readonly Segment[], from: number, whole: WholeCut): boolean {
  const end = whole.tail ? segments.length : indexOfCut(segments, whole.cut);
  for (let at = from + 1; at <= end; at++) {
    const segment = segments[at];
    const owner = segment?.owner ?? tree.head.conversationId;
    if (hasRootMessages(tree, owner, segment?.branch ?? 0, segment?.asOf ?? Infinity)) return false;
  }
  return true;
}

function indexOfCut(segments: readonly Segment[], cut: Cut): number {
  return segments.findIndex((s) => s.owner === cut.parent.owner && s.branch === cut.parent.branch);
}

function hasRootMessages(tree: Tree, owner: string, branch: number, asOf: number): boolean {
  const prefix = KEYS.messagesAt(branch, 0);
  // By sequence, hence by version: the first is the oldest.
  const first = tree.rows.scan(owner, { from: prefix, to: prefixEnd(prefix), limit: 1 })[0];
  return first !== undefined && placed(owner, first.key, first.value).row.stamp.version <= asOf;
}

function cutAtTail(source: Tree): Cut {
  const parent = { owner: source.head.conversationId, branch: 0 };
  return { parent, cutPosition: 0, cutSequence: Number.MAX_SAFE_INTEGER, asOf: source.head.version, bound: null };
}

function linkToGrandparent(source: Tree, segments: readonly Segment[]): Cut {
  const last = segments.at(-1);
  assert(last, 'a fork inherits something');
  return {
    parent: { owner: last.owner, branch: last.branch },
    cutPosition: last.position,
    cutSequence: last.sequence,
    asOf: last.asOf,
    bound: last.bound ?? continuationBound(source, last),
  };
}
