import type { RecordEdit, WriteSet } from '../core/backend.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId } from '../core/ids.ts';
import type { LogRecord } from '../core/log.ts';
import { SortedRows } from '../core/sorted-rows.ts';
import { addToTail, newConversation } from './conversation.ts';
import type { Conversation, PackedRow } from './conversation.ts';
import type { Database, Statement } from './driver.ts';
import { packLog } from './log-codec.ts';
import { RECORDS, TAIL_COMMITS } from './store-schema.ts';
import type { StoreReader } from './store-reader.ts';

/** Rows of more text than this go to their place at once: the tail is for small commits. */
const TAIL_LENGTH = 16_384;

/** Applies write sets over a connection, within a transaction of the caller; what its reader keeps moves along. */
export class StoreWriter {
  readonly #reader: StoreReader;
  readonly #statements: ReturnType<typeof prepare>;
  #nextPos = 0;

  constructor(database: Database, reader: StoreReader) {
    this.#reader = reader;
    this.#statements = prepare(database);
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
    for (const [id, packed] of rows) if (id !== own) this.#putAtPlace(this.#known(n, id), packed);
    for (const edit of writes.edits) this.#edit(n, edit);
    for (const head of writes.heads)
      if (head.conversationId !== own) this.#putHead(this.#known(n, head.conversationId), head);
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
    addToTail(conversation, log.version, pos, rows);
    const text = JSON.stringify(rows);
    if (isFoldDue(conversation.c, log.version) || text.length > TAIL_LENGTH) this.#fold(conversation, log.version);
    else this.#statements.putTail.run(slotOf(conversation.c, log.version), log.version, pos, text);
    this.#putHead(conversation, head);
  }

  #create(n: number, head: Head): Conversation {
    const { conversationId, createdAt, lastActivityAt, owner } = head;
    const c = this.#statements.addHead.get(n, conversationId, lastActivityAt, createdAt, owner)?.[0] as number; // RETURNING c
    const conversation = newConversation(c, n, head);
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
    const { c, folded } = conversation;
    const { version, lastActivityAt } = head;
    this.#statements.putHead.run(version, folded, lastActivityAt, JSON.stringify(head), c);
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
    this.#fold(conversation, conversation.head.version);
    this.#putRows(conversation.c, rows);
    this.#putHead(conversation, conversation.head);
  }

  /** Moves the rows of the tail to their place, up to `version`, the newest that the tail has. */
  #fold(conversation: Conversation, version: number): void {
    const { c, tail, positions } = conversation;
    if (conversation.folded === version) return;
    this.#putRows(c, tail.range({ from: '', to: '\u{10ffff}' }));
    for (const [at, pos] of positions) this.#statements.addPlace.run(c, at, pos);
    this.#statements.clearTail.run(c * TAIL_COMMITS, (c + 1) * TAIL_COMMITS);
    conversation.folded = version;
    conversation.tail = new SortedRows();
    positions.clear();
  }

  #putRows(c: number, rows: Iterable<PackedRow>): void {
    const { putRow, removeRow } = this.#statements;
    for (const [key, value] of rows) {
      if (value === null) removeRow.run(c, key);
      else putRow.run(c, key, JSON.stringify(value));
    }
  }

  /** The words of some records went: so do they here, and what the search index may hold of them is noted. */
  #edit(n: number, { conversation: id, version, log }: RecordEdit): void {
    const conversation = this.#known(n, id);
    const pos = this.#reader.position(conversation, version);
    if (pos === undefined)
      throw new TurnkeepError('corrupt', {
        place: `conversation ${id}, version ${version}`,
        reason: 'it has no place',
      });
    const { columns } = packLog(log);
    this.#statements.editLog.run(...columns, pos);
    log.records.forEach(({ body }, index) => {
      if (body !== null) return;
      this.#statements.removeBody.run(pos * RECORDS + index);
      this.#statements.addStale.run(pos * RECORDS + index);
    });
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

function slotOf(c: number, version: number): number {
  return c * TAIL_COMMITS + (version % TAIL_COMMITS);
}

function prepare(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  return {
    addNamespace: sql('INSERT INTO namespaces (name) VALUES (?)'),
    addHead: sql(
      `INSERT INTO heads (n, id, version, folded, activity, created, owner, uncollected, head)
       VALUES (?, ?, 0, 0, ?, ?, ?, 0, '') RETURNING c`,
    ),
    putHead: sql('UPDATE heads SET version = ?, folded = ?, activity = ?, head = ? WHERE c = ?'),
    markHead: sql('UPDATE heads SET created = ?, owner = ?, uncollected = ? WHERE c = ?'),
    lastPos: sql('SELECT max(pos) FROM log'),
    addLog: sql(
      `INSERT INTO log (pos, n, c, version, at, header, seals, words, redactions) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    editLog: sql('UPDATE log SET header = ?, seals = ?, words = ?, redactions = ? WHERE pos = ?'),
    putBody: sql('INSERT INTO bodies (id, body) VALUES (?, ?)'),
    removeBody: sql('DELETE FROM bodies WHERE id = ?'),
    addStale: sql('INSERT OR IGNORE INTO stale (record) VALUES (?)'),
    putTail: sql('INSERT OR REPLACE INTO tail (slot, version, pos, rows) VALUES (?, ?, ?, ?)'),
    clearTail: sql('DELETE FROM tail WHERE slot >= ? AND slot < ?'),
    addPlace: sql('INSERT INTO places (c, version, pos) VALUES (?, ?, ?)'),
    putRow: sql('INSERT INTO rows (c, k, v) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET v = excluded.v'),
    removeRow: sql('DELETE FROM rows WHERE c = ? AND k = ?'),
  };
}
