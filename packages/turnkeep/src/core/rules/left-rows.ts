import type { RowReader, RowValue } from '../backend.ts';
import type { ConversationId } from '../ids.ts';

/** Where rows are looked for: in the commit's own conversation, or in others and on shelves. */
export type Where = 'here' | 'elsewhere';

/**
 * Looks for the rows that a commit left, by what its events say. A lost row leaves no trace among the others, and readings
 * would take what it held for something that never was: only the log still tells of it.
 */
export class LeftRows {
  /** What is not there as it was written, for a person. */
  readonly missing: string[] = [];
  readonly conversationId: ConversationId;
  /** The commit's. */
  readonly version: number;
  readonly #rows: RowReader;
  readonly #where: Where;

  constructor(rows: RowReader, conversationId: ConversationId, version: number, where: Where) {
    this.conversationId = conversationId;
    this.version = version;
    this.#rows = rows;
    this.#where = where;
  }

  /** A row of the commit's conversation; answers its value, or nothing where it is not looked for. */
  here(key: string, what: string, isIt: (value: RowValue) => boolean = () => true): RowValue | undefined {
    if (this.#where !== 'here') return undefined;
    const value = this.#rows.get(this.conversationId, key);
    if (!value || !isIt(value)) this.missing.push(what);
    return value;
  }

  /** At least one row of the commit's conversation in a range. */
  someHere(range: { readonly from: string; readonly to: string }, what: string): void {
    if (this.#where !== 'here') return;
    if (this.#rows.scan(this.conversationId, { ...range, limit: 1 }).length === 0) this.missing.push(what);
  }

  /** What another conversation or a shelf must hold. */
  elsewhere(what: string, isThere: (rows: RowReader) => boolean): void {
    if (this.#where === 'elsewhere' && !isThere(this.#rows)) this.missing.push(what);
  }
}
