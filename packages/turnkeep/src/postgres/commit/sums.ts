import type { HeadQuery, Row, RowRange, RowReader, RowValue } from '../../core/backend.ts';
import { assert } from '../../core/errors.ts';
import type { Head } from '../../core/head.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { LogRecord } from '../../core/log.ts';
import { SHELVES } from '../../core/shelf.ts';
import { addUsage, packUsage, unpackUsage } from '../../core/usage-sum.ts';

/**
 * Sums of a namespace, which every conversation adds to. A commit that read one to write the next would keep all others
 * waiting until it is durable. So it reads none: it is decided as if there were no shelf yet, and what it then writes is
 * what it adds. That goes into a table of additions, on rows of its own; a sum is the row of the shelf and what was added
 * since.
 */
export function isSummed(conversation: ConversationId): boolean {
  return conversation === SHELVES.usage;
}

/** The sums of rows and additions, in whatever order they come. */
export function summed(rows: Iterable<readonly [key: string, value: RowValue]>): ReadonlyMap<string, RowValue> {
  const sums = new Map<string, RowValue>();
  for (const [key, value] of rows) {
    const before = sums.get(key);
    sums.set(key, before ? packUsage(addUsage(unpackUsage(before), unpackUsage(value))) : value);
  }
  return sums;
}

/** What a commit is decided on: all rows of a reader but the shelf of sums, as if there were none. */
export class WithoutSums implements RowReader {
  readonly #rows: RowReader;

  constructor(rows: RowReader) {
    this.#rows = rows;
  }

  head(conversation: ConversationId): Head | undefined {
    return isSummed(conversation) ? undefined : this.#rows.head(conversation);
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    return isSummed(conversation) ? undefined : this.#rows.get(conversation, key);
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    assert(!isSummed(conversation), 'no commit reads the sums of its namespace');
    return this.#rows.scan(conversation, range);
  }

  log(conversation: ConversationId, version: number): LogRecord | undefined {
    return this.#rows.log(conversation, version);
  }

  heads(query: HeadQuery): readonly Head[] {
    return this.#rows.heads(query);
  }
}
