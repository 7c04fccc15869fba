import { matchFolded } from '../fold.ts';
import { snippet } from '../snippet.ts';
import { searchTexts } from '../search-text.ts';
import type { ConversationId, MessageId, TurnId } from '../ids.ts';
import { KEYS, TABLES, afterSeparator, numbersIn } from '../keys.ts';
import type { LogRecord } from '../log.ts';
import { fieldOf } from '../event.ts';
import type { ChangeEvent } from '../event.ts';
import { family, livingDescendants } from '../collect.ts';
import type { Row, RowReader } from '../backend.ts';
import type { Head, RecordRef } from '../head.ts';
import { findMessage, placed, segmentSees } from '../tree/messages.ts';
import type { PlacedMessage } from '../tree/messages.ts';
import { pathTo, scanPrefix } from '../tree/path.ts';
import type { Tree } from '../tree/path.ts';
import { turnIdAt } from '../tree/place.ts';
import type { Bodies } from './bodies.ts';
import type { Tier } from '../log.ts';

/** A place where a text was found: a message, or a conversation's title. */
export interface SearchHit {
  readonly conversationId: ConversationId;
  /** Absent if a title matched. */
  readonly messageId?: MessageId | undefined;
  readonly turnId?: TurnId | null | undefined;
  readonly sequence?: number | undefined;
  /** A piece of the text around the match, and the place of the match in it, in UTF-16 units. */
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

/** What was found in one record of a commit. */
export interface RecordHits {
  readonly record: number;
  /** The places that show the record's words; empty if they do not match. */
  readonly hits: readonly SearchHit[];
  /** Why the record could not be searched. */
  readonly damage?: SearchDamage | undefined;
}

/** Words that no search can look into, since they are not as they were written; `verify` says more. */
export interface SearchDamage {
  readonly conversationId: ConversationId;
  readonly version: number;
  readonly reason: string;
}

/** The hits of one commit by record, the last record first, each digest checked. Records without hits are left out. */
export function* hitsOfCommit(
  bodies: Bodies,
  owner: ConversationId,
  version: number,
  foldedQuery: string,
  scope: SearchScope,
): Generator<RecordHits> {
  const log = bodies.rows.log(owner, version);
  if (!log) return;
  for (const { record, text } of searchTexts(log, bodies.sha256).toReversed()) {
    const at = text === null ? -1 : matchFolded(text, foldedQuery);
    if (text === null) {
      const reason = `record ${record} does not match its digest`;
      yield { record, hits: [], damage: { conversationId: owner, version, reason } };
    } else if (at >= 0) {
      yield {
        record,
        hits: hitsOfRecord(bodies, owner, log, { record, text }, at, foldedQuery.length, scope).toReversed(),
      };
    }
  }
}

function hitsOfRecord(
  bodies: Bodies,
  owner: ConversationId,
  log: LogRecord,
  found: { readonly record: number; readonly text: string },
  at: number,
  length: number,
  scope: SearchScope,
): readonly SearchHit[] {
  const piece = snippet(found.text, at, length);
  const match = {
    snippet: piece.text,
    matchStart: at - piece.start,
    matchLength: length,
    tier: log.tier ?? ('hot' as const),
  };
  const title = titleOwner(bodies, owner, log, found.record);
  if (title) return title === 'stale' || !isScopeOf(scope, owner) ? [] : [{ conversationId: owner, ...match }];
  return messagesOf(bodies, owner, log, found.record, scope).map(({ reader, message }) => ({
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

/** A title counts only while it is the newest: its record is the one that the head points to. */
function titleOwner(
  bodies: Bodies,
  owner: ConversationId,
  log: LogRecord,
  record: number,
): 'current' | 'stale' | undefined {
  if (!bodies.event(owner, log.version, record)?.kind.startsWith('conversation.')) return undefined;
  const fields = bodies.rows.head(owner)?.fields;
  return fields?.owner === owner && fields.version === log.version && fields.index === record ? 'current' : 'stale';
}

interface SeenMessage {
  readonly reader: Tree;
  readonly message: PlacedMessage;
}

/** The messages within the scope that show a record's words. */
function messagesOf(
  bodies: Bodies,
  owner: ConversationId,
  log: LogRecord,
  record: number,
  scope: SearchScope,
): readonly SeenMessage[] {
  const candidates = holders(bodies, owner, log, record, scope);
  if (scope.kind === 'namespace') return candidates.flatMap((message) => readerOf(bodies.rows, message) ?? []);
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

/** Who reads a message of the namespace: its owner, or a living fork if the owner was erased. */
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

/** The messages that show a record's words; a redaction's replacement is shown by the message whose words it replaced. */
function holders(
  bodies: Bodies,
  owner: ConversationId,
  log: LogRecord,
  record: number,
  scope: SearchScope,
): readonly PlacedMessage[] {
  const ref = { owner, version: log.version, index: record };
  if (log.header === null) return showing(bodies, replacedBy(bodies.rows, ref) ?? ref, scope);
  const event = bodies.event(owner, log.version, record);
  const redacted = event?.kind === 'message.redact' ? messageOf(bodies.rows, owner, event) : undefined;
  return showing(bodies, redacted?.row.ref ?? ref, scope);
}

/** In an erased conversation: the record whose words this one replaces. */
function replacedBy(rows: RowReader, ref: RecordRef): RecordRef | undefined {
  const messages = scanPrefix(rows, ref.owner, TABLES.messages).map((row) => placed(ref.owner, row.key, row.value));
  const found = messages.find(({ row }) => {
    const replacement = rows.log(row.ref.owner, row.ref.version)?.records[row.ref.index]?.redaction?.replacement;
    return replacement && isSame(replacement, ref);
  });
  return found?.row.ref;
}

/** The messages that show a record: the one that brought it, and those that share it as their prompt. */
function showing(bodies: Bodies, ref: RecordRef, scope: SearchScope): readonly PlacedMessage[] {
  const { rows } = bodies;
  const log = bodies.log(ref.owner, ref.version);
  if (!log) return [];
  if (log.header === null) return [...bringers(rows, ref), ...sharers(rows, ref, '', scope)];
  const event = bodies.event(ref.owner, ref.version, ref.index);
  const first = event && messageOf(rows, ref.owner, event);
  if (!first) return [];
  const promptId = fieldOf(event, 'promptId');
  return promptId !== undefined ? [first, ...sharers(rows, ref, promptId, scope)] : [first];
}

function messageOf(rows: RowReader, owner: ConversationId, event: ChangeEvent): PlacedMessage | undefined {
  const head = rows.head(owner);
  const messageId = fieldOf(event, 'messageId');
  return head && messageId !== undefined ? findMessage({ rows, head }, messageId) : undefined;
}

/** In an erased conversation, the rows that a fork still sees tell which messages show the record. */
function bringers(rows: RowReader, ref: RecordRef): readonly PlacedMessage[] {
  return scanPrefix(rows, ref.owner, TABLES.messages)
    .map((row) => placed(ref.owner, row.key, row.value))
    .filter((message) => isSame(message.row.ref, ref) && !isSharer(message));
}

/** The messages of the scope that show an earlier message's prompt; of any prompt if none is named. */
function sharers(rows: RowReader, ref: RecordRef, promptId: string, scope: SearchScope): readonly PlacedMessage[] {
  const near = scope.kind === 'namespace' ? family(rows, ref.owner) : lineage(rows, scope.tree);
  const prefix = promptId === '' ? TABLES.promptUses : KEYS.promptUsesOf(promptId);
  return [...near]
    .flatMap((conversation) =>
      scanPrefix(rows, conversation, prefix).flatMap((use) => messageOfUse(rows, conversation, use)),
    )
    .filter((message) => isSame(message.row.ref, ref));
}

function messageOfUse(rows: RowReader, conversation: ConversationId, use: Row): readonly PlacedMessage[] {
  const sequence = numbersIn(afterSeparator(use.key), 0)[0] as number;
  const [branch, position] = use.value as readonly [number, number];
  const key = KEYS.message(branch, position, sequence);
  const value = rows.get(conversation, key);
  return value ? [placed(conversation, key, value)] : [];
}

/** True if another message brought the words. */
function isSharer(message: PlacedMessage): boolean {
  return message.row.ref.version !== message.row.stamp.version || message.row.ref.owner !== message.owner;
}

function isSame(left: RecordRef, right: RecordRef): boolean {
  return left.owner === right.owner && left.version === right.version && left.index === right.index;
}

/** A conversation and those that it inherits from. */
function lineage(rows: RowReader, tree: Tree): ReadonlySet<ConversationId> {
  const owners = new Set<ConversationId>();
  for (let next: Head | undefined = tree.head; next;) {
    owners.add(next.conversationId);
    next = next.source === null ? undefined : rows.head(next.source);
  }
  return owners;
}
