import { compareKeys } from '../../core/backend.ts';
import type { RowValue, WriteSet } from '../../core/backend.ts';
import { assert } from '../../core/errors.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import { KEYS } from '../../core/keys.ts';
import type { LogRecord } from '../../core/log.ts';
import { isShelf, SHELVES } from '../../core/shelf.ts';
import { drawNumber } from './conversation-number.ts';
import type { SqlRow, Statement } from '../driver/driver.ts';
import { packLog } from '../log-codec.ts';
import type { Schema } from '../schema/schema-name.ts';
import type { KnownRows } from './known-rows.ts';
import type { RecentConversations } from './recent-conversations.ts';
import { indexedWords } from '../search/search-words.ts';
import type { Places } from './snapshot.ts';
import { markBlocks } from '../sql/blocks.ts';
import { dropHeads } from '../sql/add-heads.ts';
import { editLogs } from '../sql/edit-logs.ts';
import type { LogToEdit } from '../sql/edit-logs.ts';
import { removePacked, removeRows } from '../sql/remove-rows.ts';
import { planAnew } from '../sql/transaction.ts';
import { addAdditions } from '../sql/additions.ts';
import type { Addition } from '../sql/additions.ts';
import type { IndexedCommit } from '../sql/search.ts';
import { refoldWords } from '../sql/search.ts';
import { writeCommits } from '../sql/write-commits.ts';
import type { LogToPut, RowToPut } from '../sql/write-commits.ts';
import { isSummed } from './sums.ts';

/** A conversation whose head this transaction holds. */
export interface Held {
  readonly c: string;
  /** True where it has no commit yet. */
  readonly isNew: boolean;
  readonly rank: number;
  readonly packs: string;
  places: Places;
  /** Which commit of this transaction is its last, from 1. */
  step?: number | undefined;
}

/** What a batch looks up of the rows that its commits were decided on. */
interface RowsBefore {
  /** A row, where it is known. */
  peek(conversation: ConversationId, key: string): RowValue | undefined;
  /** True where it is known that there is no such row, and only who holds the conversation's head could make one. */
  isAbsent(conversation: ConversationId, key: string): boolean;
}

/** The write sets of a group, as few statements: one for each kind of row, however many commits there are. */
export class WriteBatch {
  readonly #held: ReadonlyMap<ConversationId, Held>;
  readonly #rowsBefore: RowsBefore;
  readonly #heads = new Map<ConversationId, Head>();
  /** The heads as they are written. */
  readonly #texts = new Map<ConversationId, string>();
  readonly #rows = new Map<ConversationId, Map<string, RowValue | null>>();
  /** The version of each conversation's last commit. */
  readonly #versions = new Map<ConversationId, number>();
  readonly #logs = new Map<string, LogToPut>();
  readonly #edits = new Map<string, LogToEdit & IndexedCommit>();
  readonly #additions: Addition[] = [];
  /** The shelf that is added to, as it is where nothing was added before. */
  #shelf: { readonly head: Head; readonly c: string } | undefined;
  #steps = 0;
  /** The highest rank of what the commits follow. */
  #floor = 0;

  /** `rowsBefore` is what the commits were decided on. */
  constructor(held: ReadonlyMap<ConversationId, Held>, rowsBefore: RowsBefore) {
    this.#held = held;
    this.#rowsBefore = rowsBefore;
  }

  get isEmpty(): boolean {
    return this.#heads.size + this.#rows.size + this.#edits.size === 0;
  }

  /** The conversations that a write set touches and whose head is not held. */
  notHeld(writes: WriteSet): readonly ConversationId[] {
    return [...touchedBy(writes)].filter((id) => !this.#held.has(id));
  }

  /** True where a commit of this batch writes the conversation's head. */
  hasHead(conversation: ConversationId): boolean {
    return this.#heads.has(conversation);
  }

  add(writes: WriteSet): void {
    // The server's clock may go back: what a commit follows has a lower rank whatever it says.
    this.#floor = Math.max(this.#floor, ...[...touchedBy(writes)].map((id) => this.#heldOf(id).rank));
    if (writes.log) this.#addLog(writes.log.conversation, writes.log.record);
    for (const { conversation, key, value } of writes.rows) {
      if (isAddition(writes, conversation)) this.#addAddition(writes.log, key, value);
      else this.#addRow(conversation, key, value);
    }
    for (const edit of writes.edits) this.#addEdit(edit);
    for (const head of writes.heads) {
      if (isAddition(writes, head.conversationId)) this.#shelf ??= { head, c: drawNumber() };
      else this.#addHead(head, writes);
    }
  }

  /** The first one answers `id, rank` of each head that was written. */
  statements(schema: Schema, namespace: string): readonly Statement[] {
    if (this.isEmpty && this.#unused().length === 0) return [];
    const { added, put, removed } = this.#sortedRows();
    const heads = [...this.#heads.values()].map((head) => this.#headToPut(head));
    const edits = [...this.#edits.values()];
    const unused = this.#unused();
    return [
      writeCommits(schema, namespace, { heads, added, put, logs: [...this.#logs.values()], floor: this.#floor }),
      this.#shelf !== undefined && addAdditions(schema, namespace, this.#shelf, this.#additions),
      ...removed.flatMap(({ c, keys, packs }) => [
        removeRows(schema, namespace, c, keys),
        packs !== '' && removePacked(schema, namespace, c, keys),
      ]),
      edits.length > 0 && planAnew(),
      edits.length > 0 && markBlocks(schema, namespace, edits),
      edits.length > 0 && editLogs(schema, namespace, edits),
      edits.length > 0 && refoldWords(schema, namespace, edits),
      unused.length > 0 && dropHeads(schema, namespace, unused),
    ].filter((statement) => statement !== false);
  }

  /**
   * Keeps what the batch left, once it is durable. `ranks` is what its first statement answered; `known` is what was known
   * of a conversation's rows before.
   */
  keep(
    recent: RecentConversations,
    namespace: string,
    ranks: readonly SqlRow[],
    known: (conversation: ConversationId) => KnownRows | undefined,
  ): void {
    for (const [id, rank] of ranks as readonly (readonly [ConversationId, string | number])[]) {
      const head = this.#heads.get(id);
      const { c, packs, places, step } = this.#heldOf(id);
      // Rows of a head without a commit change without it: it vouches for none.
      const rows = step === undefined ? undefined : known(id);
      if (!head || !rows) continue;
      const stored = { c, rank: Number(rank), places, packs, head };
      recent.put(namespace, { stored, text: this.#texts.get(id) ?? '' }, rows, this.#rows.get(id));
    }
  }

  #addLog(conversation: ConversationId, log: LogRecord): void {
    const held = this.#heldOf(conversation);
    const { version } = log;
    held.step = ++this.#steps;
    this.#versions.set(conversation, version);
    this.#logs.set(`${held.c} ${version}`, { c: held.c, step: held.step, log: packLog(log) });
  }

  #addRow(conversation: ConversationId, key: string, value: RowValue | null): void {
    let rows = this.#rows.get(conversation);
    if (!rows) this.#rows.set(conversation, (rows = new Map<string, RowValue | null>()));
    rows.set(key, value);
  }

  #addAddition(log: WriteSet['log'], key: string, value: RowValue | null): void {
    assert(log, 'a commit that adds has its record');
    const { c } = this.#heldOf(log.conversation);
    this.#additions.push({ key, c, version: log.record.version, value: JSON.stringify(value) });
  }

  /** The log record may be of a commit of this very group. */
  #addEdit({ conversation, version, log }: WriteSet['edits'][number]): void {
    const { c } = this.#heldOf(conversation);
    const key = `${c} ${version}`;
    const own = this.#logs.get(key);
    if (own) this.#logs.set(key, { ...own, log: packLog(log) });
    else this.#edits.set(key, { c, version, log: packLog(log), words: indexedWords(log) });
  }

  #addHead(head: Head, writes: WriteSet): void {
    const held = this.#heldOf(head.conversationId);
    const places = new Map<string, readonly [number, number]>();
    for (const turnId of head.leaf === null ? head.busy : [head.leaf, ...head.busy]) {
      const place = held.places.get(turnId) ?? this.#placeOf(head.conversationId, turnId, writes);
      if (place) places.set(turnId, place as readonly [number, number]);
    }
    held.places = places;
    this.#heads.set(head.conversationId, head);
  }

  #placeOf(conversation: ConversationId, turnId: string, writes: WriteSet): RowValue | undefined {
    const key = KEYS.turnId(turnId);
    const written = writes.rows.find((row) => row.key === key && row.conversation === conversation)?.value;
    return written ?? this.#rows.get(conversation)?.get(key) ?? this.#rowsBefore.peek(conversation, key);
  }

  #headToPut(head: Head) {
    const { c, step = 0, places } = this.#heldOf(head.conversationId);
    const text = JSON.stringify(head);
    this.#texts.set(head.conversationId, text);
    return { c, head, text, step, places: JSON.stringify([...places]) };
  }

  /** Those of a shelf by key: transactions that share one meet its rows in one order. */
  #sortedRows() {
    const added: RowToPut[] = [];
    const put: RowToPut[] = [];
    const removed: { c: string; keys: readonly string[]; packs: string }[] = [];
    for (const [conversation, rows] of this.#rows) {
      const { c, packs } = this.#heldOf(conversation);
      const keys = [...rows].flatMap(([key, value]) => (value === null ? [key] : []));
      if (keys.length > 0) removed.push({ c, keys, packs });
      const version = this.#versions.get(conversation) ?? 0;
      for (const [key, value] of isShelf(conversation) ? byKey(rows) : rows) {
        if (value !== null) {
          const row = { c, key, value: JSON.stringify(value), version };
          (this.#rowsBefore.isAbsent(conversation, key) ? added : put).push(row);
        }
      }
    }
    return { added, put, removed };
  }

  /** Conversations that were made room for and got no commit. */
  #unused(): readonly ConversationId[] {
    return [...this.#held].flatMap(([id, { isNew }]) => (isNew && !this.#heads.has(id) ? [id] : []));
  }

  #heldOf(conversation: ConversationId): Held {
    const held = this.#held.get(conversation);
    assert(held, 'a conversation that is written is held');
    return held;
  }
}

function byKey(rows: ReadonlyMap<string, RowValue | null>): readonly (readonly [string, RowValue | null])[] {
  return [...rows].sort(([left], [right]) => compareKeys(left, right));
}

function touchedBy(writes: WriteSet): ReadonlySet<ConversationId> {
  const touched = new Set<ConversationId>();
  for (const { conversationId } of writes.heads) touched.add(conversationId);
  for (const { conversation } of writes.rows) touched.add(conversation);
  for (const { conversation } of writes.edits) touched.add(conversation);
  if (writes.log !== undefined) touched.delete(SHELVES.usage);
  return touched;
}

/** What a commit writes to sums is what it adds to them; who folds them writes the rows themselves, without a record. */
function isAddition(writes: WriteSet, conversation: ConversationId): boolean {
  return writes.log !== undefined && isSummed(conversation);
}
