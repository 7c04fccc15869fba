import { isTurnkeepError } from '../errors.ts';
import type { ConversationId, MessageId, TurnId } from '../ids.ts';
import type { MessageContent, Part } from '../message.ts';
import { findMessage } from '../tree/messages.ts';
import type { PlacedMessage } from '../tree/messages.ts';
import type { Tree } from '../tree/path.ts';
import { turnIdAt } from '../tree/place.ts';
import type { Tier } from '../log.ts';
import type { Bodies } from './bodies.ts';

/** A message as it is read: what was said, and where it stands. */
export interface Message extends MessageContent {
  readonly messageId: MessageId;
  /** The conversation that it was appended to: another one if a fork inherits it. */
  readonly conversationId: ConversationId;
  readonly turnId: TurnId | null;
  /** Its place in its conversation, in commit order. */
  readonly sequence: number;
  /** ISO 8601 in UTC, the store's clock. */
  readonly committedAt: string;
  readonly tier: Tier;
  /** Set if the words were removed; `parts` then holds the replacement's, or none. */
  readonly redaction?: { readonly reason: string; readonly at: string } | undefined;
  /** Set if the words are damaged and the reader asked to see that; `parts` is then empty. */
  readonly damage?: { readonly place: string; readonly reason: string } | undefined;
}

/** What a reading does with a message whose words are damaged: fail with `corrupt`, or show its place and the damage. */
export type DamagedMessages = 'refuse' | 'mark';

/** The message with its words; throws `corrupt` if they are damaged. */
export function readMessage(tree: Tree, bodies: Bodies, placed: PlacedMessage): Message {
  const { row } = placed;
  const body = bodies.body(row.ref) as MessageContent | undefined;
  const place = {
    messageId: row.messageId,
    conversationId: placed.owner,
    turnId: turnIdAt(tree, placed),
    sequence: placed.sequence,
    committedAt: bodies.committedAt(placed.owner, row.stamp.version),
    tier: bodies.tier(row.ref),
  };
  return body ? { ...body, ...place } : { ...redacted(bodies, placed), ...place };
}

function redacted(bodies: Bodies, placed: PlacedMessage): Pick<Message, 'role' | 'parts' | 'redaction'> {
  const { redaction } = bodies.record(placed.row.ref);
  const replacement = redaction?.replacement && bodies.body(redaction.replacement);
  const parts = (replacement?.['parts'] ?? []) as unknown as readonly Part[];
  const at = new Date(redaction?.at ?? 0).toISOString();
  return { role: redaction?.role ?? 'user', parts, redaction: { reason: redaction?.reason ?? 'erased', at } };
}

/** The message; if it is damaged and the reader asked for that, its place with the damage. */
export function readMessageOr(damaged: DamagedMessages, tree: Tree, bodies: Bodies, placed: PlacedMessage): Message {
  try {
    return readMessage(tree, bodies, placed);
  } catch (error) {
    if (damaged === 'refuse' || !isTurnkeepError(error, 'corrupt')) throw error;
    return markDamaged(tree, placed, error.details);
  }
}

function markDamaged(tree: Tree, placed: PlacedMessage, damage: NonNullable<Message['damage']>): Message {
  return {
    role: 'system',
    parts: [],
    status: 'incomplete',
    messageId: placed.row.messageId,
    conversationId: placed.owner,
    turnId: turnIdAt(tree, placed),
    sequence: placed.sequence,
    committedAt: '',
    tier: 'hot',
    damage,
  };
}

/** What a look-up by id finds. */
export type MessageLookup =
  | { readonly status: 'found_verified'; readonly message: Message }
  | { readonly status: 'source_corrupt'; readonly place: string; readonly reason: string }
  | { readonly status: 'not_found_confirmed' };

/** Reads one message by id; damage is an answer here, never a silence. */
export function lookUpMessage(tree: Tree, bodies: Bodies, messageId: MessageId): MessageLookup {
  try {
    const placed = findMessage(tree, messageId);
    if (!placed) return { status: 'not_found_confirmed' };
    return { status: 'found_verified', message: readMessage(tree, bodies, placed) };
  } catch (error) {
    return lookUpOfDamage(error);
  }
}

/** The answer of a look-up that met damage before it reached a message; any other error is thrown again. */
export function lookUpOfDamage(error: unknown): MessageLookup {
  if (!isTurnkeepError(error, 'corrupt')) throw error;
  return { status: 'source_corrupt', ...error.details };
}
