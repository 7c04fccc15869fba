import type { RowValue } from '../core/backend.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId } from '../core/ids.ts';
import type { Json } from '../core/json.ts';
import { afterSeparator, KEYS, numbersIn, prefixEnd, TABLES } from '../core/keys.ts';
import type { Ask } from './commit/ask.ts';
import type { StoredHead } from './commit/snapshot.ts';

/** Messages at the end of a path that are loaded with its place. */
const RECENT_MESSAGES = 24;

/**
 * What is most likely asked for after a row: the row that an index row leads to, the log record whose words a row refers
 * to. Like a read plan it is a guess, and saves a round trip for each row of a page.
 */
export function asksAfter(conversation: ConversationId, key: string, value: RowValue): readonly Ask[] {
  switch (key[0]) {
    case TABLES.turnIds: {
      const [branch, position] = value as readonly [number, number];
      return [rowAsk(conversation, KEYS.turn(branch, position)), rowAsk(conversation, KEYS.branch(branch))];
    }
    case TABLES.messageIds:
      return asksAtMessage(conversation, ...(value as readonly [number, number, number]));
    case TABLES.branches:
      return typeof value[0] === 'string' ? [headAsk(value[0]), rowAsk(value[0], KEYS.branch(value[1] as number))] : [];
    case TABLES.messages: {
      const [, version, , ref] = value;
      const words = typeof ref === 'number' ? [logAsk(conversation, version as number)] : refAsk(conversation, ref);
      return [...words, ...turnAsk(conversation, key)];
    }
    case TABLES.entries:
    case TABLES.prompts:
      return refAsk(conversation, key.startsWith(TABLES.prompts) ? [...value] : value.find(Array.isArray));
    case TABLES.commits:
    case TABLES.checkpoints:
    case TABLES.pendingWrites:
    case TABLES.contents:
      return [logAsk(conversation, value[0] as number)];
    case TABLES.operations:
      return [logAsk(conversation, value[1] as number)];
    case TABLES.interruptIds:
      return [rowAsk(conversation, KEYS.interrupt(value[0] as string, key.slice(1)))];
    case TABLES.runs:
    case TABLES.steps:
    case TABLES.interrupts:
      return value.flatMap((item) => refAsk(conversation, item));
    case TABLES.memories:
      return refAsk(conversation, value[2]);
    case TABLES.spawned:
      return [spawnedAsk(afterSeparator(key))];
    case TABLES.waiting:
      return [rowAsk(conversation, KEYS.input(value[0] as string))];
    case TABLES.inputs:
      return [logAsk(conversation, value[5] as number)];
    case TABLES.children:
      return [rowAsk(conversation, KEYS.turnId(value[0] as string))];
    case TABLES.promptUses:
    case TABLES.taskMessages:
    case TABLES.calls:
      return placeAsk(conversation, key, value);
    default:
      return [];
  }
}

/** The turn that a message stands in, by the message's key; none at the root. */
function turnAsk(conversation: ConversationId, key: string): readonly Ask[] {
  const [branch, position] = numbersIn(key, 1) as [number, number];
  return position === 0 ? [] : [rowAsk(conversation, KEYS.turn(branch, position))];
}

/** A message, what follows it in its turn, and that turn. */
function asksAtMessage(
  conversation: ConversationId,
  branch: number,
  position: number,
  sequence: number,
): readonly Ask[] {
  const range = {
    from: KEYS.message(branch, position, sequence + 1),
    to: prefixEnd(KEYS.messagesAt(branch, position)),
    limit: 1,
  };
  return [
    rowAsk(conversation, KEYS.message(branch, position, sequence)),
    { kind: 'range', conversation, range },
    rowAsk(conversation, KEYS.turn(branch, position)),
    rowAsk(conversation, KEYS.branch(branch)),
  ];
}

/** The sub-agents of a sub-agent. */
function spawnedAsk(conversation: ConversationId): Ask {
  return { kind: 'range', conversation, range: { from: TABLES.spawned, to: prefixEnd(TABLES.spawned) } };
}

function headAsk(conversation: ConversationId): Ask {
  return { kind: 'head', conversation };
}

function rowAsk(conversation: ConversationId, key: string): Ask {
  return { kind: 'row', conversation, key };
}

function logAsk(conversation: ConversationId, version: number): Ask {
  return { kind: 'log', conversation, version };
}

/** A packed reference: version, index and, where it is another conversation's, its owner. */
function refAsk(conversation: ConversationId, packed: Json | undefined): readonly Ask[] {
  if (!Array.isArray(packed)) return [];
  const [version, , owner] = packed as readonly Json[];
  if (typeof version !== 'number') return [];
  return [logAsk((owner as ConversationId | undefined) ?? conversation, version)];
}

/** The message that stands at a place whose sequence is the last number of the key. */
function placeAsk(conversation: ConversationId, key: string, value: RowValue): readonly Ask[] {
  const [branch, position] = (typeof value[0] === 'string' ? value.slice(1) : value) as [number, number];
  const sequence = numbersIn(key, key.lastIndexOf('\u0001') + 1)[0];
  return sequence === undefined ? [] : [rowAsk(conversation, KEYS.message(branch, position, sequence))];
}

/** What is most likely asked for after a head: the end of its active path, and what a listing shows of it. */
export function asksAfterHead({ head, places }: StoredHead): readonly Ask[] {
  const { conversationId, leaf } = head;
  const place = leaf === null ? undefined : places.get(leaf);
  const asks: Ask[] = [...asksAfterListing(head), rowAsk(conversationId, KEYS.branch(0))];
  if (leaf === null || !place) return asks;
  const [branch, position] = place;
  const from = KEYS.messagesOf(branch);
  const range = { from, to: prefixEnd(KEYS.messagesAt(branch, position)), reverse: true, limit: RECENT_MESSAGES };
  return [
    ...asks,
    rowAsk(conversationId, KEYS.turnId(leaf)),
    rowAsk(conversationId, KEYS.turn(branch, position)),
    rowAsk(conversationId, KEYS.branch(branch)),
    { kind: 'range', conversation: conversationId, range },
  ];
}

/** The records that a listing shows of a conversation. */
export function asksAfterListing({ fields, lastMessage }: Head): readonly Ask[] {
  return [fields, lastMessage?.ref].flatMap((ref) => (ref ? [logAsk(ref.owner, ref.version)] : []));
}
