import type { ConversationFields } from '../change.ts';
import { cutsPair } from '../fold.ts';
import type { Head } from '../head.ts';
import type { ConversationId, TurnId } from '../ids.ts';
import type { Json } from '../json.ts';
import { KEYS } from '../keys.ts';
import type { MessageContent, Role } from '../message.ts';
import { partsText } from '../search-text.ts';
import type { Bodies } from './bodies.ts';

/** A conversation as a list shows it. */
export interface ConversationInfo {
  readonly conversationId: ConversationId;
  readonly title: string | null;
  readonly titleSource: 'auto' | 'user' | null;
  readonly owner: string | null;
  readonly participants: readonly string[];
  readonly labels: readonly string[];
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly busyScope: 'conversation' | 'path';
  readonly metadata: Json;
  readonly origin: Json;
  /** The conversation that it was forked from. */
  readonly source: ConversationId | null;
  /** The turn and the call that a sub-agent's conversation hangs under. */
  readonly parent: NonNullable<Head['parent']> | null;
  readonly createdAt: string;
  readonly lastActivityAt: string;
  readonly version: number;
  readonly graphRevision: number;
  readonly leaf: TurnId | null;
  readonly lastSequence: number;
  /** Own messages. */
  readonly messageCount: number;
  readonly turnCount: number;
  readonly lastMessage: { readonly role: Role; readonly preview: string } | null;
  readonly state: 'idle' | 'busy';
  readonly openOperation: string | null;
  /**
   * Messages of all branches above what the reader has read (`update({ readThrough })`), the reader's own included; 0 if no
   * reader was named.
   */
  readonly unread: number;
  readonly chain: string;
}

const PREVIEW_UNITS = 120;

export function conversationInfo(bodies: Bodies, head: Head, reader?: string): ConversationInfo {
  const fields = (head.fields ? (bodies.body(head.fields) ?? {}) : {}) as ConversationFields & {
    readonly origin?: Json;
  };
  return {
    conversationId: head.conversationId,
    title: fields.title ?? null,
    titleSource: fields.titleSource ?? null,
    owner: fields.owner ?? null,
    participants: fields.participants ?? [],
    labels: fields.labels ?? [],
    pinned: head.pinned,
    archived: head.archived,
    busyScope: head.busyByPath ? 'path' : 'conversation',
    metadata: fields.metadata ?? null,
    origin: fields.origin ?? null,
    source: head.source,
    parent: head.parent ?? null,
    createdAt: new Date(head.createdAt).toISOString(),
    lastActivityAt: new Date(head.lastActivityAt).toISOString(),
    version: head.version,
    graphRevision: head.graphRevision,
    leaf: head.leaf,
    lastSequence: head.lastSequence,
    messageCount: head.messages,
    turnCount: head.turns,
    lastMessage: lastMessage(bodies, head),
    state: head.busy.length > 0 ? 'busy' : 'idle',
    openOperation: head.openOperation,
    unread: reader === undefined ? 0 : head.lastSequence - readThrough(bodies, head, reader),
    chain: head.chain,
  };
}

function readThrough(bodies: Bodies, head: Head, reader: string): number {
  const row = bodies.rows.get(head.conversationId, KEYS.reader(bodies.sha256(reader)));
  return (row?.[0] as number | undefined) ?? 0;
}

function lastMessage(bodies: Bodies, head: Head): ConversationInfo['lastMessage'] {
  if (!head.lastMessage) return null;
  const body = bodies.body(head.lastMessage.ref) as MessageContent | undefined;
  return { role: head.lastMessage.role, preview: body ? preview(body) : '' };
}

/** The first words of a message, never half a surrogate pair. */
export function preview(content: Pick<MessageContent, 'parts'>): string {
  const line = partsText(content.parts).replace(/\s+/g, ' ').trim();
  if (line.length <= PREVIEW_UNITS) return line;
  const end = cutsPair(line, PREVIEW_UNITS) ? PREVIEW_UNITS - 1 : PREVIEW_UNITS;
  return `${line.slice(0, end)}…`;
}
