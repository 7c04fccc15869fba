import { compareKeys } from '../core/backend.ts';
import type {
  FeedEntry,
  HeadQuery,
  Row,
  RowRange,
  RowReader,
  RowValue,
  SearchCandidates,
  SearchQuery,
  WriteSet,
} from '../core/backend.ts';
import { collectErased } from '../core/collect.ts';
import { coolable } from '../core/cool.ts';
import { TurnkeepError } from '../core/errors.ts';
import type { Head } from '../core/head.ts';
import type { ConversationId } from '../core/ids.ts';
import type { LogRecord } from '../core/log.ts';
import { rowsOf, SortedRows } from '../core/sorted-rows.ts';

const EVERY: HeadQuery = { order: 'created', limit: Number.MAX_SAFE_INTEGER };

/** The rows of one namespace. */
export class MemoryNamespace implements RowReader {
  readonly #heads = new Map<ConversationId, Head>();
  readonly #rows = new Map<ConversationId, SortedRows>();
  readonly #logs = new Map<ConversationId, LogRecord[]>();
  readonly feed: FeedEntry[] = [];

  head(conversation: ConversationId): Head | undefined {
    return this.#heads.get(conversation);
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    return this.#rows.get(conversation)?.get(key);
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    const rows = this.#rows.get(conversation);
    return rows ? rowsOf(rows, range) : [];
  }

  log(conversation: ConversationId, version: number): LogRecord | undefined {
    return this.#logs.get(conversation)?.[version - 1];
  }

  heads(query: HeadQuery): readonly Head[] {
    const timeOf = (head: Head) => (query.order === 'activity' ? head.lastActivityAt : head.createdAt);
    const { after } = query;
    return [...this.#heads.values()]
      .filter((head) => query.owner === undefined || head.owner === query.owner)
      .filter((head) => !after || isPast(timeOf(head), head.conversationId, after))
      .sort((left, right) => timeOf(right) - timeOf(left) || compareKeys(left.conversationId, right.conversationId))
      .slice(0, query.limit);
  }

  apply(writes: WriteSet): void {
    for (const head of writes.heads) this.#heads.set(head.conversationId, head);
    for (const { conversation, key, value } of writes.rows) this.#put(conversation, key, value);
    for (const { conversation, version, log } of writes.edits) this.#logOf(conversation)[version - 1] = log;
    if (writes.log) this.#append(writes.log.conversation, writes.log.record);
  }

  #put(conversation: ConversationId, key: string, value: RowValue | null): void {
    let rows = this.#rows.get(conversation);
    if (!rows) this.#rows.set(conversation, (rows = new SortedRows()));
    if (value === null) rows.delete(key);
    else rows.set(key, value);
  }

  #append(conversationId: ConversationId, record: LogRecord): void {
    this.#logOf(conversationId).push(record);
    this.feed.push({ position: this.feed.length + 1, conversationId, version: record.version });
  }

  #logOf(conversation: ConversationId): LogRecord[] {
    let log = this.#logs.get(conversation);
    if (!log) this.#logs.set(conversation, (log = []));
    return log;
  }

  /** Removes what erased conversations hold and nobody shares; `write` applies each write set. Returns the number of rows. */
  collect(write: (writes: WriteSet) => void): number {
    let removed = 0;
    for (const { conversationId } of this.heads(EVERY).filter((head) => head.erasedAt !== null && !head.collected)) {
      for (const writes of collectErased(this, conversationId)) {
        write(writes);
        removed += writes.rows.length;
      }
    }
    return removed;
  }

  /** Marks commits that may cool as cool. `onProgress` hears how many have moved so far, of which the last is returned. */
  cool(hotMessages: number, onProgress?: (commits: number) => void): number {
    let moved = 0;
    for (const { conversationId } of this.heads(EVERY)) {
      const logs = this.#logOf(conversationId);
      const cooled = logs.findLastIndex(({ tier }) => tier === 'cool') + 1;
      const more = [...coolable(this, conversationId, cooled, hotMessages)];
      for (const log of more) logs[log.version - 1] = { ...log, tier: 'cool' };
      moved += more.length;
      if (more.length > 0) onProgress?.(moved);
    }
    return moved;
  }

  /** Every commit may hold a match: the reference scans. */
  candidates(query: SearchQuery): SearchCandidates {
    const start = query.before === undefined ? this.feed.length : this.#positionOf(query.before);
    const end = Math.max(0, start - query.limit);
    const owners = query.conversationId === undefined ? undefined : this.#lineage(query.conversationId);
    const entries = this.feed.slice(end, start).reverse();
    const places = entries
      .filter((entry) => owners === undefined || owners.has(entry.conversationId))
      .map(({ conversationId, version, position }) => ({ conversationId, version, cursor: String(position - 1) }));
    return end > 0 ? { places, next: String(end) } : { places };
  }

  #positionOf(cursor: string): number {
    const position = Number(cursor);
    if (position <= this.feed.length) return position;
    throw new TurnkeepError('bad_cursor', { reason: 'it is not a cursor of this store' });
  }

  /** A conversation and those that it inherits from. */
  #lineage(conversation: ConversationId): ReadonlySet<ConversationId> {
    const owners = new Set<ConversationId>();
    for (let next: ConversationId | null = conversation; next !== null; next = this.head(next)?.source ?? null)
      owners.add(next);
    return owners;
  }
}

function isPast(at: number, conversationId: ConversationId, after: NonNullable<HeadQuery['after']>): boolean {
  return at < after.at || (at === after.at && compareKeys(conversationId, after.conversationId) > 0);
}
