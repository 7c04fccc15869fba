import type { HeadQuery, Row, RowRange, RowReader, RowValue } from '../../core/backend.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import { numberKey, prefixEnd, TABLES } from '../../core/keys.ts';
import type { LogRecord } from '../../core/log.ts';
import { isShelf } from '../../core/shelf.ts';
import { Miss } from './ask.ts';
import type { Ask } from './ask.ts';
import { KnownRows } from './known-rows.ts';
import { isSummed } from './sums.ts';

/** Tables whose keys begin with a branch's number. */
const BY_BRANCH = [TABLES.branches, TABLES.turns, TABLES.turnStates, TABLES.messages, TABLES.late, TABLES.entries];

/** A head with what only this backend keeps beside it. */
export interface StoredHead {
  /** Stands for the conversation in the other tables. */
  readonly c: string;
  readonly rank: number;
  readonly places: Places;
  /** The letters of the tables of which rows are packed. */
  readonly packs: string;
  readonly head: Head;
}

/** A log record, `null` where there is none, or why it cannot be had: that is told where it is read. */
type KnownLog = LogRecord | TurnkeepError<'corrupt'> | null;

/** Branch and position of the active leaf and of busy turns, where they are known. */
export type Places = ReadonlyMap<string, readonly [branch: number, position: number]>;

/**
 * What was loaded of one moment of a namespace, read synchronously. What was not loaded is a {@link Miss}, which is kept
 * too: whatever a reading makes of it, its answer does not count.
 */
export class Snapshot implements RowReader {
  readonly #heads = new Map<ConversationId, StoredHead | null>();
  readonly #rows = new Map<ConversationId, KnownRows>();
  readonly #logs = new Map<ConversationId, Map<number, KnownLog>>();
  readonly #lists = new Map<string, readonly Head[]>();
  #missed: Miss | undefined;

  /** The first thing that was missing since the last call. */
  takeMiss(): Miss | undefined {
    const missed = this.#missed;
    this.#missed = undefined;
    return missed;
  }

  head(conversation: ConversationId): Head | undefined {
    const stored = this.#heads.get(conversation);
    if (stored === undefined) throw this.#miss({ kind: 'head', conversation });
    return stored?.head;
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    if (this.#hasNoRows(conversation)) return undefined;
    const value = this.#known(conversation).get(key);
    if (value === KnownRows.unknown) throw this.#miss({ kind: 'row', conversation, key });
    return value;
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    if (this.#hasNoRows(conversation)) return [];
    const rows = this.#known(conversation).scan(range);
    if (rows === KnownRows.unknown) throw this.#miss({ kind: 'range', conversation, range });
    return rows;
  }

  log(conversation: ConversationId, version: number): LogRecord | undefined {
    if (this.#heads.get(conversation) === null) return undefined;
    const log = this.#logs.get(conversation)?.get(version);
    if (log === undefined) throw this.#miss({ kind: 'log', conversation, version });
    if (log instanceof TurnkeepError) throw log;
    return log ?? undefined;
  }

  heads(query: HeadQuery): readonly Head[] {
    const found = this.#lists.get(JSON.stringify(query));
    if (!found) throw this.#miss({ kind: 'list', query });
    return found;
  }

  /** The head as it is stored; `null` where there is none, `undefined` where it was not loaded. */
  stored(conversation: ConversationId): StoredHead | null | undefined {
    return this.#heads.get(conversation);
  }

  /** A row that was loaded, without a miss where it was not. */
  peek(conversation: ConversationId, key: string): RowValue | undefined {
    const value = this.#rows.get(conversation)?.get(key);
    return value === KnownRows.unknown ? undefined : value;
  }

  /** True where a row was looked for and is not there. Rows of a shelf may be made by who does not hold its head alone. */
  isAbsent(conversation: ConversationId, key: string): boolean {
    if (isShelf(conversation)) return false;
    return this.#hasNoRows(conversation) || this.#known(conversation).get(key) === undefined;
  }

  /** What is known of a conversation's rows. */
  rowsOf(conversation: ConversationId): KnownRows {
    return this.#known(conversation);
  }

  /** True where the answer to `ask` is at hand. */
  has(ask: Ask): boolean {
    switch (ask.kind) {
      case 'head':
        return this.#heads.has(ask.conversation);
      case 'row':
        return this.#known(ask.conversation).get(ask.key) !== KnownRows.unknown;
      case 'range':
        return this.#known(ask.conversation).scan(ask.range) !== KnownRows.unknown;
      case 'log':
        return this.#logs.get(ask.conversation)?.has(ask.version) ?? false;
      case 'words':
      case 'nextTurn':
      case 'said':
      case 'place':
        return false;
      case 'list':
        break;
    }
    return this.#lists.has(JSON.stringify(ask.query));
  }

  /** `null`: there is no such conversation. Of branches beyond those that the head counts there are no rows. */
  putHead(conversation: ConversationId, stored: StoredHead | null): void {
    this.#heads.set(conversation, stored);
    if (!stored) return;
    for (const table of BY_BRANCH) {
      const range = { from: table + numberKey(stored.head.branches), to: prefixEnd(table) };
      this.#known(conversation).putRange(range, []);
    }
  }

  /** What was loaded of rows before their head was locked does not count any more. */
  forgetRows(conversation: ConversationId): void {
    this.#rows.delete(conversation);
  }

  putRow(conversation: ConversationId, key: string, value: RowValue | undefined): void {
    this.#known(conversation).put(key, value);
  }

  putRange(conversation: ConversationId, range: RowRange, rows: readonly Row[]): void {
    this.#known(conversation).putRange(range, rows);
  }

  /** `null`: there is no such record. */
  putLog(conversation: ConversationId, version: number, log: KnownLog): void {
    let logs = this.#logs.get(conversation);
    if (!logs) this.#logs.set(conversation, (logs = new Map<number, KnownLog>()));
    logs.set(version, log);
  }

  putList(query: HeadQuery, heads: readonly Head[]): void {
    this.#lists.set(JSON.stringify(query), heads);
  }

  /** A shelf of sums may have rows before it has a head: what was added. */
  #hasNoRows(conversation: ConversationId): boolean {
    return this.#heads.get(conversation) === null && !isSummed(conversation);
  }

  #known(conversation: ConversationId): KnownRows {
    let known = this.#rows.get(conversation);
    if (!known) this.#rows.set(conversation, (known = new KnownRows()));
    return known;
  }

  #miss(ask: Ask): Miss {
    const miss = new Miss(ask);
    this.#missed ??= miss;
    return miss;
  }
}
