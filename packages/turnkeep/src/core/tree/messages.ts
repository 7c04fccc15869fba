import type { ConversationId, MessageId } from '../ids.ts';
import { KEYS, numbersIn, prefixEnd } from '../keys.ts';
import { unpackMessage, WHOLE } from '../rows.ts';
import type { MessageRow } from '../rows.ts';
import { inheritedSegments } from './path.ts';
import type { Segment, Tree } from './path.ts';

const LATER_STEP = 16;

/** A message with its place. */
export interface PlacedMessage {
  readonly owner: ConversationId;
  readonly branch: number;
  readonly position: number;
  readonly sequence: number;
  readonly row: MessageRow;
}

/** Which own messages are seen: up to a version (the conversation as it was), up to a sequence (a pinned reading). */
export interface Seen {
  readonly version?: number | undefined;
  readonly sequence?: number | undefined;
}

/** True if the segment's path holds the message. */
export function segmentSees(segment: Segment, message: PlacedMessage, seen: Seen = {}): boolean {
  if (message.owner !== segment.owner || message.branch !== segment.branch) return false;
  return withinCut(segment, message.position, message.sequence) && sees(segment, message, seen);
}

function withinCut(segment: Segment, position: number, sequence: number): boolean {
  return position < segment.position || (position === segment.position && sequence <= segment.sequence);
}

function sees(segment: Segment, message: PlacedMessage, seen: Seen): boolean {
  if (message.row.stamp.version > segment.asOf) return false;
  if (!segment.own) return true;
  return message.row.stamp.version <= (seen.version ?? WHOLE) && message.sequence <= (seen.sequence ?? WHOLE);
}

/** Where a reading of a segment stops or starts: before this place. */
export interface BeforePlace {
  readonly position: number;
  readonly sequence: number;
}

/**
 * The messages of a segment from its end towards its start, `step` rows at a time, so that a reader who stops early has
 * read little.
 */
export function* backward(
  tree: Tree,
  segment: Segment,
  seen: Seen,
  step: number,
  before?: BeforePlace,
): Generator<PlacedMessage> {
  const prefix = KEYS.messagesOf(segment.branch);
  let to = before ? KEYS.message(segment.branch, before.position, before.sequence) : endOf(segment);
  for (;;) {
    const rows = tree.rows.scan(segment.owner, { from: prefix, to, reverse: true, limit: step });
    for (const row of rows) {
      const message = placed(segment.owner, row.key, row.value);
      if (sees(segment, message, seen)) yield message;
      to = row.key;
    }
    if (rows.length < step) return;
  }
}

/** The messages of a segment from its start on, `step` rows at a time; `after` is where an earlier page ended. */
export function* forward(
  tree: Tree,
  segment: Segment,
  seen: Seen,
  step: number,
  after?: BeforePlace,
): Generator<PlacedMessage> {
  let from = after ? KEYS.message(segment.branch, after.position, after.sequence + 1) : KEYS.messagesOf(segment.branch);
  const to = endOf(segment);
  for (;;) {
    const rows = tree.rows.scan(segment.owner, { from, to, limit: step });
    for (const row of rows) {
      const message = placed(segment.owner, row.key, row.value);
      if (sees(segment, message, seen)) yield message;
      from = KEYS.message(segment.branch, message.position, message.sequence + 1);
    }
    if (rows.length < step) return;
  }
}

function endOf(segment: Segment): string {
  if (segment.sequence === WHOLE) return prefixEnd(KEYS.messagesAt(segment.branch, segment.position));
  return KEYS.message(segment.branch, segment.position, segment.sequence + 1);
}

/** The messages of one turn's place in a branch, whoever sees them, in order. */
export function messagesAt(
  tree: Tree,
  owner: ConversationId,
  branch: number,
  position: number,
): readonly PlacedMessage[] {
  const prefix = KEYS.messagesAt(branch, position);
  const rows = tree.rows.scan(owner, { from: prefix, to: prefixEnd(prefix) });
  return rows.map((row) => placed(owner, row.key, row.value));
}

export function placed(owner: ConversationId, key: string, value: readonly unknown[]): PlacedMessage {
  const [branch, position, sequence] = numbersIn(key, 1) as [number, number, number];
  return { owner, branch, position, sequence, row: unpackMessage(value as MessageRowValue, owner) };
}

type MessageRowValue = Parameters<typeof unpackMessage>[0];

/** A message by id, if this conversation sees it: its own, or one that it inherits. */
export function findMessage(tree: Tree, messageId: MessageId): PlacedMessage | undefined {
  const own = messageById(tree, tree.head.conversationId, messageId);
  return own ?? findInheritedMessage(tree, messageId)?.message;
}

/** A message that a fork inherits, and where it stands in what the fork inherits. */
export interface InheritedMessage {
  readonly segments: readonly Segment[];
  readonly at: number;
  readonly message: PlacedMessage;
}

export function findInheritedMessage(tree: Tree, messageId: MessageId): InheritedMessage | undefined {
  if (tree.head.source === null) return undefined;
  const segments = inheritedSegments(tree);
  const asked = new Map<ConversationId, PlacedMessage | undefined>();
  for (const [at, segment] of segments.entries()) {
    if (!asked.has(segment.owner)) asked.set(segment.owner, messageById(tree, segment.owner, messageId));
    const message = asked.get(segment.owner);
    if (message && segmentSees(segment, message)) return { segments, at, message };
  }
  return undefined;
}

export function messageById(tree: Tree, owner: ConversationId, messageId: MessageId): PlacedMessage | undefined {
  const place = tree.rows.get(owner, KEYS.messageId(messageId)) as readonly [number, number, number] | undefined;
  if (!place) return undefined;
  const key = KEYS.message(...place);
  const value = tree.rows.get(owner, key);
  return value && placed(owner, key, value);
}

/** The first message of the same turn after this one, whoever sees it. */
export function nextInTurn(tree: Tree, message: PlacedMessage): PlacedMessage | undefined {
  return laterInTurn(tree, message).next().value ?? undefined;
}

/** The first message of the same turn after this one that the segment sees. */
export function nextSeenInTurn(tree: Tree, segment: Segment, message: PlacedMessage): PlacedMessage | undefined {
  for (const later of laterInTurn(tree, message)) if (segmentSees(segment, later)) return later;
  return undefined;
}

function* laterInTurn(tree: Tree, message: PlacedMessage): Generator<PlacedMessage, undefined> {
  const { owner, branch, position } = message;
  const to = prefixEnd(KEYS.messagesAt(branch, position));
  let from = KEYS.message(branch, position, message.sequence + 1);
  for (let step = 1; ; step = LATER_STEP) {
    const rows = tree.rows.scan(owner, { from, to, limit: step });
    for (const row of rows) {
      const later = placed(owner, row.key, row.value);
      yield later;
      from = KEYS.message(branch, position, later.sequence + 1);
    }
    if (rows.length < step) return;
  }
}

/** The highest sequence on a path, late tool results included; 0 on an empty path. */
export function lastSequenceOn(tree: Tree, path: Iterable<Segment>): number {
  let highest = 0;
  for (const segment of path) {
    for (const message of backward(tree, segment, {}, 1)) {
      highest = Math.max(highest, message.sequence);
      break;
    }
    highest = Math.max(highest, lastLateOn(tree, segment, highest));
  }
  return highest;
}

/** The highest sequence above `floor` of the late results that the segment sees. */
function lastLateOn(tree: Tree, segment: Segment, floor: number): number {
  const prefix = KEYS.lateOf(segment.branch);
  const late = tree.rows.scan(segment.owner, {
    from: KEYS.late(segment.branch, floor + 1),
    to: prefixEnd(prefix),
    reverse: true,
  });
  for (const row of late) {
    const sequence = numbersIn(row.key, 1)[1] as number;
    const position = row.value[0] as number;
    const version = row.value[1] as number;
    if (withinCut(segment, position, sequence) && version <= segment.asOf) return sequence;
  }
  return 0;
}
