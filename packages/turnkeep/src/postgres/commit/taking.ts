import type { Commit } from '../../core/change.ts';
import type { ConversationId } from '../../core/ids.ts';
import { KEYS, prefixEnd, TABLES } from '../../core/keys.ts';
import { unpackMessage } from '../../core/rows.ts';
import { isShelf, SHELVES } from '../../core/shelf.ts';
import type { Ask } from './ask.ts';
import { ownersOf } from './inherited.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * What a commit asks for that takes words away: of an erased conversation its sub-agents, and what memories were made in any of those
 * that are `held` for it; of a message that is redacted what was recorded of its calls, and made of it.
 */
export function asksOfTaking(
  snapshot: Snapshot,
  { conversationId, changes }: Commit,
  held: Iterable<ConversationId>,
): readonly Ask[] {
  return changes.flatMap((change): readonly Ask[] => {
    switch (change.kind) {
      case 'conversation.erase':
        return [...held].flatMap((id) => (isShelf(id) ? [countAsk] : [rangeAsk(id, TABLES.spawned), madeOf(id, null)]));
      case 'message.redact':
        return [...asksOfRedaction(snapshot, conversationId, change.messageId), countAsk];
      case 'memory.upsert':
        return change.text === null ? [countAsk] : [];
      default:
        return [];
    }
  });
}

function asksOfRedaction(snapshot: Snapshot, conversation: ConversationId, messageId: string): readonly Ask[] {
  return ownersOf(snapshot, conversation).flatMap((owner) => {
    const place = snapshot.peek(owner, KEYS.messageId(messageId)) as readonly [number, number, number] | undefined;
    return place ? [madeOf(owner, messageId), referencesAsk(owner), ...asksOfCalls(snapshot, owner, place)] : [];
  });
}

/** What was recorded of the calls of a message: their steps, the interrupts of its turn. */
function asksOfCalls(
  snapshot: Snapshot,
  owner: ConversationId,
  [branch, position, sequence]: readonly [number, number, number],
): readonly Ask[] {
  const value = snapshot.peek(owner, KEYS.message(branch, position, sequence));
  const turnId = snapshot.peek(owner, KEYS.turn(branch, position))?.[0];
  if (!value || typeof turnId !== 'string') return [];
  const { calls, answers } = unpackMessage(value, owner);
  const named = [...calls, ...answers];
  if (named.length === 0) return [];
  const interrupts = KEYS.interruptsOf(turnId);
  return [
    ...named.flatMap((callId) => rowAndWords(owner, KEYS.step(turnId, callId))),
    rangeAsk(owner, interrupts),
    { kind: 'words', conversation: owner, range: { from: interrupts, to: prefixEnd(interrupts), limit: INTERRUPTS } },
  ];
}

/** Interrupts of a turn whose words come along. */
const INTERRUPTS = 32;
/** So many references of a conversation come along. */
const REFERENCES = 512;

const countAsk: Ask = { kind: 'row', conversation: SHELVES.memories, key: TABLES.memoryCount };

/** Attachments that a conversation refers to: which of them the words did that go is known with the words. */
function referencesAsk(conversation: ConversationId): Ask {
  const range = { from: TABLES.references, to: prefixEnd(TABLES.references), limit: REFERENCES };
  return { kind: 'range', conversation, range };
}

function madeOf(conversation: ConversationId, messageId: string | null): Ask {
  return rangeAsk(SHELVES.memories, KEYS.memoryOriginsOf(conversation, messageId));
}

function rowAndWords(conversation: ConversationId, key: string): readonly Ask[] {
  return [
    { kind: 'row', conversation, key },
    { kind: 'words', conversation, range: { from: key, to: `${key}\u0000`, limit: 1 } },
  ];
}

function rangeAsk(conversation: ConversationId, prefix: string): Ask {
  return { kind: 'range', conversation, range: { from: prefix, to: prefixEnd(prefix) } };
}
