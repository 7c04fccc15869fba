import type { Commit } from '../core/change.ts';
import { z } from 'zod';
import type { HeadQuery } from '../core/backend.ts';
import type { Head } from '../core/head.ts';
import { sameJson } from '../core/encoding.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { assertId } from '../core/ids.ts';
import type { ConversationId, InterruptId, NamespaceId } from '../core/ids.ts';
import { Bodies } from '../core/read/bodies.ts';
import { conversationInfo } from '../core/read/listing.ts';
import type { ConversationInfo } from '../core/read/listing.ts';
import { parseJson } from '../core/parse-json.ts';
import type { Receipt } from '../core/receipt.ts';
import { id } from '../core/shapes.ts';
import { isShelf } from '../core/shelf.ts';
import type { Access } from './access.ts';
import { recoverNamespace } from './agent/recover.ts';
import type { RecoverOptions, RecoveredTurn } from './agent/recover.ts';
import { Attachments } from './attachments/attachments.ts';
import { COLLECT, collectNamespace } from './upkeep/collect.ts';
import type { CollectOptions } from './upkeep/collect.ts';
import { Conversation } from './conversation.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { eraseSubject } from './upkeep/erase-subject.ts';
import type { EraseSubjectOptions, SubjectErasure } from './upkeep/erase-subject.ts';
import { answerInterrupt, openInterrupts } from './interrupts.ts';
import type { Answered, AnswerOptions, OpenInterrupt } from './interrupts.ts';
import { NamespaceMemories } from './memories.ts';
import { abortSignal, anything, assertChecked, assertPageLimit, flag, oneOf, text, withFields } from './given.ts';
import { searchNamespace } from './search.ts';
import type { SearchOptions, SearchPage } from './search.ts';
import { NamespaceUsage } from './usage.ts';
import { watchNamespace } from './watch.ts';
import type { NamespaceEvent, WatchOptions } from './watch.ts';
import type { Checks } from './given.ts';

export interface ListOptions {
  readonly owner?: string | undefined;
  readonly participant?: string | undefined;
  readonly label?: string | undefined;
  /** Absent: both. */
  readonly archived?: boolean | undefined;
  /** Fields that the metadata holds with equal values. */
  readonly metadata?: { readonly [field: string]: Json } | undefined;
  /** `activity` (the last one) when absent; newest first. */
  readonly order?: 'activity' | 'created' | undefined;
  /** Lists conversations of sub-agents too. */
  readonly includeSubAgents?: boolean | undefined;
  /** Whose unread messages are counted. */
  readonly reader?: string | undefined;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

export interface ConversationPage {
  readonly items: readonly ConversationInfo[];
  readonly next: string | null;
}

/** Where a list continues: after this time and conversation, in the order that the time belongs to. */
interface ListCursor {
  readonly order: 'activity' | 'created';
  readonly at: number;
  readonly conversationId: ConversationId;
}

const listCursor: z.ZodType<ListCursor> = z.strictObject({
  order: z.enum(['activity', 'created']),
  at: z.int(),
  conversationId: id,
});

// Limits and cursors are checked elsewhere, with their own errors.
const LIST: Checks<ListOptions> = {
  owner: text,
  participant: text,
  label: text,
  archived: flag,
  metadata: (value) => (typeof value === 'object' && value !== null ? undefined : 'expected an object'),
  order: oneOf('activity', 'created'),
  includeSubAgents: flag,
  reader: text,
  limit: anything,
  after: anything,
};
const SIGNAL: Checks<{ readonly signal?: AbortSignal | undefined }> = { signal: abortSignal };
const ANSWER: Checks<AnswerOptions> = {
  by: text,
  response: anything,
  conversationId: anything,
  idempotencyKey: text,
  signal: abortSignal,
};
const ERASURE: Checks<EraseSubjectOptions> = { idempotencyKey: text, reason: text, signal: abortSignal };

/** One tenant's conversations. Nothing is ever read or written across namespaces. */
export class Namespace {
  readonly id: NamespaceId;
  readonly usage: NamespaceUsage;
  readonly memories: NamespaceMemories;
  /** Files, by the digest of their bytes. */
  readonly attachments: Attachments;
  readonly #access: Access;

  constructor(access: Access, id: NamespaceId) {
    this.#access = access;
    this.id = id;
    this.usage = new NamespaceUsage(access, id);
    this.memories = new NamespaceMemories(access, id);
    this.attachments = new Attachments(access, id);
  }

  /** A handle; the conversation itself comes with its first commit. */
  conversation(id: string): Conversation {
    assertId(id, 'conversationId');
    return new Conversation(this.#access, this.id, id);
  }

  /**
   * Sends a whole commit of unknown origin; it is checked before anything is written. `namespace` may be absent; any other
   * than this one is refused.
   */
  async commit(
    commit: Commit | { readonly [field: string]: unknown },
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Receipt> {
    assertChecked(options, SIGNAL);
    const own = withFields(commit as { readonly [field: string]: unknown }, 'commit', {});
    const { namespace = this.id } = own;
    if (namespace !== this.id) {
      throw new TurnkeepError('invalid_value', { path: 'commit.namespace', reason: `this is ${this.id}` });
    }
    return this.#access.send({ ...own, namespace }, options.signal);
  }

  /** One page of conversations, newest first by the order asked for. Erased ones are not listed. */
  async page(options: ListOptions = {}): Promise<ConversationPage> {
    assertChecked(options, LIST);
    const { limit = 50, order = 'activity', owner, reader } = options;
    assertPageLimit(limit);
    const after = options.after === undefined ? undefined : decodeCursor(options.after, listCursor);
    if (after && after.order !== order) {
      throw new TurnkeepError('bad_cursor', { reason: `it is of a list by ${after.order}, not by ${order}` });
    }
    return this.#access.read(this.id, (rows) => {
      const bodies = new Bodies(rows, this.#access.surroundings.sha256);
      const items: ConversationInfo[] = [];
      const start = after && { at: after.at, conversationId: after.conversationId };
      let query: HeadQuery = { order, owner, after: start, limit: limit + 1 };
      for (;;) {
        const heads = rows.heads(query);
        for (const head of heads) {
          if (items.length === limit) return { items, next: encodeCursor({ order, ...query.after }) };
          query = { ...query, after: placeOf(head, order) };
          const info = isListed(head, options) ? conversationInfo(bodies, head, reader) : undefined;
          if (info && fits(info, options)) items.push(info);
        }
        if (heads.length <= limit) return { items, next: null };
      }
    });
  }

  /** Every conversation that matches, page by page. */
  async *conversations(options: Omit<ListOptions, 'after'> = {}): AsyncGenerator<ConversationInfo> {
    const own = withFields(options, 'options', {});
    let after: string | undefined;
    do {
      const { items, next }: ConversationPage = await this.page({ ...own, after });
      yield* items;
      after = next ?? undefined;
    } while (after !== undefined);
  }

  /**
   * Finds a literal text, whatever script, length or symbols it has, in messages (text, reasoning, refusals, tool names,
   * inputs, outputs) and titles; case is folded, nothing else. Exactly what a scan of one snapshot would find; a blank text
   * finds nothing.
   */
  async search(text: string, options: SearchOptions = {}): Promise<SearchPage> {
    return searchNamespace(this.#access, this.id, text, options);
  }

  /**
   * The questions that turns of this namespace wait on. The cost grows with the number of conversations (about 60 ms of
   * processor time for 10,000): their heads say what is open, so that no index is shared by all commits.
   */
  interrupts(options: { readonly signal?: AbortSignal | undefined } = {}): AsyncGenerator<OpenInterrupt> {
    assertChecked(options, SIGNAL);
    return openInterrupts(this.#access, this.id, options.signal);
  }

  /**
   * Ends the turns whose owner is no longer alive, with the reason `owner_lost`; waiting turns are left alone. A process of
   * this host that has ended is noticed at once, any other owner is watched for its time to live. Turns that were submitted
   * and never taken are reported, and ended only if `neverHeld` says so.
   */
  async recover(options: RecoverOptions = {}): Promise<readonly RecoveredTurn[]> {
    return recoverNamespace(this.#access, this.id, options);
  }

  /** Answers an interrupt; the first answer stands, and `first` says whether this was it. Its turn is then resumed. */
  async answer(interruptId: InterruptId, options: AnswerOptions): Promise<Answered> {
    assertChecked(options, ANSWER);
    const response = parseJson(options.response, 'options.response');
    return answerInterrupt(this.#access, this.id, interruptId, { ...options, response });
  }

  /** The commits of all conversations, then live: in order within each conversation, and a fork after its source. */
  watch(options: WatchOptions = {}): AsyncGenerator<NamespaceEvent> {
    return watchNamespace(this.#access, this.id, options);
  }

  /**
   * Erases a person: conversations that they own are erased, messages that they wrote elsewhere are redacted, wherever
   * those are shared. Called again with the same key, it continues where it stopped.
   */
  async eraseSubject(subjectId: string, options: EraseSubjectOptions): Promise<SubjectErasure> {
    assertId(subjectId, 'subjectId');
    assertChecked(options, ERASURE);
    return eraseSubject(this.#access, this.id, subjectId, options);
  }

  /**
   * Removes what erased conversations still hold, and attachments that no words refer to any more; returns how many rows
   * and attachments were removed.
   */
  async collect(options: CollectOptions = {}): Promise<number> {
    assertChecked(options, COLLECT);
    const { rows, attachments } = await collectNamespace(this.#access, this.id, options);
    return rows + attachments;
  }
}

function placeOf(head: Head, order: 'activity' | 'created'): NonNullable<HeadQuery['after']> {
  return { at: order === 'activity' ? head.lastActivityAt : head.createdAt, conversationId: head.conversationId };
}

function isListed(head: Head, options: ListOptions): boolean {
  const { archived = head.archived, includeSubAgents = false } = options;
  if (isShelf(head.conversationId) || head.erasedAt !== null) return false;
  return archived === head.archived && (includeSubAgents || head.parent === undefined);
}

function fits(info: ConversationInfo, options: ListOptions): boolean {
  const { participant, label } = options;
  if (participant !== undefined && !info.participants.includes(participant)) return false;
  if (label !== undefined && !info.labels.includes(label)) return false;
  return Object.entries(options.metadata ?? {}).every(([field, value]) => holds(info.metadata, field, value));
}

function holds(metadata: Json, field: string, value: Json): boolean {
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
  return isObject && Object.hasOwn(metadata, field) && sameJson((metadata as JsonObject)[field], value);
}
