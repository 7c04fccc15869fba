import { compareKeys } from './backend.ts';
import type { HeadQuery, Row, RowRange, RowReader, RowValue, WriteSet } from './backend.ts';
import type { Head } from './head.ts';
import type { ConversationId } from './ids.ts';
import type { LogRecord } from './log.ts';
import { SortedRows } from './sorted-rows.ts';

/**
 * A reader of the store with writes on top that are decided but not stored yet: those of a commit while it is decided, or
 * those of a group, so that each of its commits sees the ones before.
 */
export class Overlay implements RowReader {
  readonly #base: RowReader;
  readonly #heads = new Map<ConversationId, Head>();
  readonly #rows = new Map<ConversationId, SortedRows<RowValue | null>>();
  readonly #logs = new Map<ConversationId, Map<number, LogRecord>>();

  constructor(base: RowReader) {
    this.#base = base;
  }

  apply(writes: WriteSet): void {
    for (const head of writes.heads) this.putHead(head);
    for (const { conversation, key, value } of writes.rows) this.put(conversation, key, value);
    if (writes.log) this.putLog(writes.log.conversation, writes.log.record);
    for (const edit of writes.edits) this.putLog(edit.conversation, edit.log);
  }

  putHead(head: Head): void {
    this.#heads.set(head.conversationId, head);
  }

  /** `null` removes the row. */
  put(conversation: ConversationId, key: string, value: RowValue | null): void {
    let rows = this.#rows.get(conversation);
    if (!rows) this.#rows.set(conversation, (rows = new SortedRows()));
    rows.set(key, value);
  }

  putLog(conversation: ConversationId, record: LogRecord): void {
    let logs = this.#logs.get(conversation);
    if (!logs) this.#logs.set(conversation, (logs = new Map<number, LogRecord>()));
    logs.set(record.version, record);
  }

  /** Every row that was put, in no particular order. */
  *changedRows(): Generator<{
    readonly conversation: ConversationId;
    readonly key: string;
    readonly value: RowValue | null;
  }> {
    for (const [conversation, rows] of this.#rows) {
      for (const [key, value] of rows.range({ from: '', to: '\u{10ffff}' })) yield { conversation, key, value };
    }
  }

  head(conversation: ConversationId): Head | undefined {
    return this.#heads.get(conversation) ?? this.#base.head(conversation);
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    const put = this.#rows.get(conversation)?.get(key);
    return put === undefined ? this.#base.get(conversation, key) : (put ?? undefined);
  }

  log(conversation: ConversationId, version: number): LogRecord | undefined {
    return this.#logs.get(conversation)?.get(version) ?? this.#base.log(conversation, version);
  }

  heads(query: HeadQuery): readonly Head[] {
    return this.#base.heads(query);
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    const rows = this.#rows.get(conversation);
    const puts = rows ? putsIn(rows, range) : [];
    if (puts.length === 0) return this.#base.scan(conversation, range);
    // Each put hides at most one row below it, so reading that many more is enough.
    const limit = range.limit === undefined ? undefined : range.limit + puts.length;
    const below = this.#base.scan(conversation, { ...range, limit });
    return merge(below, puts, range);
  }
}

/**
 * The puts of a range that can appear in its result: as many as rows are asked for, and the removals between them. A commit
 * of a thousand changes looks at its own rows in each of them, and must read no more than it needs.
 */
export function putsIn(
  rows: SortedRows<RowValue | null>,
  range: RowRange,
): readonly (readonly [key: string, value: RowValue | null])[] {
  const puts: (readonly [string, RowValue | null])[] = [];
  let left = range.limit ?? Infinity;
  if (left <= 0) return puts;
  for (const put of rows.range(range)) {
    puts.push(put);
    if (put[1] !== null && --left === 0) break;
  }
  return puts;
}

function merge(
  below: readonly Row[],
  puts: readonly (readonly [string, RowValue | null])[],
  range: RowRange,
): readonly Row[] {
  const put = new Map(puts);
  const kept = below.filter((row) => !put.has(row.key));
  for (const [key, value] of puts) if (value !== null) kept.push({ key, value });
  const direction = range.reverse ? -1 : 1;
  kept.sort((left, right) => direction * compareKeys(left.key, right.key));
  return range.limit === undefined ? kept : kept.slice(0, range.limit);
}
