import type { HeadQuery, Row, RowRange, RowReader, RowValue } from './backend.ts';
import type { Head } from './head.ts';
import type { ConversationId } from './ids.ts';
import type { LogRecord } from './log.ts';

/** A reader that remembers the rows of one conversation that it returned: a commit replaces only rows that it has seen. */
export class SeenRows implements RowReader {
  readonly #base: RowReader;
  readonly #own: ConversationId;
  readonly #seen = new Map<string, RowValue>();

  constructor(base: RowReader, own: ConversationId) {
    this.#base = base;
    this.#own = own;
  }

  /** The value of a row of the conversation, as it was returned; also `undefined` if nobody asked for it. */
  seen(key: string): RowValue | undefined {
    return this.#seen.get(key);
  }

  head(conversation: ConversationId): Head | undefined {
    return this.#base.head(conversation);
  }

  get(conversation: ConversationId, key: string): RowValue | undefined {
    const value = this.#base.get(conversation, key);
    if (value !== undefined && conversation === this.#own) this.#seen.set(key, value);
    return value;
  }

  scan(conversation: ConversationId, range: RowRange): readonly Row[] {
    const rows = this.#base.scan(conversation, range);
    if (conversation === this.#own) for (const { key, value } of rows) this.#seen.set(key, value);
    return rows;
  }

  log(conversation: ConversationId, version: number): LogRecord | undefined {
    return this.#base.log(conversation, version);
  }

  heads(query: HeadQuery): readonly Head[] {
    return this.#base.heads(query);
  }
}
