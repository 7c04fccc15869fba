import type { HeadQuery, Row, RowRange, RowReader, RowValue } from '../core/backend.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId } from '../core/ids.ts';
import type { LogRecord } from '../core/log.ts';
import { SortedRows } from '../core/sorted-rows.ts';
import { addToTail, BoundedMap } from './conversation.ts';
import type { Conversation, PackedRow } from './conversation.ts';
import type { Database, SqlRow, Statement } from './driver.ts';
import { headStatements, listHeads } from './head-list.ts';
import type { HeadStatements } from './head-list.ts';
import { hasBodiesApart, unpackLog } from './log-codec.ts';
import { mergeRows } from './merge-rows.ts';
import { RECORDS, TAIL_COMMITS } from './store-schema.ts';

const CACHED_CONVERSATIONS = 1_024;
const CACHED_NAMESPACES = 1_024;

/**
 * Reads a store over one connection. What it keeps in memory of a conversation is looked up again once per snapshot:
 * `renew` begins one.
 */
export class StoreReader {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #heads: HeadStatements;
  readonly #namespaces = new BoundedMap<string, number>(CACHED_NAMESPACES);
  readonly #conversations = new BoundedMap<string, Conversation>(CACHED_CONVERSATIONS);
  readonly #seenIn = new WeakMap<Conversation, number>();
  #snapshot = 0;

  constructor(database: Database) {
    this.#statements = prepare(database);
    this.#heads = headStatements(database);
  }

  /** From here on the database may have changed. */
  renew(): void {
    this.#snapshot += 1;
  }

  /** Forgets everything, since a transaction was rolled back. */
  forget(): void {
    this.#conversations.clear();
    this.#namespaces.clear();
  }

  /** The number of a namespace. */
  namespace(name: string): number | undefined {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const n = this.#statements.namespace.get(name)?.[0] as number | undefined; // an integer column
    if (n !== undefined) this.#namespaces.set(name, n);
    return n;
  }

  /** The rows of a namespace; of one that holds nothing where there is no number. */
  rows(n: number | undefined): RowReader {
    return new NamespaceRows(this, n ?? -1);
  }

  conversation(n: number, id: ConversationId): Conversation | undefined {
    const key = `${n} ${id}`;
    const known = this.#conversations.get(key);
    if (known && this.#seenIn.get(known) === this.#snapshot) return known;
    const row = known ? this.#statements.headOf.get(known.c) : this.#statements.head.get(n, id);
    if (!row) return undefined;
    const conversation = known && isCurrent(known, row) ? known : this.#load(n, row, known);
    this.#remember(key, conversation);
    return conversation;
  }

  /** Keeps a conversation that was just made. */
  add(conversation: Conversation): void {
    this.#remember(`${conversation.n} ${conversation.head.conversationId}`, conversation);
  }

  /** The id of a conversation and its namespace, by its number. */
  identity(c: number): { readonly n: number; readonly id: ConversationId } | undefined {
    const row = this.#statements.identity.get(c);
    return row && { n: row[0] as number, id: row[1] as ConversationId }; // an integer and a text column
  }

  listHeads(n: number, query: HeadQuery): readonly Head[] {
    return listHeads(this.#heads, n, query);
  }

  get({ c, tail }: Conversation, key: string): RowValue | undefined {
    const put = tail.get(key);
    if (put !== undefined) return put ?? undefined;
    const value = this.#statements.row.get(c, key)?.[0];
    return value === undefined ? undefined : parseValue(value as string);
  }

  scan(conversation: Conversation, range: RowRange): readonly Row[] {
    const { scanUp, scanDown } = this.#statements;
    const statement = range.reverse ? scanDown : scanUp;
    const { c, tail } = conversation;
    const put = tail.size === 0 ? [] : [...tail.range(range)];
    if (put.length === 0) return statement.all(c, range.from, range.to, range.limit ?? -1).map(toRow);
    return mergeRows(put, statement.iterate(c, range.from, range.to, -1), range);
  }

  /** The place of a version in the log. */
  position(conversation: Conversation, version: number): number | undefined {
    if (version > conversation.folded) return conversation.positions.get(version);
    return this.#statements.place.get(conversation.c, version)?.[0] as number | undefined; // an integer column
  }

  logAt(pos: number): LogRecord | undefined {
    const row = this.#statements.log.get(pos);
    return row && unpackLog(row, hasBodiesApart(row[4] as string) ? this.#bodies(pos) : NONE);
  }

  #bodies(pos: number): ReadonlyMap<number, string> {
    const first = pos * RECORDS;
    const rows = this.#statements.bodies.all(first, first + RECORDS);
    return new Map(rows.map((row) => [(row[0] as number) - first, row[1] as string]));
  }

  #load(n: number, row: SqlRow, known: Conversation | undefined): Conversation {
    const [c, , folded, text] = row as [number, number, number, string];
    const head = JSON.parse(text) as Head; // we wrote it
    const after = known?.folded === folded ? known.head.version : folded;
    const conversation =
      known?.folded === folded
        ? { ...known, head }
        : { c, n, head, folded, tail: new SortedRows<RowValue | null>(), positions: new Map() };
    const slot = c * TAIL_COMMITS;
    for (const [version, pos, rows] of this.#statements.tail.all(slot, slot + TAIL_COMMITS, after)) {
      addToTail(conversation, version as number, pos as number, JSON.parse(rows as string) as readonly PackedRow[]);
    }
    return conversation;
  }

  #remember(key: string, conversation: Conversation): void {
    this.#conversations.set(key, conversation);
    this.#seenIn.set(conversation, this.#snapshot);
  }
}

const NONE: ReadonlyMap<number, string> = new Map();

/** The rows of one namespace, read over the connection of a reader; good for as long as its snapshot. */
class NamespaceRows implements RowReader {
  readonly #reader: StoreReader;
  readonly #n: number;
  readonly #logs = new BoundedMap<number, LogRecord>(64);

  constructor(reader: StoreReader, n: number) {
    this.#reader = reader;
    this.#n = n;
  }

  head(id: ConversationId): Head | undefined {
    return this.#reader.conversation(this.#n, id)?.head;
  }

  get(id: ConversationId, key: string): RowValue | undefined {
    const conversation = this.#reader.conversation(this.#n, id);
    return conversation && this.#reader.get(conversation, key);
  }

  scan(id: ConversationId, range: RowRange): readonly Row[] {
    const conversation = this.#reader.conversation(this.#n, id);
    return conversation ? this.#reader.scan(conversation, range) : [];
  }

  log(id: ConversationId, version: number): LogRecord | undefined {
    const conversation = this.#reader.conversation(this.#n, id);
    const pos = conversation && this.#reader.position(conversation, version);
    if (pos === undefined) return undefined;
    const known = this.#logs.get(pos);
    if (known) return known;
    const log = this.#reader.logAt(pos);
    if (log) this.#logs.set(pos, log);
    return log;
  }

  heads(query: HeadQuery): readonly Head[] {
    return this.#reader.listHeads(this.#n, query);
  }
}

function prepare(database: Database) {
  const sql = (text: string): Statement => database.prepare(text);
  return {
    namespace: sql('SELECT n FROM namespaces WHERE name = ?'),
    head: sql('SELECT c, version, folded, head FROM heads WHERE n = ? AND id = ?'),
    headOf: sql('SELECT c, version, folded, head FROM heads WHERE c = ?'),
    identity: sql('SELECT n, id FROM heads WHERE c = ?'),
    tail: sql('SELECT version, pos, rows FROM tail WHERE slot >= ? AND slot < ? AND version > ? ORDER BY version'),
    row: sql('SELECT v FROM rows WHERE c = ? AND k = ?'),
    scanUp: sql('SELECT k, v FROM rows WHERE c = ? AND k >= ? AND k < ? ORDER BY k LIMIT ?'),
    scanDown: sql('SELECT k, v FROM rows WHERE c = ? AND k >= ? AND k < ? ORDER BY k DESC LIMIT ?'),
    place: sql('SELECT pos FROM places WHERE c = ? AND version = ?'),
    log: sql('SELECT version, at, header, seals, words, redactions FROM log WHERE pos = ?'),
    bodies: sql('SELECT id, body FROM bodies WHERE id >= ? AND id < ?'),
  };
}

/** A head can change without its version, so the text is what counts; it is parsed only where it did. */
function isCurrent({ head, folded }: Conversation, row: SqlRow): boolean {
  return row[1] === head.version && row[2] === folded && row[3] === JSON.stringify(head);
}

export function toRow(row: SqlRow): Row {
  return { key: row[0] as string, value: parseValue(row[1] as string) };
}

function parseValue(text: string): RowValue {
  return JSON.parse(text) as RowValue; // we wrote it
}
