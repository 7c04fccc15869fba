import type { HeadQuery, Row, RowRange, RowReader, RowValue } from '../../core/backend.ts';
import { BoundedMap } from '../../core/bounded-map.ts';
import type { Head } from '../../core/head.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { ConversationId } from '../../core/ids.ts';
import { putsIn } from '../../core/overlay.ts';
import type { LogRecord } from '../../core/log.ts';
import { parseStored } from '../../core/stored-json.ts';
import { blockIn, CoolBlocks } from './cool-blocks.ts';
import { addToTail, newConversation } from './conversation.ts';
import type { Conversation, PackedRow } from './conversation.ts';
import type { Database, SqlRow, Statement } from '../driver/driver.ts';
import { headStatements, listHeads } from './head-list.ts';
import type { HeadStatements } from './head-list.ts';
import { parseHead } from './head-text.ts';
import { hasBodiesApart, unpackLog } from './log-codec.ts';
import { lengthen } from './header-phrases.ts';
import { mergeRows } from './merge-rows.ts';
import { RECORDS } from './store-schema.ts';

const CACHED_CONVERSATIONS = 1_024;
const CACHED_NAMESPACES = 1_024;
const SCAN_STATEMENTS = 64;
const AFTER = '\u0000';

interface ScanShape {
  readonly isReverse: boolean;
  /** Whether the range begins after a key, or with it. */
  readonly isAfter: boolean;
}

/**
 * Reads a store over one connection. What it keeps in memory of a conversation is looked up again once per snapshot:
 * `renew` begins one.
 */
export class StoreReader {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #heads: HeadStatements;
  readonly #database: Database;
  /** Commits that have cooled. */
  readonly blocks: CoolBlocks;
  readonly #scans = new BoundedMap<string, Statement>(SCAN_STATEMENTS);
  readonly #namespaces = new BoundedMap<string, number>(CACHED_NAMESPACES);
  readonly #conversations = new BoundedMap<string, Conversation>(CACHED_CONVERSATIONS);
  readonly #seenIn = new WeakMap<Conversation, number>();
  #snapshot = 0;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepare(database);
    this.#heads = headStatements(database);
    this.blocks = new CoolBlocks(database);
  }

  /** From here on the database may have changed. */
  renew(): void {
    this.#snapshot += 1;
    this.blocks.forget();
  }

  /** Forgets everything, since a transaction was rolled back. */
  forget(): void {
    this.blocks.forget();
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
    const conversation = known && isCurrent(known, row) ? known : this.#load({ n, id }, row, known);
    this.#remember(key, conversation);
    return conversation;
  }

  /** Keeps a conversation that was just made. */
  add(conversation: Conversation): void {
    this.#remember(`${conversation.n} ${conversation.head.conversationId}`, conversation);
  }

  /** The conversation of a number. */
  conversationAt(c: number): Conversation | undefined {
    const [n, id] = this.#statements.identity.get(c) ?? [];
    return n === undefined ? undefined : this.conversation(n as number, id as ConversationId); // an integer and a text
  }

  listHeads(n: number, query: HeadQuery): readonly Head[] {
    return listHeads(this.#heads, n, query);
  }

  get({ c, tail, kept }: Conversation, key: string): RowValue | undefined {
    const put = tail.get(key);
    if (put !== undefined) return put ?? undefined;
    return kept.value(key, () => {
      const text = this.#statements.row.get(c, key)?.[0];
      return text === undefined ? undefined : parseValue(text as string, key);
    });
  }

  scan(conversation: Conversation, range: RowRange): readonly Row[] {
    return conversation.kept.rows(range, (asked) => this.#scan(conversation, asked));
  }

  /** The rows of the tail over the folded ones. */
  #scan(conversation: Conversation, range: RowRange): readonly Row[] {
    const { limit } = range;
    const puts = conversation.tail.size === 0 ? [] : putsIn(conversation.tail, range);
    const folded = this.#look(conversation, range);
    if (puts.length === 0) return folded;
    const rows = mergeRows(puts, folded, limit === undefined || folded.length < limit, range);
    if (rows || limit === undefined) return rows ?? [];
    // A put seldom stands over a folded row; only then are more of those needed than rows were asked for.
    return mergeRows(puts, this.#look(conversation, { ...range, limit: limit + puts.length }), true, range) ?? [];
  }

  #look({ c }: Conversation, { from, to, reverse, limit }: RowRange): readonly Row[] {
    // What follows a key begins with it and a NUL, which a driver may not bind.
    const isAfter = from.endsWith(AFTER);
    const statement = this.#scanStatement({ isReverse: reverse === true, isAfter }, limit);
    return statement.all(c, isAfter ? from.slice(0, -1) : from, to).map(toRow);
  }

  /** With the limit in its text: as a parameter it costs 5 µs of planning at each call, which is three seeks. */
  #scanStatement({ isReverse, isAfter }: ScanShape, limit = -1): Statement {
    const name = `${isReverse ? 'down' : 'up'} ${isAfter ? 'after' : 'from'} ${limit}`;
    const known = this.#scans.get(name);
    if (known) return known;
    const statement = this.#database.prepare(
      `SELECT k, v FROM rows WHERE c = ? AND k ${isAfter ? '>' : '>='} ? AND k < ? ORDER BY k ${isReverse ? 'DESC' : ''} LIMIT ${BigInt(limit)}`,
    );
    this.#scans.set(name, statement);
    return statement;
  }

  /** The place of a version in the log. */
  position(conversation: Conversation, version: number): number | undefined {
    if (version > conversation.folded) return conversation.unfolded[version - conversation.folded - 1];
    return this.#statements.place.get(conversation.c, version)?.[0] as number | undefined; // an integer column
  }

  /** The record of a version, at its place; `corrupt` where another commit stands there. */
  logOf(conversation: Conversation, version: number, pos: number): LogRecord | undefined {
    const row = this.#statements.log.get(pos);
    if (row && (row[0] !== version || row[6] !== conversation.c)) {
      const place = `conversation ${conversation.head.conversationId}, version ${version}`;
      throw new TurnkeepError('corrupt', { place, reason: 'another commit stands at its place' });
    }
    return this.#unpacked(pos, row);
  }

  logAt(pos: number): LogRecord | undefined {
    return this.#unpacked(pos, this.#statements.log.get(pos));
  }

  #unpacked(pos: number, row: SqlRow | undefined): LogRecord | undefined {
    const block = row && blockIn(row[3]);
    if (block !== undefined) return this.blocks.log(block, row?.[0] as number); // an integer column
    return row && unpackLog(row, hasBodiesApart(row[4] as string) ? this.#bodies(pos) : NONE);
  }

  #bodies(pos: number): ReadonlyMap<number, string> {
    const first = pos * RECORDS;
    const rows = this.#statements.bodies.all(first, first + RECORDS);
    return new Map(rows.map((row) => [(row[0] as number) - first, row[1] as string]));
  }

  #load(
    { n, id }: { readonly n: number; readonly id: ConversationId },
    row: SqlRow,
    known: Conversation | undefined,
  ): Conversation {
    const [c, version, folded, folds, unfolded, text] = row as [number, number, number, number, string, string]; // its columns
    const head = parseHead(text, id);
    if (head.version !== version)
      throw new TurnkeepError('corrupt', { place: `table heads, ${id}`, reason: 'its version is not that of the row' });
    const isSameFold = known?.folds === folds && known.folded === folded;
    const conversation = isSameFold ? { ...known, head } : { ...newConversation(c, n, head, false), folded, folds };
    const positions = parseStored(unfolded, 'heads', c) as readonly number[]; // we wrote it
    for (const pos of positions.slice(conversation.unfolded.length)) addToTail(conversation, pos, this.#tailAt(pos));
    return conversation;
  }

  #tailAt(pos: number): readonly PackedRow[] {
    const rows = this.#statements.tail.get(pos)?.[0];
    if (rows === undefined)
      throw new TurnkeepError('corrupt', { place: `log position ${pos}`, reason: 'its rows are missing' });
    return parseStored(lengthen(rows as string), 'tail', pos) as readonly PackedRow[]; // we wrote it
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
  readonly #logs = new BoundedMap<string, LogRecord>(64);
  /** The conversation that was asked for last: most readings ask for one alone. */
  #last: Conversation | undefined;

  constructor(reader: StoreReader, n: number) {
    this.#reader = reader;
    this.#n = n;
  }

  #conversation(id: ConversationId): Conversation | undefined {
    if (this.#last?.head.conversationId === id) return this.#last;
    return (this.#last = this.#reader.conversation(this.#n, id));
  }

  head(id: ConversationId): Head | undefined {
    return this.#conversation(id)?.head;
  }

  get(id: ConversationId, key: string): RowValue | undefined {
    const conversation = this.#conversation(id);
    return conversation && this.#reader.get(conversation, key);
  }

  scan(id: ConversationId, range: RowRange): readonly Row[] {
    const conversation = this.#conversation(id);
    return conversation ? this.#reader.scan(conversation, range) : [];
  }

  log(id: ConversationId, version: number): LogRecord | undefined {
    const conversation = this.#conversation(id);
    if (conversation === undefined) return undefined;
    const name = `${conversation.c} ${version}`;
    const known = this.#logs.get(name);
    if (known) return known;
    const pos = this.#reader.position(conversation, version);
    const log = pos === undefined ? undefined : this.#reader.logOf(conversation, version, pos);
    if (log) this.#logs.set(name, log);
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
    head: sql('SELECT c, version, folded, folds, unfolded, head FROM heads WHERE n = ? AND id = ?'),
    headOf: sql('SELECT c, version, folded, folds, unfolded, head FROM heads WHERE c = ?'),
    identity: sql('SELECT n, id FROM heads WHERE c = ?'),
    tail: sql('SELECT rows FROM tail WHERE pos = ?'),
    row: sql('SELECT v FROM rows WHERE c = ? AND k = ?'),
    place: sql('SELECT pos FROM places WHERE c = ? AND version = ?'),
    log: sql('SELECT version, at, header, seals, words, redactions, c FROM log WHERE pos = ?'),
    bodies: sql('SELECT id, body FROM bodies WHERE id >= ? AND id < ?'),
  };
}

/** A head can change without its version, so the text is what counts; it is parsed only where it did. */
function isCurrent({ head, folds }: Conversation, row: SqlRow): boolean {
  return row[1] === head.version && row[3] === folds && row[5] === JSON.stringify(head);
}

export function toRow(row: SqlRow): Row {
  return { key: row[0] as string, value: parseValue(row[1] as string, row[0] as string) };
}

function parseValue(text: string, key: string): RowValue {
  return parseStored(text, 'rows', key) as RowValue; // we wrote it
}
