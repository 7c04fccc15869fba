import { matchFolded } from '../fold.ts';
import { unpackMessage } from '../rows.ts';
import { snippet } from '../snippet.ts';
import { searchTexts } from '../search-text.ts';
import type { SearchText } from '../search-text.ts';
import type { ConversationId, MessageId, TurnId } from '../ids.ts';
import { KEYS, TABLES, afterSeparator, numbersIn } from '../keys.ts';
import type { LogHeader, LogRecord } from '../log.ts';
import { decode } from '../encoding.ts';
import { livingDescendants } from '../collect.ts';
import type { RowReader } from '../backend.ts';
import { findMessage, placed, segmentSees } from '../tree/messages.ts';
import type { PlacedMessage } from '../tree/messages.ts';
import { pathTo, scanPrefix } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import { turnIdAt } from '../tree/place.ts';
import type { Bodies } from './bodies.ts';
import type { Tier } from './message.ts';

/** A place where a text was found: a message, or a conversation's title. */
export interface SearchHit {
  readonly conversationId: ConversationId;
  /** Absent where a title matched. */
  readonly messageId?: MessageId | undefined;
  readonly turnId?: TurnId | null | undefined;
  readonly sequence?: number | undefined;
  /** A piece of the text around the match, and where the match stands in it, in UTF-16 units. */
  readonly snippet: string;
  readonly matchStart: number;
  readonly matchLength: number;
  readonly tier: Tier;
}

/** Which messages count: all that a conversation sees, those of one path, or all of a namespace. */
export type SearchScope =
  | { readonly kind: 'conversation'; readonly tree: Tree }
  | { readonly kind: 'path'; readonly tree: Tree; readonly leaf: TurnId | null }
  | { readonly kind: 'namespace' };

/** The hits of one commit, each digest checked, newest first. */
export function hitsOfCommit(
  bodies: Bodies,
  owner: ConversationId,
  version: number,
  foldedQuery: string,
  scope: SearchScope,
): readonly SearchHit[] {
  const log = bodies.rows.log(owner, version);
  if (!log) return [];
  const hits: SearchHit[] = [];
  for (const found of searchTexts(log)) {
    const at = matchFolded(found.text, foldedQuery);
    if (at < 0) continue;
    bodies.body({ owner, version, index: found.record });
    hits.push(...hitsOfRecord(bodies.rows, owner, log, found, at, foldedQuery.length, scope));
  }
  return hits.reverse();
}

function hitsOfRecord(
  rows: RowReader,
  owner: ConversationId,
  log: LogRecord,
  found: SearchText,
  at: number,
  length: number,
  scope: SearchScope,
): readonly SearchHit[] {
  const piece = snippet(found.text, at, length);
  const match = { snippet: piece.text, matchStart: at - piece.start, matchLength: length, tier: 'hot' as const };
  const title = titleOwner(rows, owner, log, found.record);
  if (title) return title === 'stale' || !isScopeOf(scope, owner) ? [] : [{ conversationId: owner, ...match }];
  return messagesOf(rows, owner, log, found.record, scope).map(({ reader, message }) => ({
    conversationId: reader.head.conversationId,
    messageId: message.row.messageId,
    turnId: turnIdAt(reader, message),
    sequence: message.sequence,
    ...match,
  }));
}

function isScopeOf(scope: SearchScope, owner: ConversationId): boolean {
  return scope.kind === 'namespace' || scope.tree.head.conversationId === owner;
}

/** A title counts while it is the newest: the record is the one that the head points to. */
function titleOwner(
  rows: RowReader,
  owner: ConversationId,
  log: LogRecord,
  record: number,
): 'current' | 'stale' | undefined {
  if (log.header === null) return undefined;
  const event = (decode(log.header) as unknown as LogHeader).events.find((one) => one.record === record);
  if (!event?.kind.startsWith('conversation.')) return undefined;
  const fields = rows.head(owner)?.fields;
  return fields?.owner === owner && fields.version === log.version && fields.index === record ? 'current' : 'stale';
}

interface SeenMessage {
  readonly reader: Tree;
  readonly message: PlacedMessage;
}

/** The messages that show a record's words, to those that the scope asks for. */
function messagesOf(
  rows: RowReader,
  owner: ConversationId,
  log: LogRecord,
  record: number,
  scope: SearchScope,
): readonly SeenMessage[] {
  const candidates = holders(rows, owner, log, record, scope);
  if (scope.kind === 'namespace') return candidates.flatMap((message) => readerOf(rows, message) ?? []);
  const { tree } = scope;
  const visible = candidates.filter((message) => sameMessage(findMessage(tree, message.row.messageId), message));
  const onPath = scope.kind === 'path' ? visible.filter((message) => isOn(tree, scope.leaf, message)) : visible;
  return onPath.map((message) => ({ reader: tree, message }));
}

function isOn(tree: Tree, leaf: TurnId | null, message: PlacedMessage): boolean {
  for (const segment of pathTo(tree, leaf)) if (segmentSees(segment, message)) return true;
  return false;
}

function sameMessage(left: PlacedMessage | undefined, right: PlacedMessage): boolean {
  return left?.owner === right.owner && left.sequence === right.sequence;
}

/** Who reads a message of the namespace: its owner, or a living fork where the owner was erased. */
function readerOf(rows: RowReader, message: PlacedMessage): SeenMessage | undefined {
  const head = rows.head(message.owner);
  if (head && head.erasedAt === null) return { reader: { rows, head }, message };
  for (const fork of livingDescendants(rows, message.owner)) {
    const forkHead = rows.head(fork);
    const reader = forkHead && { rows, head: forkHead };
    if (reader && sameMessage(findMessage(reader, message.row.messageId), message)) return { reader, message };
  }
  return undefined;
}

/** The messages whose words a record holds: the one that brought it, and those that share it as their prompt. */
function holders(
  rows: RowReader,
  owner: ConversationId,
  log: LogRecord,
  record: number,
  scope: SearchScope,
): readonly PlacedMessage[] {
  if (log.header === null) return holdersByScan(rows, owner, log.version, record);
  const event = (decode(log.header) as unknown as LogHeader).events.find((one) => one.record === record);
  const messageId = event?.['messageId'];
  if (typeof messageId !== 'string') return [];
  const tree = treeOf(rows, owner);
  const first = tree && findMessage(tree, messageId);
  const promptId = event?.['promptId'];
  const others = typeof promptId === 'string' ? sharersOf(rows, owner, promptId, scope) : [];
  return first ? [first, ...others] : others;
}

function treeOf(rows: RowReader, owner: ConversationId): Tree | undefined {
  const head = rows.head(owner);
  return head && { rows, head };
}

function sharersOf(
  rows: RowReader,
  owner: ConversationId,
  promptId: string,
  scope: SearchScope,
): readonly PlacedMessage[] {
  const owners = scope.kind === 'namespace' ? [owner] : [...new Set([owner, scope.tree.head.conversationId])];
  return owners.flatMap((conversation) => {
    const tree = treeOf(rows, conversation);
    const uses = tree ? scanPrefix(rows, conversation, KEYS.promptUsesOf(promptId)) : [];
    return uses.flatMap((row) => {
      const sequence = numbersIn(afterSeparator(row.key), 0)[0] as number;
      const [branch, position] = row.value as readonly [number, number];
      const key = KEYS.message(branch, position, sequence);
      const value = rows.get(conversation, key);
      return value ? [placed(conversation, key, value)] : [];
    });
  });
}

/** Of an erased conversation: the rows that a fork still sees tell which of them show the record. */
function holdersByScan(
  rows: RowReader,
  owner: ConversationId,
  version: number,
  record: number,
): readonly PlacedMessage[] {
  return scanPrefix(rows, owner, TABLES.messages)
    .filter((row) => {
      const { ref } = unpackMessage(row.value, owner);
      return ref.owner === owner && ref.version === version && ref.index === record;
    })
    .map((row) => placed(owner, row.key, row.value));
}
