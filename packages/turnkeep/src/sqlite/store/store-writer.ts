import type { RecordEdit, WriteSet } from '../../core/backend.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { LogRecord } from '../../core/log.ts';
import { isShelf } from '../../core/shelf.ts';
import { SortedRows } from '../../core/sorted-rows.ts';
import { BlockEditor, blockIn } from './cool-blocks.ts';
import { addToTail, newConversation } from './conversation.ts';
import type { Conversation, PackedRow } from './conversation.ts';
import type { Database, SqlValue, Statement } from '../driver/driver.ts';
import { commitIdIn, shorten } from './header-phrases.ts';
import { packLog } from './log-codec.ts';
import { RECORDS, TAIL_COMMITS, TAIL_LENGTH } from './store-schema.ts';
import type { StoreReader } from './store-reader.ts';

/** Rows of more text than this go to their places at once: the tail is for small commits. */
const TAIL_TEXT = 16_384;
/** Rows that one statement puts: a call for each would cost as much again as the row. */
const BATCH_ROWS = 16;
const PLACE = '(?, ?, ?)';
const ROW_VALUES = 3;
const BATCH_VALUES = BATCH_ROWS * ROW_VALUES;
/** Commits of the tail that are swept at a time. */
const SWEEP = 256;

/** Applies write sets over a connection, within a transaction of the caller; what its reader keeps moves along. */
export class StoreWriter {
  readonly #reader: StoreReader;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #blocks: BlockEditor;
  #nextPos = 0;
  /** The tail holds nothing from before; it is looked up only where that is long ago. */
  #tailFrom = 0;

  constructor(database: Database, reader: StoreReader) {
    this.#reader = reader;
    this.#statements = prepare(database);
    this.#blocks = new BlockEditor(database, reader.blocks);
  }

  /** From here on another connection may have written. */
  renew(): void {
    this.#nextPos = 0;
  }

  /** The number of a namespace, given to it now if it has none. */
  namespace(name: string): number {
    const known = this.#reader.namespace(name);
    if (known !== undefined) return known;
    this.#statements.addNamespace.run(name);
    return this.#reader.namespace(name) as number; // it is there now
  }

  apply(n: number, writes: WriteSet): void {
    const own = writes.log?.conversation;
    const rows = rowsBy(writes);
    if (writes.log) {
      this.#append(
        n,
        writes.log.conversation,
        writes.log.record,
        writes.heads,
        rows.get(writes.log.conversation) ?? [],
      );
    }
    this.#openShelves(n, writes.heads);
    for (const [id, packed] of rows) if (id !== own) this.#putAtPlace(this.#known(n, id), packed);
    this.#edit(n, writes.edits);
    for (const head of writes.heads)
      if (head.conversationId !== own) this.#putHead(this.#known(n, head.conversationId), head);
  }

  /** A shelf begins with a head that no commit of its own brings. */
  #openShelves(n: number, heads: readonly Head[]): void {
    for (const head of heads)
      if (isShelf(head.conversationId) && !this.#reader.conversation(n, head.conversationId)) this.#create(n, head);
  }

  #known(n: number, id: ConversationId): Conversation {
    const conversation = this.#reader.conversation(n, id);
    if (!conversation) throw new TurnkeepError('corrupt', { place: `conversation ${id}`, reason: 'it has no head' });
    return conversation;
  }

  #append(n: number, id: ConversationId, log: LogRecord, heads: readonly Head[], rows: readonly PackedRow[]): void {
    const head = heads.find(({ conversationId }) => conversationId === id);
    if (!head) throw new TurnkeepError('corrupt', { place: `conversation ${id}`, reason: 'its commit brings no head' });
    const known = this.#reader.conversation(n, id);
    const conversation = known ?? this.#create(n, head);
    const pos = this.#appendLog(conversation, log);
    addToTail(conversation, pos, rows);
    const text = JSON.stringify(rows);
    if (isFoldDue(conversation.c, log.version) || text.length > TAIL_TEXT) this.#fold(conversation);
    else this.#statements.addTail.run(pos, conversation.c, log.version, shorten(text, commitIdIn(log.header ?? '')));
    this.#putHead(conversation, head);
  }

  #create(n: number, head: Head): Conversation {
    const { conversationId, createdAt, lastActivityAt, owner } = head;
    const c = this.#statements.addHead.get(n, conversationId, lastActivityAt, createdAt, owner)?.[0] as number; // RETURNING c
    const conversation = newConversation(c, n, head, true);
    this.#reader.add(conversation);
    return conversation;
  }

  #appendLog({ c, n }: Conversation, log: LogRecord): number {
    const pos = this.#takePos();
    const { columns, apart } = packLog(log);
    this.#statements.addLog.run(pos, n, c, log.version, log.at, ...columns);
    for (const { index, body } of apart) this.#statements.putBody.run(pos * RECORDS + index, body);
    return pos;
  }

  /** One writer at a time, and no log row is ever removed: the next position is one above the last. */
  #takePos(): number {
    if (this.#nextPos === 0) this.#nextPos = ((this.#statements.lastPos.get()?.[0] as number | null) ?? 0) + 1;
    return this.#nextPos++;
  }

  #putHead(conversation: Conversation, head: Head): void {
    if (head.collected && !conversation.head.collected) this.#clearTail(conversation);
    const { c, folded, folds } = conversation;
    const { version, lastActivityAt } = head;
    const unfolded = JSON.stringify(conversation.unfolded);
    this.#statements.putHead.run(version, folded, folds, unfolded, lastActivityAt, JSON.stringify(head), c);
    this.#markHead(conversation, head);
    conversation.head = head;
  }

  /** Columns that hardly ever change are written only then: each stands in an index. */
  #markHead({ c, head: before }: Conversation, head: Head): void {
    const uncollected = isUncollected(head);
    if (before.owner === head.owner && isUncollected(before) === uncollected && before.createdAt === head.createdAt)
      return;
    this.#statements.markHead.run(head.createdAt, head.owner, uncollected, c);
  }

  /** Rows that come without a commit of their conversation have no place in its tail. */
  #putAtPlace(conversation: Conversation, rows: readonly PackedRow[]): void {
    this.#fold(conversation);
    this.#putRows(conversation, rows);
    for (const [key, value] of rows) conversation.kept.put(key, value);
    this.#putHead(conversation, conversation.head);
  }

  /** Moves a conversation's rows from the tail to their places; its head is to be written afterwards. */
  #fold(conversation: Conversation): void {
    const { c, tail, unfolded } = conversation;
    if (unfolded.length === 0) return;
    this.#putRows(conversation, tail.range({ from: '', to: '\u{10ffff}' }));
    for (const pos of unfolded) this.#statements.addPlace.run(c, ++conversation.folded, pos);
    conversation.tail = new SortedRows();
    unfolded.length = 0;
  }

  /** Of what was erased the tail keeps nothing until it is swept. */
  #clearTail(conversation: Conversation): void {
    this.#fold(conversation);
    this.#statements.clearTail.run(conversation.c);
  }

  /** Takes the oldest commits out of a tail that has grown too long; their rows go to their places where they have not. */
  sweep(): void {
    if (this.#nextPos - this.#tailFrom < TAIL_LENGTH) return;
    const [oldest] = this.#statements.oldestTail.get() ?? [];
    const end = (oldest as number | null) ?? this.#nextPos;
    this.#tailFrom = end;
    if (this.#nextPos - end < TAIL_LENGTH) return;
    for (const [c, version] of this.#statements.tailBelow.all(end + SWEEP) as readonly (readonly number[])[]) {
      const conversation = this.#reader.conversationAt(c as number);
      if (!conversation || conversation.folded >= (version as number)) continue;
      this.#fold(conversation);
      this.#putHead(conversation, conversation.head);
    }
    this.#statements.removeTail.run(end + SWEEP);
  }

  #putRows(conversation: Conversation, rows: Iterable<PackedRow>): void {
    const { c } = conversation;
    conversation.folds += 1;
    let batch: SqlValue[] = [];
    for (const [key, value] of rows) {
      if (value === null) {
        this.#statements.removeRow.run(c, key);
        continue;
      }
      batch.push(c, key, JSON.stringify(value));
      if (batch.length < BATCH_VALUES) continue;
      this.#statements.putBatch.run(...batch);
      batch = [];
    }
    for (let at = 0; at < batch.length; at += ROW_VALUES)
      this.#statements.putRow.run(...batch.slice(at, at + ROW_VALUES));
  }

  /** The words of some records went: so do they here, and what the search index may hold of them is noted. */
  #edit(n: number, edits: readonly RecordEdit[]): void {
    const cooled = new Map<number, LogRecord[]>();
    for (const { conversation: id, version, log } of edits) {
      const pos = this.#placeOf(this.#known(n, id), version);
      const block = blockIn(this.#statements.seals.get(pos)?.[0]);
      if (block === undefined) this.#editHot(pos, log);
      else cooled.set(block, [...(cooled.get(block) ?? []), log]);
      for (const [index, { body }] of log.records.entries())
        if (body === null) this.#statements.addStale.run(pos * RECORDS + index);
    }
    for (const [block, logs] of cooled) this.#blocks.rewrite(block, logs);
  }

  #placeOf(conversation: Conversation, version: number): number {
    const pos = this.#reader.position(conversation, version);
    if (pos !== undefined) return pos;
    const place = `conversation ${conversation.head.conversationId}, version ${version}`;
    throw new TurnkeepError('corrupt', { place, reason: 'it has no place' });
  }

  #editHot(pos: number, log: LogRecord): void {
    const { columns } = packLog(log);
    this.#statements.editLog.run(...columns, pos);
    for (const [index, { body }] of log.records.entries())
      if (body === null) this.#statements.removeBody.run(pos * RECORDS + index);
  }
}

function rowsBy({ rows }: WriteSet): ReadonlyMap<ConversationId, readonly PackedRow[]> {
  const byConversation = new Map<ConversationId, PackedRow[]>();
  for (const { conversation, key, value } of rows) {
    const packed = byConversation.get(conversation);
    if (packed) packed.push([key, value]);
    else byConversation.set(conversation, [[key, value]]);
  }
  return byConversation;
}

function isUncollected(head: Head): 0 | 1 {
  return head.erasedAt !== null && !head.collected ? 1 : 0;
}

/** Conversations take turns, so that many at the same version do not fold in the same group. */
function isFoldDue(c: number, version: number): boolean {
  return (version + c) % TAIL_COMMITS === 0;
}

function prepare(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  return {
    addNamespace: sql('INSERT INTO namespaces (name) VALUES (?)'),
    addHead: sql(
      `INSERT INTO heads (n, id, version, folded, folds, unfolded, activity, created, owner, uncollected, head)
       VALUES (?, ?, 0, 0, 0, '[]', ?, ?, ?, 0, '') RETURNING c`,
    ),
    putHead: sql(
      'UPDATE heads SET version = ?, folded = ?, folds = ?, unfolded = ?, activity = ?, head = ? WHERE c = ?',
    ),
    markHead: sql('UPDATE heads SET created = ?, owner = ?, uncollected = ? WHERE c = ?'),
    lastPos: sql('SELECT max(pos) FROM log'),
    addLog: sql(
      `INSERT INTO log (pos, n, c, version, at, header, seals, words, redactions) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    seals: sql('SELECT seals FROM log WHERE pos = ?'),
    editLog: sql('UPDATE log SET header = ?, seals = ?, words = ?, redactions = ? WHERE pos = ?'),
    putBody: sql('INSERT INTO bodies (id, body) VALUES (?, ?)'),
    removeBody: sql('DELETE FROM bodies WHERE id = ?'),
    addStale: sql('INSERT OR IGNORE INTO stale (record) VALUES (?)'),
    addTail: sql('INSERT INTO tail (pos, c, version, rows) VALUES (?, ?, ?, ?)'),
    oldestTail: sql('SELECT min(pos) FROM tail'),
    tailBelow: sql('SELECT c, version FROM tail WHERE pos < ? ORDER BY pos DESC'),
    clearTail: sql('DELETE FROM tail WHERE c = ?'),
    removeTail: sql('DELETE FROM tail WHERE pos < ?'),
    addPlace: sql('INSERT INTO places (c, version, pos) VALUES (?, ?, ?)'),
    putRow: sql(`INSERT INTO rows (c, k, v) VALUES ${PLACE} ON CONFLICT DO UPDATE SET v = excluded.v`),
    putBatch: sql(
      `INSERT INTO rows (c, k, v) VALUES ${Array(BATCH_ROWS).fill(PLACE).join()} ON CONFLICT DO UPDATE SET v = excluded.v`,
    ),
    removeRow: sql('DELETE FROM rows WHERE c = ? AND k = ?'),
  };
}
