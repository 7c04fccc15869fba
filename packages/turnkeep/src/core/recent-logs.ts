import type { HeadQuery, Row, RowRange, RowReader, RowValue } from './backend.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Head } from './head.ts';
import type { ConversationId } from './ids.ts';
import type { LogRecord } from './log.ts';

const KEPT = 8;

/**
 * A reader that keeps the last few log records: neighbouring rows mostly refer to the same commit, which may
 * hold hundreds of records and is expensive to fetch each time.
 */
export class RecentLogs implements RowReader {
  readonly #base: RowReader;
  readonly #logs = new BoundedMap<string, LogRecord>(KEPT);

  constructor(base: RowReader) {
    this.#base = base;
  }

  log(conversation: ConversationId, version: number): LogRecord | undefined {
    const place = `${version} ${conversation}`;
    const known = this.#logs.get(place);
    if (known) return known;
    const log = this.#base.log(conversation, version);
    if (log) this.#logs.set(place, log);
    return log;
  }

  head(conversation: ConversationId): Head | undefined {
    return this.#base.head(conversation);
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    return this.#base.get(conversation, key);
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    return this.#base.scan(conversation, range);
  }

  heads(query: HeadQuery): readonly Head[] {
    return this.#base.heads(query);
  }
}
